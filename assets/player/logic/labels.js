// Labels of the tree: as many as fit without touching, the accepted path first. Python sends each
// label's forms from long to short (viz.text.labels).

import { projection } from "./geometry.js";
import { inLabelOrder } from "./nodes.js";

const CHARACTER = 6.7; // pixels of a character's width in the 11 px monospace label, at scale 1
const LINE_HEIGHT = 12; // pixels, at scale 1
const GAP = 9; // pixels from a node's centre to its label
const MARK = 4; // pixels around a node's centre that its mark takes up
const MARGINS = { l: 0, r: 0, t: 0, b: 0 };
const MANY = 120; // nodes; in a larger tree only the best of those never asked keep a label
const BEST = 24;
const THIN_SPACE = "\u2009"; // between a node and its label
const WIDE = /[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]|[\u{1f000}-\u{3ffff}]/u;
const ISOLATES = /[\u2066-\u2069]/gu; // take up no space

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };

/** `text` as Plotly shows it unchanged, equal to `viz.text.plotly_text`: no markup, no formula. */
export const plotlyText = (text) => text.replace(/[&<>$]/g, (character) => ESCAPES[character]);

/** Width of a label in pixels. */
export function widthOf(text, scale) {
  const characters = [...text.replace(ISOLATES, "")];
  const columns = characters.reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
  return columns * CHARACTER * scale;
}

const touches = (a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Boxes that are taken, by bands of the picture, so that a new one meets its neighbours only. */
export class TakenBoxes {
  #bands = new Map();

  #bandsOf({ top, bottom }) {
    const found = [];
    for (let i = Math.floor(top / LINE_HEIGHT); i <= Math.floor(bottom / LINE_HEIGHT); i++) {
      if (!this.#bands.has(i)) this.#bands.set(i, []);
      found.push(this.#bands.get(i));
    }
    return found;
  }

  add(box) {
    for (const band of this.#bandsOf(box)) band.push(box);
  }

  meets(box) {
    return this.#bandsOf(box).some((band) => band.some((other) => touches(box, other)));
  }
}

/** Where a label may stand, best first: above the accepted path's thick line, beside others. */
function candidates(status, isUpright) {
  const isOnPath = status === "accepted" || status === "root" || status === "bonus";
  if (isUpright)
    return isOnPath ? ["middle right", "middle left", "bottom center"] : ["bottom center"];
  return isOnPath ? ["top right", "middle right", "bottom right"] : ["middle right"];
}

/** The box that a label takes up at `position` of the node at [x, y], in pixels. */
export function boxOf(text, [x, y], position, scale) {
  const [vertical, side] = position.split(" ");
  const [width, height] = [widthOf(text, scale), LINE_HEIGHT * scale];
  const left = { right: x + GAP, left: x - GAP - width, center: x - width / 2 }[side];
  const top = { top: y - height - 4, middle: y - height / 2, bottom: y + GAP - 2 }[vertical];
  return { left, right: left + width, top, bottom: top + height };
}

/** The longest of a label's `forms` that touches nothing, with its box and position, or null. */
function fit(forms, point, taken, positions, { width, scale }) {
  for (const text of forms)
    for (const position of positions) {
      const box = boxOf(text, point, position, scale);
      const isInside = box.left >= -MARK && box.right <= width;
      if (isInside && !taken.meets(box)) return { text, box, position };
    }
  return null;
}

/**
 * A label for each of `rows`, or null where none fits: node -> { text, box, position }. `points`:
 * node -> [x, y] in pixels of an area `width` wide.
 */
export function chooseLabels(rows, points, { width, scale, isUpright }) {
  const taken = new TakenBoxes();
  for (const [x, y] of points.values())
    taken.add({ left: x - MARK, right: x + MARK, top: y - MARK, bottom: y + MARK });
  const isMinor = (row) => rows.length > MANY && row.status === "beyond" && row.aligned_rank > BEST;
  const chosen = new Map();
  for (const row of inLabelOrder(rows)) {
    const positions = candidates(row.status, isUpright);
    const forms = isMinor(row) ? [] : row.labels;
    const label = fit(forms, points.get(row.node), taken, positions, { width, scale });
    if (label) taken.add(label.box);
    chosen.set(row.node, label);
  }
  return chosen;
}

/**
 * Labels as one trace of their own, which costs Plotly much less than a text, mostly empty, at
 * every node. Its `meta` holds the texts as the preview writes them.
 */
function labelTrace(traces, chosen) {
  const points = { x: [], y: [], text: [], meta: [], textposition: [] };
  const color = [];
  for (const { ids, x, y, textfont } of traces)
    for (const [i, id] of ids.entries()) {
      const label = chosen.get(Number(id));
      if (!label) continue;
      points.x.push(x[i]);
      points.y.push(y[i]);
      points.text.push(THIN_SPACE + plotlyText(label.text));
      points.meta.push(THIN_SPACE + label.text);
      points.textposition.push(label.position);
      color.push(textfont.color);
    }
  // Plotly keeps a text off its mark, even an unseen one.
  const style = { mode: "markers+text", marker: { size: 8, opacity: 0 }, cliponaxis: false };
  const textfont = { ...traces.at(-1)?.textfont, color };
  return { hoverinfo: "skip", showlegend: false, ...style, ...points, textfont };
}

/**
 * Move the labels of `figure`'s nodes to a trace of their own, in place; returns how many nodes
 * stay without one. `area`: width and height of the plot in pixels, the letters' scale, and whether
 * the tree `isUpright`.
 */
export function placeLabels(figure, rows, positions, area) {
  const toPixels = projection(figure.layout, area, MARGINS);
  const points = new Map([...positions].map(([node, [x, y]]) => [node, toPixels(x, y)]));
  const chosen = chooseLabels(rows, points, area);
  const traces = figure.data.filter((trace) => trace.ids);
  for (const trace of traces) {
    trace.mode = "markers";
    delete trace.text;
  }
  figure.data.push(labelTrace(traces, chosen));
  return [...chosen.values()].filter((label) => !label).length;
}
