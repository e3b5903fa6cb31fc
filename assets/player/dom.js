// Small helpers for the page's elements.

/** An element with text (never markup) and class. */
export function make(tag, text, className = "") {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** A button with a text that does `act` when it is pressed. */
export function makeButton(text, act) {
  const button = make("button", text);
  button.type = "button";
  if (act) button.addEventListener("click", act);
  return button;
}

/** A value under its name, as an entry of a list; `note` stands small behind the value. */
export function makeFact(name, value, note = "") {
  const fact = make("div", undefined, "fact");
  fact.append(make("dt", name), make("dd", value));
  if (note) fact.lastChild.append(make("small", note));
  return fact;
}

/** The elements of `root` that scripts fill, by their data-part. */
export const partsOf = (root) =>
  Object.fromEntries([...root.querySelectorAll("[data-part]")].map((e) => [e.dataset.part, e]));

/** Show a sentence, or nothing. */
export function say(message, text = "") {
  message.textContent = text;
  message.hidden = !text;
}

/** Say where the numbers come from (recorded, live, …) and what happens now or went wrong. */
export function showState({ badge, message }, state) {
  badge.textContent = state.badge;
  badge.className = `badge ${state.badge}`;
  say(message, state.message);
}

/** Scroll the tokens of the current round to the middle of the text in `box`, a positioned one. */
export function scrollToCurrent(box) {
  const current = box.querySelector(".now");
  if (current) box.scrollTop = current.offsetTop - box.clientHeight / 2;
}
