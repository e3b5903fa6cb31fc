// Explanations on hover, tap and focus: one floating note for all words of a page that have one.

import { make } from "./dom.js";

const GAP = 6; // pixels between a word and its note
let note = null; // made when it is first needed
let shownFor = null;

function noteBox() {
  if (note) return note;
  note = make("div", undefined, "tip");
  note.id = "presto-tip";
  note.setAttribute("role", "tooltip");
  note.hidden = true;
  document.body.append(note);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  const follow = () => shownFor && place(shownFor);
  document.addEventListener("scroll", follow, { capture: true, passive: true });
  return note;
}

/** Put the note under `word`, or over it where there is no space, within the window. */
function place(word) {
  const [at, own] = [word.getBoundingClientRect(), note.getBoundingClientRect()];
  const [width, height] = [document.documentElement.clientWidth, window.innerHeight];
  const left = Math.max(GAP, Math.min(at.left, width - own.width - GAP));
  const below = at.bottom + GAP;
  const top = below + own.height <= height ? below : Math.max(GAP, at.top - own.height - GAP);
  Object.assign(note.style, { left: `${left}px`, top: `${top}px` });
}

function show(word, meaning) {
  noteBox().textContent = meaning;
  note.hidden = false;
  shownFor = word;
  word.setAttribute("aria-describedby", note.id);
  place(word);
}

function hide() {
  if (!shownFor) return;
  shownFor.removeAttribute("aria-describedby");
  shownFor = null;
  note.hidden = true;
}

/** Explain `word` by `meaning`: a button that the keyboard reaches, a pointer rests on or taps. */
export function explain(word, meaning) {
  word.classList.add("explained");
  const appear = () => show(word, meaning);
  word.addEventListener("pointerenter", appear);
  word.addEventListener("focus", appear);
  word.addEventListener("click", appear);
  for (const end of ["pointerleave", "blur"]) word.addEventListener(end, () => hide());
}
