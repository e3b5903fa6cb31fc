// The numbers line, the bar of stages and the line that says where the run was made.

import { make } from "./dom.js";

function entry({ name, value, meaning }) {
  const box = make("div");
  box.title = meaning;
  box.append(make("dt", name), make("dd", value));
  return box;
}

const named = (triples) => triples.map(([name, value, meaning]) => ({ name, value, meaning }));

/** `numbers`: [name, value, meaning] triples. */
export function showNumbers(box, numbers) {
  box.replaceChildren(...named(numbers).map(entry));
}

/** `stages`: [name, share of the time, milliseconds] triples. */
export function showStages(box, stages) {
  const parts = named(stages).map(({ name, value, meaning }) => {
    const part = make(
      "span",
      value >= 0.06 ? `${name} ${Math.round(100 * value)} %` : "",
      `stage ${name}`,
    );
    part.style.flexGrow = value;
    part.title = `${name}: ${meaning}`;
    return part;
  });
  const words = named(stages).map(
    ({ name, value, meaning }) => `${name} ${Math.round(100 * value)} % (${meaning})`,
  );
  box.setAttribute("aria-label", `Time by stage: ${words.join(", ")}`);
  box.replaceChildren(...parts);
}
