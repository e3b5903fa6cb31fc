// The chart of the cumulative speed-up, with a mark at the round on screen.

import { draw, isDark, textScale, themed } from "./charts.js";

const MARK = 1; // index of the mark among the figure's shapes

export class SpeedupChart {
  /** `go(round)`: what a click on a round's point does. */
  constructor(box, go) {
    this.box = box;
    this.go = go;
    this.drawn = null; // the figure and the state of the page that are drawn
  }

  /** Draw `figure`; when only the round changed, move the mark. `head`: the run's. */
  draw(figure, index, head) {
    if (!window.Plotly) return;
    const { box } = this;
    const x = index + 1;
    const page = [isDark(), textScale(), box.clientWidth, box.clientHeight].join();
    if (figure === this.drawn?.figure && page === this.drawn.page) {
      window.Plotly.relayout(box, { [`shapes[${MARK}].x0`]: x, [`shapes[${MARK}].x1`]: x });
      return;
    }
    this.drawn = { figure, page };
    const copy = themed(figure, head.dark);
    Object.assign(copy.layout.shapes[MARK], { x0: x, x1: x, visible: true });
    const whole = head.numbers.find(([name]) => name === "vs linear");
    const label = "Cumulative speed-up over linear drafting";
    draw(box, copy, whole ? `${label}: ${whole[1]} over the whole run` : label, {
      plotly_click: (event) => this.go(event.points[0].x - 1),
    });
  }
}
