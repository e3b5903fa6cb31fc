// The draft tree of the round on screen: a preview at once, then drawn by Plotly, which makes it answer to the pointer.

import { placeLabels } from "./labels.js";
import { showMissing } from "./nodes.js";
import {
  animateSizes,
  draw,
  isNarrow,
  onlyTrace,
  pathTraces,
  places,
  sizeByRank,
  textScale,
  themed,
  topDown,
} from "./plots.js";
import { veil } from "./phases.js";
import { preview } from "./preview.js";

/** Margins of the chart: the depth axis is on top, or on the left when the tree stands upright. */
const marginOf = (narrow) =>
  narrow ? { l: 30 * textScale(), r: 8, t: 8, b: 6 } : { l: 8, r: 8, t: 22 * textScale(), b: 6 };

export class TreeView {
  /** `part`: the elements cursor, tree, preview, more and missing; `pin(node)`: what a click on a node does. */
  constructor(part, pin) {
    this.part = part;
    this.pin = pin;
    this.by = "aligned"; // the score whose ranks the marks' sizes tell
    this.phase = "commit"; // of the round, up to which the tree is shown
  }

  /** Show a preview of `round` with the nodes of `path` lit; `draw` has to follow. `head` is that of the run. */
  show(round, head, label, path) {
    Object.assign(this, { round, head, label });
    this.compose(path);
    this.preview();
    this.part.tree.setAttribute("aria-label", label);
    showMissing(this.part.missing, round);
  }

  /** Make the figure as the page shows it: themed, turned, sized, labelled, with the path lit. */
  compose(path) {
    const { round, head } = this,
      { cursor, more } = this.part,
      narrow = isNarrow(),
      margin = marginOf(narrow);
    const figure = themed(round.tree, head.dark);
    veil(figure, this.phase);
    if (narrow) topDown(figure);
    if (this.phase !== "score") sizeByRank(figure, round.byId, this.by);
    const size = {
      width: cursor.clientWidth - margin.l - margin.r,
      height: cursor.clientHeight - margin.t - margin.b,
    };
    this.where = places(figure);
    const shown = round.rows.filter((row) => this.where.has(row.node));
    const bare = placeLabels(figure, shown, this.where, size, narrow);
    more.textContent = bare ? `+${bare} more as marks only; all are in the table below` : "";
    Object.assign(figure.layout, { annotations: [], showlegend: false, margin }); // the page has its own remark and legend
    const only = this.phase === "score" ? [] : (round.only ?? []);
    figure.data.push(onlyTrace(only, this.where, this.colour("--exact")), ...this.pathTraces(path));
    this.figure = figure;
  }

  colour(name) {
    return getComputedStyle(this.part.cursor).getPropertyValue(name).trim();
  }

  pathTraces(path) {
    const lit = path.every((node) => this.where.has(node)) ? path : [];
    return pathTraces(lit, this.where, this.head.fan, this.colour("--pin"));
  }

  /** Cover the chart with a still picture of the figure. */
  preview() {
    this.part.preview.hidden = false;
    preview(this.part.preview, this.figure, isNarrow());
  }

  /** Make the figure anew, for the round on screen. */
  redraw(path) {
    this.compose(path);
    if (window.Plotly) this.draw();
    else this.preview();
  }

  /** Let Plotly draw the tree in place of the preview. */
  draw() {
    draw(this.part.tree, this.figure, this.label, {
      plotly_click: (event) => this.pin(Number(event.points[0].id)),
    });
    this.part.preview.hidden = true;
  }

  get isPreview() {
    return !this.part.preview.hidden;
  }

  /** Light the nodes of `path`; an empty one lets go. */
  light(path) {
    const lit = this.pathTraces(path),
      count = this.figure.data.length;
    this.figure.data.splice(count - 2, 2, ...lit);
    if (this.isPreview) return this.preview();
    const [line, ring] = lit;
    window.Plotly.restyle(this.part.tree, { x: [line.x, ring.x], y: [line.y, ring.y] }, [
      count - 2,
      count - 1,
    ]);
  }

  /** Show the tree as it is after `phase`. */
  showPhase(phase, path) {
    this.phase = phase;
    this.redraw(path);
  }

  /** Let the marks' sizes tell the ranks under `score`: the same nodes in the same places. */
  async rankBy(score, path) {
    this.by = score;
    const { round } = this;
    if (!this.isPreview) await animateSizes(this.part.tree, round.byId, score);
    if (round !== this.round) return; // the reader has stepped on
    this.redraw(path);
  }
}
