// Trees of several lanes side by side, at one scale. A tree is { root, nodes: [[node, parent,
// depth, breadth, status, token, full], …] }, see viz/small_trees.py; `style`: its verdicts' lines
// and marks, and the layout.

import { pathLine } from "./highlights.js";

const ON_TEXT = new Set(["root", "accepted", "bonus"]);
const NAMES = ["node", "parent", "depth", "breadth", "status", "token", "full"];

/**
 * The nodes of a tree by name, each with a `key` that a node of another lane's tree has if it
 * stands for the same text: where its path leaves the text that was written, and its tokens from
 * there on.
 */
export function readTree({ root, nodes }) {
  const byNode = new Map();
  for (const values of nodes) {
    const row = Object.fromEntries(NAMES.map((name, i) => [name, values[i]]));
    byNode.set(row.node, row);
  }
  const keyOf = (row) => {
    if (ON_TEXT.has(row.status)) return `${root + row.depth}`;
    return `${keyOf(byNode.get(row.parent))},${row.token}`;
  };
  return [...byNode.values()].map((row) => ({ ...row, key: keyOf(row) }));
}

/** The depth and the breadths that all of these trees need. */
export function extentOf(trees) {
  const rows = trees.flat();
  const breadths = rows.map(({ breadth }) => breadth);
  return {
    deepest: Math.max(3, ...rows.map(({ depth }) => depth)),
    least: Math.min(0, ...breadths),
    most: Math.max(0, ...breadths),
  };
}

const placeOf = ({ depth, breadth }) => [depth, -breadth];

/** Node -> where it stands, as the large tree has it. */
export const placesOf = (rows) => new Map(rows.map((row) => [row.node, placeOf(row)]));

/** The traces of the nodes with one verdict. */
function tracesOf({ status, line, marker }, rows, places, fan) {
  const own = rows.filter((row) => row.status === status);
  const points = own.map((row) => places.get(row.node));
  const [x, y] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const marks = { mode: "markers", x, y, marker };
  if (!line) return [marks];
  const edges = own.map((row) => pathLine([row.parent, row.node], places, fan, false));
  const [ex, ey] = ["x", "y"].map((axis) => edges.flatMap((edge) => [...edge[axis], null]));
  return [{ mode: "lines", x: ex, y: ey, line }, marks];
}

/** The figure of a tree's `rows`, at the scale of `extent`, with rings around `ringed` nodes. */
export function smallFigure(rows, { verdicts, layout }, fan, extent, ringed, color) {
  const places = placesOf(rows);
  const drawn = verdicts.map((verdict) => tracesOf(verdict, rows, places, fan));
  const [lines, marks] = [drawn.map((pair) => pair.slice(0, -1)), drawn.map((pair) => pair.at(-1))];
  const around = ringed.map((node) => places.get(node));
  const ring = {
    mode: "markers",
    x: around.map(([x]) => x),
    y: around.map(([, y]) => y),
    marker: { symbol: "circle-open", size: 15, color, line: { width: 2.5, color } },
  };
  const { deepest, least, most } = extent;
  const depths = Array.from({ length: deepest + 1 }, (_, depth) => depth);
  const xaxis = {
    ...layout.xaxis,
    range: [-0.3, deepest + 0.3],
    tickvals: depths,
    ticktext: depths.map((depth) => (depth ? `+${depth}` : "")),
  };
  const yaxis = { ...layout.yaxis, range: [-most - 0.7, 0.7 - least] };
  return { data: [...lines.flat(), ...marks, ring], layout: { ...layout, xaxis, yaxis } };
}
