// The film of a search (ui/film_payload.py): what its tree and its mask show after each step.

import { pathLine } from "./highlights.js";

const WHOLE = 15_000; // milliseconds that a film takes, within these bounds of a step
const [SHORTEST, LONGEST] = [60, 600];

/** Milliseconds that each of `count` steps stays on screen at speed 1. */
export const stepTime = (count) => Math.min(LONGEST, Math.max(SHORTEST, WHOLE / count));

/** The node that a step has just taken, the root where it took none. */
export const nodeOf = ({ rows }, { row }) => (row === null ? 0 : rows[row].node);

/** Those nodes of the frontier that a beam has opened last which the finished tree holds. */
export function frontierOf({ rows, levels }, step) {
  const level = step.row === null ? levels[step.levels - 1] : null;
  return level ? level.rows.map((row) => rows[row].node).filter(Boolean) : [];
}

/** The place of `offset` pixels among `count` cells that fill `size`; null outside of them. */
export function cellAt(offset, size, count) {
  const cell = Math.floor((offset / size) * count);
  return cell >= 0 && cell < count ? cell : null;
}

/** The node in the direction of an arrow key in the mask, whose rows are the nodes in order. */
export function rowBeside(key, row, count) {
  const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[key];
  return Math.min(count - 1, Math.max(0, row + step));
}

/** The step to which a key leads, null for any other key. */
export function stepBy(key, step, last) {
  const to = { ArrowLeft: step - 1, ArrowRight: step + 1, ",": step - 1, ".": step + 1 }[key];
  const end = { Home: 0, End: last }[key] ?? to;
  return end === undefined ? null : Math.min(last, Math.max(0, end));
}

const marks = (nodes, positions, marker, opacity = 1) => ({
  mode: "markers",
  x: nodes.map((node) => positions.get(node)[0]),
  y: nodes.map((node) => positions.get(node)[1]),
  marker: { line: { width: 1 }, ...marker },
  opacity,
});

/** The edges that lead to `nodes`. */
function edges(nodes, { parents, positions, fan, isUpright }, line) {
  const [x, y] = [[], []];
  for (const node of nodes) {
    const points = pathLine([parents[node], node], positions, fan, isUpright);
    x.push(...points.x, null);
    y.push(...points.y, null);
  }
  return { mode: "lines", x, y, line };
}

/** The labels of those nodes that have one and are in the tree. */
function labelTrace({ labels, positions, font }, taken, colours) {
  const shown = [...labels].filter(([node, label]) => label && node <= taken);
  return {
    mode: "text",
    x: shown.map(([node]) => positions.get(node)[0]),
    y: shown.map(([node]) => positions.get(node)[1]),
    meta: shown.map(([, { text }]) => text),
    textposition: shown.map(([, { position }]) => position),
    textfont: { ...font, color: shown.map(([node]) => (node ? colours.muted : colours.root)) },
  };
}

/**
 * The figure of a tree of which the nodes up to `taken` are there. `tree`: its layout, `positions`
 * and `labels` by node, `parents`, `fan`, `font` and whether it `isUpright`. `state`: { taken, now:
 * the node to ring, lit: the nodes that it sees, frontier }. `colours` of the page by meaning.
 */
export function filmFigure(tree, { taken, now, lit, frontier }, colours) {
  const { positions, parents, fan, isUpright, layout } = tree;
  const all = [...parents.keys()].slice(1);
  const [there, later] = [all.slice(0, taken), all.slice(taken)];
  const path = pathLine(lit, positions, fan, isUpright);
  const ring = { symbol: "circle-open", size: 18, color: colours.pin, line: { width: 2.5 } };
  const data = [
    edges(there, tree, { width: 1, color: colours.node }),
    { mode: "lines", ...path, line: { width: 8, color: colours.pin }, opacity: 0.3 },
    marks(later, positions, { symbol: "circle-open", size: 4, color: colours.node }, 0.45),
    marks(there, positions, { symbol: "circle", size: 6, color: colours.node }),
    marks(frontier, positions, { symbol: "diamond-open", size: 11, color: colours.frontier }),
    marks([0], positions, { symbol: "square", size: 11, color: colours.root }),
    marks(lit, positions, { symbol: "circle", size: 8, color: colours.pin }),
    marks([now], positions, ring),
    labelTrace(tree, taken, colours),
  ];
  return { data, layout };
}
