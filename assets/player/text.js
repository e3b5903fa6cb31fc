// The text pane: a chip per token (or per character made of several), coloured by how it came.
// textContent only.

import { make, scrollToCurrent } from "./dom.js";
import { isOnPath, notAccepted } from "./logic/path.js";

/** A chip for a stretch of committed text; chips of the `current` round are marked. */
export function makeChip(text, kind, round, current) {
  const isOdd = round % 2 === 1;
  const marks = `${isOdd ? " odd" : ""}${round === current ? " now" : ""}`;
  return make("span", text, `chip ${kind}${marks}`);
}

/** A chip that knows its round and the tree nodes it came from. */
function linkedChip([text, kind, nodes], round, current) {
  const chip = makeChip(text, kind, round, current);
  chip.dataset.round = round;
  chip.dataset.nodes = nodes.join(" ");
  chip.title = `round ${round + 1}: ${kind}`;
  return chip;
}

function pendingChip(label) {
  const chip = make("span", label, "chip pending now");
  chip.title = "bytes of a character that the next tokens complete";
  return chip;
}

/** The tree nodes that a chip came from. */
export const nodesOf = ({ dataset }) => (dataset.nodes ? dataset.nodes.split(" ").map(Number) : []);

/**
 * Show the text committed up to and with round `current`; `getRound(i)` gives a parsed round. The
 * box keeps the height it has reached: who steps back does not see what is below it move.
 */
export function showText(box, getRound, current) {
  const chips = [];
  for (let i = 0; i <= current; i++)
    chips.push(...getRound(i).units.map((unit) => linkedChip(unit, i, current)));
  const { pending } = getRound(current);
  if (pending) chips.push(pendingChip(pending));
  box.replaceChildren(...chips);
  box.style.setProperty("--reached", `${box.getBoundingClientRect().height}px`);
  scrollToCurrent(box);
}

/**
 * Highlight the chips of round `current` on the path of `rows`. What of the path was not accepted
 * stands as a ghost where it would have followed.
 */
export function highlightText(box, rows, current) {
  for (const ghost of box.querySelectorAll(".ghost")) ghost.remove();
  for (const chip of box.querySelectorAll(".on-path")) chip.classList.remove("on-path");
  const chips = [...box.querySelectorAll(`.chip[data-round="${current}"]`)];
  const onPath = chips.filter((chip) =>
    isOnPath({ nodes: nodesOf(chip), isBonus: chip.classList.contains("bonus") }, rows),
  );
  for (const chip of onPath) chip.classList.add("on-path");
  const text = notAccepted(rows);
  if (!text) return;
  const ghost = make("span", text, "ghost");
  ghost.title = "drafted, not accepted";
  if (onPath.length) onPath.at(-1).after(ghost);
  else if (chips.length) chips[0].before(ghost);
}
