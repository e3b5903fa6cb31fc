// The draft tree of the round on screen: a preview at once, then drawn by Plotly, which makes it
// answer to the pointer.

import { animateSizes, draw, isNarrow, isStill, MOTION, textScale, themed } from "./charts.js";
import { between } from "./logic/between.js";
import { positionsOf, sizeByRank, turnUpright } from "./logic/figures.js";
import { pathTraces } from "./logic/highlights.js";
import { placeLabels } from "./logic/labels.js";
import { hideUnknown } from "./logic/phases.js";
import { drawPreview } from "./preview.js";

/** Margins of the chart: its depth axis is on top, or on the left when the tree is upright. */
const marginOf = (isUpright, scale) =>
  isUpright ? { l: 30 * scale, r: 8, t: 8, b: 6 } : { l: 8, r: 8, t: 22 * scale, b: 6 };

const nextFrame = () => new Promise(requestAnimationFrame);
const eased = (share) => share * share * (3 - 2 * share);

export class TreeView {
  /**
   * `part`: the elements cursor, tree, preview and more; `pin(node)`: what a click on a
   * node does; `elsewhere`: where those nodes are named that have no label in the tree.
   */
  constructor(part, pin, elsewhere = "; all are in the table below") {
    this.part = part;
    this.pin = pin;
    this.elsewhere = elsewhere;
    this.score = "aligned"; // whose ranks the sizes of the marks tell
    this.phase = "commit"; // of the round, after which the tree is shown
  }

  /** Preview `round`, the nodes of `path` highlighted. `draw` has to follow. `head`: the run's. */
  show(round, head, label, path) {
    Object.assign(this, { round, head, label });
    this.compose(path);
    this.drawPreview();
    this.part.tree.setAttribute("aria-label", label);
  }

  /**
   * The same for another tree of the state on screen, whose nodes go by the same numbers: those of
   * both move to their new places.
   */
  async move(round, head, label, path) {
    const [before, from] = [this.round, this.figure];
    this.show(round, head, label, path);
    const to = this.figure;
    if (isStill()) return;
    const rows = [...before.rows, ...round.rows];
    const parents = new Map(rows.map(({ node, parent }) => [node, parent]));
    const how = { parents, fan: head.fan, isUpright: isNarrow() };
    const began = performance.now();
    for (let share = 0; share < 1 && this.figure === to; ) {
      drawPreview(this.part.preview, between(from, to, eased(share), how), isNarrow());
      share = ((await nextFrame()) - began) / MOTION;
    }
    if (this.figure === to) this.drawPreview();
  }

  /** Make the figure as the page shows it: themed, turned, sized, labelled, highlighted. */
  compose(path) {
    const { round, head } = this;
    const isUpright = isNarrow();
    const figure = themed(round.tree, head.dark);
    hideUnknown(figure, this.phase);
    if (isUpright) turnUpright(figure);
    if (this.phase !== "score") sizeByRank(figure, round.byId, this.score);
    this.positions = positionsOf(figure);
    this.placeLabels(figure, isUpright);
    figure.data.push(...this.pathTraces(path));
    this.figure = figure;
  }

  /** Give the figure its labels and margins, in place; the page has its own remark and legend. */
  placeLabels(figure, isUpright) {
    const { cursor, more } = this.part;
    const scale = textScale();
    const margin = marginOf(isUpright, scale);
    const width = cursor.clientWidth - margin.l - margin.r;
    const height = cursor.clientHeight - margin.t - margin.b;
    const rows = this.round.rows.filter((row) => this.positions.has(row.node));
    const area = { width, height, scale, isUpright };
    const unlabelled = placeLabels(figure, rows, this.positions, area);
    more.textContent = unlabelled ? `+${unlabelled} more as marks only${this.elsewhere}` : "";
    Object.assign(figure.layout, { annotations: [], showlegend: false, margin });
  }

  /** The value of a colour of the style sheet. */
  colour(name) {
    return getComputedStyle(this.part.cursor).getPropertyValue(name).trim();
  }

  /** The traces that highlight `path`, if all of it is drawn. */
  pathTraces(path) {
    const drawn = path.every((node) => this.positions.has(node)) ? path : [];
    return pathTraces(drawn, this.positions, this.head.fan, isNarrow(), this.colour("--pin"));
  }

  /** Cover the chart with a preview of the figure. */
  drawPreview() {
    this.part.preview.hidden = false;
    drawPreview(this.part.preview, this.figure, isNarrow());
  }

  /** Make the figure of the round on screen anew. */
  redraw(path) {
    this.compose(path);
    if (window.Plotly) this.draw();
    else this.drawPreview();
  }

  /** Let Plotly draw the tree in place of the preview. */
  draw() {
    const onClick = (event) => this.pin(Number(event.points[0].id));
    draw(this.part.tree, this.figure, this.label, { plotly_click: onClick });
    this.part.preview.hidden = true;
  }

  get isPreview() {
    return !this.part.preview.hidden;
  }

  /** Highlight the nodes of `path`; an empty one lets go. */
  highlight(path) {
    const traces = this.pathTraces(path);
    const first = this.figure.data.length - traces.length;
    this.figure.data.splice(first, traces.length, ...traces);
    if (this.isPreview) return this.drawPreview();
    const points = { x: traces.map(({ x }) => x), y: traces.map(({ y }) => y) };
    window.Plotly.restyle(this.part.tree, points, [first, first + 1]);
  }

  /** Show the tree as it is after `phase`. */
  showPhase(phase, path) {
    this.phase = phase;
    this.redraw(path);
  }

  /** Let the sizes of the marks tell the ranks under `score`: the same nodes in the same places. */
  async rankBy(score, path) {
    this.score = score;
    const { round } = this;
    if (!this.isPreview) await animateSizes(this.part.tree, round.byId, score);
    if (round !== this.round) return; // the reader has stepped on
    this.redraw(path);
  }
}
