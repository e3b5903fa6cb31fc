// The run's measured numbers: the line of numbers, the bar of stages, the buttons of the phases.

import { make, makeButton } from "./dom.js";
import { percent } from "./logic/format.js";
import { explain } from "./tips.js";

const NARROWEST = 0.06; // a stage with a smaller share of the time has no space for its name

/** `numbers`: [name, value, meaning] of each. */
export function showNumbers(box, numbers) {
  const entries = numbers.map(([name, value, meaning]) => {
    const [entry, term, word] = [make("div"), make("dt"), makeButton(name)];
    explain(word, meaning);
    term.append(word);
    entry.append(term, make("dd", value));
    return entry;
  });
  box.replaceChildren(...entries);
}

/** `stages`: [name, share of the time, milliseconds] of each. */
export function showStages(box, stages) {
  const bars = stages.map(([name, share, time]) => {
    const text = share >= NARROWEST ? `${name} ${percent(share)}` : "";
    const bar = make("span", text, `stage ${name}`);
    bar.style.flexGrow = share;
    bar.title = `${name}: ${time}`;
    return bar;
  });
  const spoken = stages.map(([name, share, time]) => `${name} ${percent(share)} (${time})`);
  box.setAttribute("aria-label", `Time by stage: ${spoken.join(", ")}`);
  box.replaceChildren(...bars);
}

/** `phases`: [name, time] of each phase of a round; the button of the `current` one is pressed. */
export function showPhases(box, phases, current) {
  const buttons = phases.map(([name, time]) => {
    const button = makeButton(name);
    button.dataset.phase = name;
    button.setAttribute("aria-pressed", String(name === current));
    button.append(make("small", ` ${time}`));
    return button;
  });
  box.replaceChildren("phase: ", ...buttons);
}
