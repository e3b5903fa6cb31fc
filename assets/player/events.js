// Buttons, keys, clicks and changes of the page, turned into the player's own verbs.

const KEYS = { ArrowLeft: "back", ArrowRight: "next", " ": "play", Home: "first", End: "last" };
const TYPING =
  "input, textarea, select, [contenteditable], [role=listbox], [role=combobox], [role=slider]";
const PRESSED_BY_SPACE = "button, summary, a, [role=button]";

function onClick(player, { target }) {
  const button = target.closest("[data-do]");
  if (button) return player.act(button.dataset.do);
  const phase = target.closest("[data-phase]");
  if (phase) return player.showPhase(phase.dataset.phase);
  const line = target.closest("tr[data-node]");
  if (line) return player.view.hasTable && player.pin(Number(line.dataset.node));
  const chip = target.closest(".text .chip[data-round]");
  if (chip)
    player.pick(Number(chip.dataset.round), chip.classList.contains("bonus"), chip.dataset.nodes);
}

function onKey(player, event) {
  const { target, key } = event,
    { root, part } = player.view;
  if (!root.isConnected || !player.ready || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.closest?.(TYPING)) return;
  if (key === "Escape") return player.pin(null);
  if (target === part.cursor && key.startsWith("Arrow")) {
    event.preventDefault();
    return player.moveCursor(key);
  }
  const busy = key === " " ? PRESSED_BY_SPACE : ".scroll, .text"; // these have their own use for the key
  if (!KEYS[key] || target.closest?.(busy)) return;
  event.preventDefault();
  player.act(KEYS[key]);
}

/** Redraw when the theme or the width changes. */
function onPage(player) {
  const again = () => player.ready && player.show();
  new MutationObserver(again).observe(document.body, { attributeFilter: ["class"] });
  const { root } = player.view;
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    again();
  }).observe(root);
}

/** Connect the page to `player`. */
export function listen(player) {
  const { root, part } = player.view;
  root.addEventListener("click", (event) => onClick(player, event));
  document.addEventListener("keydown", (event) => onKey(player, event));
  part.slider.addEventListener("input", () => player.jump(Number(part.slider.value) - 1));
  part.speed.addEventListener("change", () => player.changeSpeed());
  part.file.addEventListener("change", () => {
    if (part.file.files.length) player.open(part.file.files[0]);
    part.file.value = ""; // so that the same file can be chosen again
  });
  onPage(player);
}
