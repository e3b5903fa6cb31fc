// The text pane: one chip per token (or per character made of several), coloured by how it came. textContent only.

import { make } from "./dom.js";

/** A chip that knows its round and the tree nodes it came from. */
function chip([text, kind, nodes], round, current) {
  const span = make(
    "span",
    text,
    `chip ${kind}${round % 2 ? " odd" : ""}${round === current ? " now" : ""}`,
  );
  span.dataset.round = round;
  span.dataset.nodes = nodes.join(" ");
  span.title = `round ${round + 1}: ${kind}`;
  return span;
}

function pendingChip(label) {
  const span = make("span", label, "chip pending now");
  span.title = "bytes of a character that the next tokens complete";
  return span;
}

/** Show the text committed up to and with round `current`; `getRound(i)` gives a parsed round. */
export function showText(box, getRound, current) {
  const chips = [];
  for (let i = 0; i <= current; i++)
    chips.push(...getRound(i).units.map((unit) => chip(unit, i, current)));
  const { pending } = getRound(current);
  if (pending) chips.push(pendingChip(pending));
  box.replaceChildren(...chips);
  const first = box.querySelector(".now");
  if (first) box.scrollTop = first.offsetTop - box.offsetTop - box.clientHeight / 2;
}

/** Light the chips of `path` (node ids of round `current`); what was not committed shows as a ghost at the fork. */
export function lightText(box, path, rowsById, current) {
  for (const ghost of box.querySelectorAll(".ghost")) ghost.remove();
  for (const span of box.querySelectorAll(".lit")) span.classList.remove("lit");
  const now = [...box.querySelectorAll(`.chip[data-round="${current}"]`)];
  const bonus = path.some((node) => rowsById.get(node).status === "bonus");
  const shown = now.filter((span) => isOnPath(span, path, bonus));
  for (const span of shown) span.classList.add("lit");
  const off = path.filter((node) => ["rejected", "beyond"].includes(rowsById.get(node).status));
  if (!off.length) return;
  const ghost = make("span", off.map((node) => rowsById.get(node).full).join(""), "ghost");
  ghost.title = "drafted, not accepted";
  if (shown.length) shown.at(-1).after(ghost);
  else if (now.length) now[0].before(ghost);
}

function isOnPath(span, path, bonus) {
  if (bonus && span.classList.contains("bonus")) return true;
  return (
    span.dataset.nodes !== "" &&
    span.dataset.nodes.split(" ").some((node) => path.includes(Number(node)))
  );
}
