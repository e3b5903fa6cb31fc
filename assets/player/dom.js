// Small helpers for the page's elements.

/** An element with text (never markup) and class. */
export function make(tag, text, className = "") {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
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
