// The figures of a benchmark result: value = { badge, where, message, figures: {name: json}, dark }, see ui/bench.py.

import { partsOf, showState } from "./dom.js";
import { draw, loadPlotly, themed } from "./plots.js";

const LABELS = {
  tau: "Acceptance length per method and data set, with 95 % intervals.",
  speed: "Speed against plain decoding and against linear drafting, with 95 % intervals.",
  histogram: "Histogram of tokens committed per round, by method.",
  overhead: "Share of the round's time spent on scores, search and mask, by method.",
};

class Bench {
  constructor({ element, props, watch }) {
    this.props = props;
    this.root = element.querySelector(".bench");
    this.part = partsOf(this.root);
    new ResizeObserver(() => this.show()).observe(this.root);
    new MutationObserver(() => this.show()).observe(document.body, { attributeFilter: ["class"] });
    watch("value", () => this.show());
    this.show();
  }

  show() {
    const value = this.props.value;
    if (!value?.figures || !this.root.clientWidth) return; // the tab is not open
    showState(this.part, value);
    this.part.where.textContent = value.where;
    this.root.classList.toggle("empty", !Object.keys(value.figures).length);
    for (const [name, json] of Object.entries(value.figures))
      draw(this.part[name], themed(JSON.parse(json), value.dark), LABELS[name]);
  }
}

/** Start the benchmark figures in `element` of a gr.HTML component. */
export async function mount({ element, props, watch, served, plotly }) {
  await loadPlotly(served(plotly));
  return new Bench({ element, props, watch });
}
