// Keys of the page and what they command.

const COMMANDS = { ArrowLeft: "back", ArrowRight: "next", " ": "play", Home: "first", End: "last" };
const TYPING =
  "input, textarea, select, [contenteditable], [role=listbox], [role=combobox], [role=slider]";
const PRESSED_BY_SPACE = "button, summary, a, [role=button]";
const SCROLLED_BY_ARROWS = ".scroll, .text";

/**
 * What a pressed key commands: "release", "move" (the cursor of the tree), a command of a button,
 * or null where the key is not the player's. `isIn(selector)`: whether the focus is in such an
 * element; `isOnTree`: whether the tree's cursor has it.
 */
export function commandOf({ key, ctrlKey, metaKey, altKey }, isIn, isOnTree) {
  if (ctrlKey || metaKey || altKey || isIn(TYPING)) return null;
  if (key === "Escape") return "release";
  if (isOnTree && key.startsWith("Arrow")) return "move";
  const isTaken = isIn(key === " " ? PRESSED_BY_SPACE : SCROLLED_BY_ARROWS);
  return isTaken ? null : (COMMANDS[key] ?? null);
}
