// The figures of a benchmark result: value = { badge, where, message, charts, dark }, a chart = {
// name, title, lead, label, figure: json }, see ui/bench.py.

import { draw, themed } from "./charts.js";
import { follow, mountWithCharts, onPageChange, partsIn } from "./component.js";
import { make, showState } from "./dom.js";

/** The panel of a chart, and the box that its figure is drawn in. */
function makePanel({ name, title, lead }) {
  const panel = make("section", undefined, "panel");
  const heading = make("h3", `${title} `);
  const box = make("div", undefined, "chart");
  box.dataset.part = name;
  box.setAttribute("role", "figure");
  heading.append(make("small", lead));
  panel.append(heading, box);
  return { panel, box };
}

class Bench {
  constructor({ element, props, watch }) {
    Object.assign(this, partsIn(element));
    this.value = null;
    this.boxes = new Map(); // by the chart's name
    onPageChange(this.root, () => this.show());
    follow({ props, watch }, (value) => {
      this.value = value;
      this.show();
    });
  }

  /** Where `chart` is drawn; the panel is made when the chart first comes. */
  boxOf(chart) {
    if (!this.boxes.has(chart.name)) {
      const { panel, box } = makePanel(chart);
      this.part.charts.append(panel);
      this.boxes.set(chart.name, box);
    }
    return this.boxes.get(chart.name);
  }

  show() {
    const { root, part, value } = this;
    if (!value?.charts || !root.clientWidth) return; // the tab is not open
    showState(part, value);
    part.where.textContent = value.where;
    root.classList.toggle("empty", !value.charts.length);
    const named = new Set(value.charts.map(({ name }) => name));
    for (const [name, box] of this.boxes) box.closest(".panel").hidden = !named.has(name);
    // All panels first: a figure is as wide as its panel is then.
    const boxes = value.charts.map((chart) => this.boxOf(chart));
    for (const [i, { figure, label }] of value.charts.entries())
      draw(boxes[i], themed(JSON.parse(figure), value.dark), label);
  }
}

/** Start the benchmark figures in `element` of a gr.HTML component. */
export const mount = mountWithCharts(Bench);
