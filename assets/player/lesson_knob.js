// A control that says its value beside it.

import { make } from "./dom.js";

/** A slider called `name`, which hands every new value to `change`. */
export function slider({ low, high, step, value }, name, change) {
  const [label, input, shown] = [make("label"), make("input"), make("output", String(value))];
  Object.assign(input, { type: "range", min: low, max: high, step });
  input.value = value;
  label.className = "lesson-knob";
  label.append(make("span", name), input, shown);
  input.addEventListener("input", () => {
    shown.textContent = input.value;
    change(Number(input.value));
  });
  return label;
}
