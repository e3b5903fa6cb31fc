// Labels of the tree: as many as fit without touching, the accepted path first.

import { textScale } from "./plots.js";

const STEP = 6.7; // width of one character of the 11 px monospace label, before it is scaled
const LINE = 12; // height of a label
const SPACE = "\u2009"; // between a node and its label
const GAP = 9; // from a node's centre to its label
const MANY = 120; // nodes; in a larger tree only the best of the nodes never asked keep a label
const BEST = 24;
const RANK = { accepted: 0, bonus: 1, root: 2, rejected: 3, beyond: 4 };
const WIDE = /[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]|[\u{1f000}-\u{3ffff}]/u;
const ISOLATES = /[\u2066-\u2069]/gu;

/** `text` as Plotly shows it unchanged (viz.text.plotly_text): no markup, no formula. */
const plotlyText = (text) =>
  text.replace(/[&<>$]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" })[c]);

const width = (text) =>
  [...text].reduce((sum, c) => sum + (WIDE.test(c) ? 2 : 1) * STEP * textScale(), 0);

/** `text` with at most `limit` characters, cut in the middle; bidi isolation is kept. */
function shorten(text, limit) {
  const bare = [...text.replace(ISOLATES, "")];
  if (bare.length <= limit) return text;
  const tail = (limit - 1) >> 1;
  const cut = `${bare.slice(0, limit - 1 - tail).join("")}…${bare.slice(bare.length - tail).join("")}`;
  return bare.length === [...text].length ? cut : `\u2068${cut}\u2069`;
}

const touches = (a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Boxes that are taken, by the bands of the picture they reach into: a new one is held against its neighbours only. */
class Taken {
  bands = new Map();

  near({ top, bottom }) {
    const found = [];
    for (let band = Math.floor(top / LINE); band <= Math.floor(bottom / LINE); band++) {
      if (!this.bands.has(band)) this.bands.set(band, []);
      found.push(this.bands.get(band));
    }
    return found;
  }

  add(box) {
    for (const band of this.near(box)) band.push(box);
  }

  meets(box) {
    return this.near(box).some((band) => band.some((other) => touches(box, other)));
  }
}

/** Where a label may stand, best first: above the thick line of the accepted path, beside other nodes. */
function positionsOf(status, narrow) {
  const onPath = status === "accepted" || status === "root" || status === "bonus";
  if (narrow) return onPath ? ["middle right", "middle left", "bottom center"] : ["bottom center"];
  return onPath ? ["top right", "middle right"] : ["middle right"];
}

/** The box a label takes up around the node at (px, py). */
function boxOf(text, [px, py], position) {
  const [vertical, side] = position.split(" "),
    wide = width(text),
    line = LINE * textScale();
  const left = { right: px + GAP, left: px - GAP - wide, center: px - wide / 2 }[side];
  const top = { top: py - line - 4, middle: py - line / 2, bottom: py + GAP - 2 }[vertical];
  return { left, right: left + wide, top, bottom: top + line };
}

/** Pixel positions of all nodes under the figure's own ranges. */
function pixels(figure, where, size) {
  const [x0, x1] = figure.layout.xaxis.range,
    [y0, y1] = figure.layout.yaxis.range;
  const spot = ([x, y]) => [
    ((x - x0) / (x1 - x0)) * size.width,
    ((y1 - y) / (y1 - y0)) * size.height,
  ];
  return new Map([...where].map(([node, point]) => [node, spot(point)]));
}

/** The longest form of `label` that touches nothing in `taken`, with its box and position; null when none fits. */
function fit(label, point, taken, positions, edge) {
  for (const limit of [12, 8, 6, 4, 3]) {
    const text = shorten(label, limit);
    for (const position of positions) {
      const box = boxOf(text, point, position);
      const inside = box.left >= -4 && box.right <= edge;
      if (inside && !taken.meets(box)) return { text, box, position };
    }
  }
  return null;
}

/** Labels as one trace of their own, which costs Plotly much less than a text, mostly empty, at every node. */
function labelTrace(traces, found) {
  const text = { x: [], y: [], text: [], meta: [], textposition: [], color: [] }; // meta: as the preview writes it
  let font = {};
  for (const { ids, x, y, textfont } of traces) {
    font = textfont;
    for (const [i, id] of ids.entries()) {
      const label = found.get(Number(id));
      if (!label) continue;
      const words = {
        text: SPACE + plotlyText(label.text),
        meta: SPACE + label.text,
        textposition: label.position,
      };
      const point = { x: x[i], y: y[i], ...words, color: textfont.color };
      for (const name of Object.keys(text)) text[name].push(point[name]);
    }
  }
  const { color, ...points } = text,
    quiet = { hoverinfo: "skip", showlegend: false, cliponaxis: false };
  const room = { size: 8, opacity: 0 }; // Plotly keeps a text off its mark, even an unseen one
  return { ...quiet, ...points, mode: "markers+text", marker: room, textfont: { ...font, color } };
}

/** Move the labels of `figure` to a trace of their own; returns how many nodes stay without one. */
export function placeLabels(figure, rows, where, size, narrow) {
  const at = pixels(figure, where, size);
  const taken = new Taken();
  for (const [x, y] of at.values())
    taken.add({ left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 });
  const byImportance = [...rows].sort(
    (a, b) => RANK[a.status] - RANK[b.status] || (a.aligned_rank ?? 0) - (b.aligned_rank ?? 0),
  );
  const plain = (row) => rows.length > MANY && row.status === "beyond" && row.aligned_rank > BEST;
  const found = new Map();
  for (const row of byImportance) {
    const label = plain(row)
      ? null
      : fit(row.label, at.get(row.node), taken, positionsOf(row.status, narrow), size.width);
    if (label) taken.add(label.box);
    found.set(row.node, label);
  }
  const traces = figure.data.filter((trace) => trace.ids);
  for (const trace of traces) {
    trace.mode = "markers";
    delete trace.text;
  }
  figure.data.push(labelTrace(traces, found));
  return [...found.values()].filter((label) => !label).length;
}
