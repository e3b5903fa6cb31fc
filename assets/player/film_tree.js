// The tree of a film on a canvas: the nodes taken so far, those to come as faint marks.

import { isNarrow, textScale, themed } from "./charts.js";
import { make } from "./dom.js";
import { filmFigure } from "./logic/film.js";
import { positionsOf, turnUpright } from "./logic/figures.js";
import { projection } from "./logic/geometry.js";
import { chooseLabels } from "./logic/labels.js";
import { drawPreview } from "./preview.js";

const REACH = 16; // pixels around a node in which it is pointed at
const COLOURS = {
  node: "--beyond",
  root: "--exact",
  pin: "--pin",
  frontier: "--accepted",
  muted: "--muted",
};
const NO_MARGIN = { l: 0, r: 0, t: 0, b: 0 };

export class FilmTree {
  /** `data`: the film; `on.point(node)` and `on.pick(node)`: a node is pointed at or clicked. */
  constructor(data, on) {
    this.data = data;
    this.box = make("div", undefined, "film-tree");
    this.canvas = make("canvas");
    this.box.append(this.canvas);
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "group");
    this.box.setAttribute("aria-label", "Tree of the search. Arrow keys move from node to node.");
    this.box.addEventListener("pointermove", (event) => on.point(this.nodeAt(event)));
    this.box.addEventListener("pointerleave", () => on.point(null));
    this.box.addEventListener("click", (event) => on.pick(this.nodeAt(event)));
    this.parents = data.nodes.map(({ parent }) => parent);
  }

  /** Where nodes and labels stand, for the page as it is now. */
  place() {
    const { data, canvas } = this;
    const { nodes } = data;
    const [isUpright, scale] = [isNarrow(), textScale()];
    const [x, y] = [0, 1].map((axis) => nodes.map(({ place }) => place[axis]));
    const figure = themed(
      { data: [{ ids: [...nodes.keys()], x, y }], layout: data.layout },
      data.dark,
    );
    if (isUpright) turnUpright(figure);
    const side = isUpright ? { l: 30 * scale, t: 8 } : { l: 8, t: 22 * scale };
    const margin = { ...side, r: 8, b: 6 };
    const { layout } = figure;
    layout.margin = margin;
    this.size = { width: canvas.clientWidth, height: canvas.clientHeight };
    const width = this.size.width - margin.l - margin.r;
    const height = this.size.height - margin.t - margin.b;
    const positions = positionsOf(figure);
    const toArea = projection(layout, { width, height }, NO_MARGIN);
    const points = new Map([...positions].map(([node, [left, top]]) => [node, toArea(left, top)]));
    const rows = nodes.map(({ labels }, node) => {
      return { node, labels, aligned_rank: node, status: node ? "beyond" : "root" };
    });
    const labels = chooseLabels(rows, points, { width, scale, isUpright });
    const style = getComputedStyle(this.box);
    this.colours = Object.fromEntries(
      Object.entries(COLOURS).map(([name, value]) => [name, style.getPropertyValue(value).trim()]),
    );
    const font = { size: 11 * scale, family: style.getPropertyValue("--mono") };
    const { parents } = this;
    this.tree = { layout, positions, labels, parents, fan: data.fan, font, isUpright };
  }

  /** Draw the tree in a `state`, see `filmFigure`. */
  draw(state) {
    if (!this.canvas.clientWidth) return;
    drawPreview(this.canvas, filmFigure(this.tree, state, this.colours), this.tree.isUpright);
  }

  /** The node that the pointer is at, null where there is none. */
  nodeAt({ clientX, clientY }) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const { layout, positions } = this.tree;
    const toPixels = projection(layout, this.size, layout.margin);
    let [near, least] = [null, REACH];
    for (const [node, place] of positions) {
      const [x, y] = toPixels(...place);
      const far = Math.hypot(x + left - clientX, y + top - clientY);
      if (far < least) [near, least] = [node, far];
    }
    return near;
  }
}
