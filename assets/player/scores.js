// The panel of scores: a tab per chart of the round, and the chosen chart. What the charts are
// called is Python's to say (viz/charts.py).

import { draw, themed } from "./charts.js";
import { makeButton } from "./dom.js";
import { emptyFigure } from "./logic/figures.js";
import { showRows } from "./table.js";

function makeTab({ name, title }) {
  const tab = makeButton(title);
  tab.dataset.view = name;
  tab.setAttribute("role", "tab");
  return tab;
}

export class ScoresPanel {
  /** `part`: the elements of the panel, by data-part; `on`: what pins a node. */
  constructor(part, on) {
    this.part = part;
    this.on = on;
    this.charts = []; // { name, title, lead, label } of each
    this.chosen = null; // the name of one
    this.round = null;
    this.rows = []; // of the table beside the chosen chart, if it has one
    part.tabs.addEventListener("click", ({ target }) => {
      const tab = target.closest("[role=tab]");
      if (tab) this.choose(tab.dataset.view);
    });
    part.tabs.addEventListener("keydown", (event) => this.step(event));
  }

  /** Make a tab per chart; once, as all runs have the same. */
  offer(charts) {
    if (this.charts.length) return;
    this.charts = charts;
    this.part.tabs.append(...charts.map(makeTab));
    this.press(charts[0].name);
  }

  /** Press the tab of the chart `name`. */
  press(name) {
    this.chosen = name;
    for (const tab of this.part.tabs.children) {
      const isChosen = tab.dataset.view === name;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
  }

  choose(name) {
    this.press(name);
    if (this.round) this.draw(this.round, this.head);
  }

  /** An arrow key goes from tab to tab, around the ends. */
  step(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation(); // the page's arrows step through rounds
    const tabs = [...this.part.tabs.children];
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    next.focus();
    this.choose(next.dataset.view);
  }

  /** The chosen chart: of the round, of the whole run, or that it is not there. */
  chart() {
    const { charts } = this.round;
    const { charts_of_run: ofRun, absent } = this.head;
    const none = { figure: emptyFigure(absent), remark: "" };
    return charts[this.chosen] ?? ofRun[this.chosen] ?? none;
  }

  /** The run goes on while its reader stays at a round: a chart of the run is drawn again. */
  renew(head) {
    if (this.round && this.chosen in head.charts_of_run) this.draw(this.round, head);
  }

  showTable(rows, caption) {
    this.rows = rows;
    this.part["chart-table"].hidden = !rows.length;
    if (rows.length) showRows(this.part["chart-rows"], rows, caption);
  }

  /** Draw the chosen chart of `round`; nothing while Plotly loads, as all is shown again then. */
  draw(round, head) {
    Object.assign(this, { round, head });
    if (!window.Plotly) return;
    const { lead, label } = this.charts.find(({ name }) => name === this.chosen);
    const { figure, remark, rows } = this.chart();
    this.showTable(rows ?? [], lead);
    this.part.lead.textContent = lead;
    this.part.remark.textContent = remark;
    draw(this.part.scores, themed(figure, head.dark), `${label} ${remark}`, {
      plotly_click: (event) => {
        const node = parseInt(event.points[0].id, 10);
        if (!Number.isNaN(node)) this.on.pin(node);
      },
    });
  }
}
