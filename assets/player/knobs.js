// Controls for settings, made from what Python says of each (ui/what_if_controls.py).

import { make } from "./dom.js";
import { fitted } from "./logic/what_if.js";

function makeSelect({ title, options }) {
  const select = make("select");
  select.setAttribute("aria-label", title); // without the options' names
  select.append(...options.map((name) => make("option", name)));
  return select;
}

function makeInput(type, { low, high, step }, label = "") {
  const input = Object.assign(make("input"), { type, min: low, max: high, step });
  if (label) input.setAttribute("aria-label", label);
  return input;
}

/** One control: its element, and how its value is read and set. `change(value)`: it was moved. */
function makeKnob(control, change) {
  const { title, about, options, step } = control;
  const label = make("label", undefined, "knob");
  label.title = about;
  label.append(make("span", title));
  if (options) {
    const select = makeSelect(control);
    select.addEventListener("change", () => change(select.value));
    label.append(select);
    const set = (value) => {
      select.value = value;
    };
    return { element: label, set };
  }
  if (step === undefined) {
    const box = Object.assign(make("input"), { type: "checkbox" });
    box.addEventListener("change", () => change(box.checked));
    label.append(box);
    const set = (value) => {
      box.checked = value;
    };
    return { element: label, set };
  }
  return numberKnob(label, control, change);
}

/** A slider for the hand, and a field for exact numbers beside it. */
function numberKnob(label, control, change) {
  const range = makeInput("range", control);
  const field = makeInput("number", control, `${control.title}, typed`);
  const set = (value) => {
    range.value = value;
    field.value = value;
  };
  range.addEventListener("input", () => {
    field.value = range.value;
    change(Number(range.value));
  });
  field.addEventListener("change", () => {
    const value = fitted(field.value, control) ?? Number(range.value);
    set(value);
    change(value);
  });
  label.append(range);
  const row = make("div", undefined, "knob-row");
  row.append(label, field);
  return { element: row, set };
}

export class Knobs {
  /** Fill `box`; `change()`: a control was moved, and `values` are new. */
  constructor(box, controls, change) {
    this.values = {};
    this.knobs = new Map();
    for (const control of controls) {
      const { name } = control;
      const knob = makeKnob(control, (value) => {
        this.values[name] = value;
        change();
      });
      this.knobs.set(name, knob);
      box.append(knob.element);
    }
  }

  /** Set all controls. */
  set(values) {
    this.values = { ...values };
    for (const [name, knob] of this.knobs) knob.set(values[name]);
  }
}
