// The phases of a round: which view of the scores explains each, and what is known after it.

export const PHASES = {
  draft: "marginals",
  score: "scores",
  build: "scores",
  verify: "stopping",
  commit: null,
};

/** Whether nodes of this status exist after `phase`; the bonus comes with verifying. */
const exists = (status, phase) => status === "root" || (phase !== "draft" && status !== "bonus");

/**
 * Take from a tree's `figure` what is not known yet after `phase`: until the target verifies there
 * is no verdict, so that all drafted nodes look like those it was never asked about.
 */
export function hideUnknown(figure, phase) {
  if (phase === "verify" || phase === "commit") return;
  figure.data = figure.data.filter((trace) => exists(trace.legendgroup, phase));
  const neutral = (mode) =>
    figure.data.find((trace) => trace.legendgroup === "beyond" && trace.mode.includes(mode));
  for (const trace of figure.data) {
    const style = trace.legendgroup === "root" ? {} : (neutral(trace.mode) ?? {});
    for (const part of ["line", "marker", "textfont"])
      if (style[part]) trace[part] = structuredClone(style[part]);
  }
}
