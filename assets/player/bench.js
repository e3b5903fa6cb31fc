// The figures of a benchmark result: value = { badge, where, message, figures: { name: json },
// dark }, see ui/bench.py.

import { draw, themed } from "./charts.js";
import { follow, mountWithCharts, onPageChange, partsIn } from "./component.js";
import { showState } from "./dom.js";

const LABELS = {
  tau: "Acceptance length per method and data set, with 95 % intervals.",
  speed: "Speed against plain decoding and against linear drafting, with 95 % intervals.",
  histogram: "Histogram of tokens committed per round, by method.",
  overhead: "Share of the round's time spent on scores, search and mask, by method.",
};

class Bench {
  constructor({ element, props, watch }) {
    Object.assign(this, partsIn(element));
    this.value = null;
    onPageChange(this.root, () => this.show());
    follow({ props, watch }, (value) => {
      this.value = value;
      this.show();
    });
  }

  show() {
    const { root, part, value } = this;
    if (!value?.figures || !root.clientWidth) return; // the tab is not open
    showState(part, value);
    part.where.textContent = value.where;
    root.classList.toggle("empty", !Object.keys(value.figures).length);
    for (const [name, json] of Object.entries(value.figures))
      draw(part[name], themed(JSON.parse(json), value.dark), LABELS[name]);
  }
}

/** Start the benchmark figures in `element` of a gr.HTML component. */
export const mount = mountWithCharts(Bench);
