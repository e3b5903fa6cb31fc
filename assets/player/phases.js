// The phases of a round: what each has to show, how the tree looks until the target has spoken, and its measured time.

import { make } from "./dom.js";

/** Which view of the scores explains a phase. */
export const PHASES = {
  draft: "marginals",
  score: "scores",
  build: "scores",
  verify: "stopping",
  commit: null,
};

/** `phases`: [name, time] pairs of the round; `current` is pressed. */
export function showPhases(box, phases, current) {
  const buttons = phases.map(([name, time]) => {
    const button = make("button", name);
    button.type = "button";
    button.dataset.phase = name;
    button.setAttribute("aria-pressed", String(name === current));
    button.append(make("small", ` ${time}`));
    return button;
  });
  box.replaceChildren("phase: ", ...buttons);
}

/** Take from `figure` what is not known yet in `phase`: after drafting there is only the root, until the target verifies no verdict. */
export function veil(figure, phase) {
  if (phase === "verify" || phase === "commit") return;
  const known = (status) => status === "root" || (phase !== "draft" && status !== "bonus");
  figure.data = figure.data.filter((trace) => known(trace.legendgroup));
  const plain = (mode) =>
    figure.data.find((trace) => trace.legendgroup === "beyond" && trace.mode.includes(mode));
  for (const trace of figure.data) {
    const same = trace.legendgroup === "root" ? {} : (plain(trace.mode) ?? {});
    for (const part of ["line", "marker", "textfont"])
      if (same[part]) trace[part] = structuredClone(same[part]);
  }
}
