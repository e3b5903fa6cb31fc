// The tree-attention mask on a canvas: a filled square where the row's node sees the column's.

import { make } from "./dom.js";
import { cellAt } from "./logic/film.js";

const LEAST = 3; // pixels of a row that is lit

export class Mask {
  /** `sees`: the columns that each row sees; `on` as for the tree of a film. */
  constructor(sees, on) {
    this.sees = sees;
    this.box = make("div", undefined, "film-mask");
    this.canvas = make("canvas");
    this.box.append(this.canvas);
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "group");
    const label = "Tree-attention mask. Arrow keys move from row to row.";
    this.box.setAttribute("aria-label", label);
    this.box.addEventListener("pointermove", (event) => on.point(this.rowAt(event)));
    this.box.addEventListener("pointerleave", () => on.point(null));
    this.box.addEventListener("click", (event) => on.pick(this.rowAt(event)));
  }

  rowAt({ clientY }) {
    const { top, height } = this.canvas.getBoundingClientRect();
    return cellAt(clientY - top, height, this.sees.length);
  }

  /** Light the row of the node `now`; rows of nodes that are not taken yet are faint. */
  draw({ taken, now }) {
    const { canvas, sees } = this;
    const size = canvas.clientWidth;
    if (!size) return;
    const scale = window.devicePixelRatio;
    Object.assign(canvas, { width: size * scale, height: size * scale });
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    const cell = size / sees.length;
    const [ink, pin] = [colour("--ink"), colour("--pin")];
    const gap = cell > 5 ? 1 : 0;
    const fill = (row, column, height) =>
      context.fillRect(column * cell, row * cell, Math.max(cell - gap, 1), height);
    context.fillStyle = ink;
    for (const [row, columns] of sees.entries()) {
      context.globalAlpha = row <= taken ? 0.7 : 0.18;
      for (const column of columns) fill(row, column, Math.max(cell - gap, 1));
    }
    const high = Math.max(cell - gap, LEAST);
    const top = Math.min(now * cell, size - high);
    context.fillStyle = pin;
    context.globalAlpha = 0.22;
    context.fillRect(0, top, size, high);
    context.globalAlpha = 1;
    const wide = Math.max(cell - gap, LEAST);
    for (const column of sees[now])
      context.fillRect(Math.min(column * cell, size - wide), top, wide, high);
  }
}
