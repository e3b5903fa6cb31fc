// The trees of the lanes' rounds, one under each lane's text: same scale, same colours, and a node
// that is pointed at is ringed in every lane whose tree has it.

import { themed } from "./charts.js";
import { make } from "./dom.js";
import { projection } from "./logic/geometry.js";
import { neighbour } from "./logic/path.js";
import { extentOf, placesOf, readTree, smallFigure } from "./logic/small_trees.js";
import { drawPreview } from "./preview.js";

const REACH = 14; // pixels around a node in which it is pointed at
const ABSENT = "not in this tree";

export class SmallTrees {
  constructor() {
    this.trees = []; // { rows, box, canvas, remark } by lane
    this.key = null; // of the node that is pointed at
  }

  /** The elements of a lane's `tree`, which `words` describe, for its panel. */
  add(tree, words) {
    const box = make("div", undefined, "small-tree");
    const canvas = make("canvas");
    const remark = make("p", words, "remark");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `Draft tree: ${words}. Arrow keys move from node to node.`);
    box.append(canvas);
    const lane = { rows: readTree(tree), box, canvas, remark, words };
    box.addEventListener("pointermove", (event) => this.point(lane, event));
    box.addEventListener("pointerdown", (event) => this.point(lane, event));
    box.addEventListener("pointerleave", () => this.choose(null));
    box.addEventListener("keydown", (event) => this.walk(lane, event));
    this.trees.push(lane);
    return [box, remark];
  }

  /** Forget the trees that were shown: others take their places. */
  clear() {
    this.trees = [];
    this.key = null;
  }

  /** Draw all; `head`: the comparison's, with the style. */
  draw(head) {
    this.head = head;
    this.extent = extentOf(this.trees.map(({ rows }) => rows));
    for (const lane of this.trees) this.drawLane(lane);
  }

  drawLane(lane) {
    const { head, extent, key } = this;
    const { rows, canvas } = lane;
    if (!canvas.clientWidth) return; // the tab is not open
    const color = getComputedStyle(canvas).getPropertyValue("--pin").trim();
    const ringed = rows.filter((row) => row.key === key).map(({ node }) => node);
    const figure = smallFigure(rows, head.style, head.fan, extent, ringed, color);
    drawPreview(canvas, themed(figure, head.dark), false);
    lane.figure = figure;
  }

  /** The node of `lane` that the pointer is at. */
  point({ rows, canvas, figure }, event) {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const toPixels = projection(figure.layout, { width, height }, figure.layout.margin);
    const places = placesOf(rows);
    const far = ({ node }) => {
      const [x, y] = toPixels(...places.get(node));
      return Math.hypot(x + left - event.clientX, y + top - event.clientY);
    };
    const near = rows.reduce((best, row) => (far(row) < far(best) ? row : best));
    this.choose(far(near) < REACH ? near.key : null);
  }

  walk({ rows }, event) {
    if (event.key === "Escape") return this.choose(null);
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation(); // the arrows of the page Explore step through rounds
    const here = rows.find((row) => row.key === this.key);
    const next = here ? neighbour(event.key, here, rows, placesOf(rows)) : rows[0];
    if (next) this.choose(next.key);
  }

  /** Ring the node of this key in every lane and say what became of it; null lets go. */
  choose(key) {
    if (key === this.key) return;
    this.key = key;
    const names = new Map(this.head.style.verdicts.map(({ status, name }) => [status, name]));
    for (const lane of this.trees) {
      const row = lane.rows.find((one) => one.key === key);
      const said = row ? `‘${row.full}’: ${names.get(row.status)}` : ABSENT;
      lane.remark.textContent = key === null ? lane.words : said;
      this.drawLane(lane);
    }
  }
}
