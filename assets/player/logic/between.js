// A tree on its way to another: nodes of both move, the others fade in or out. `parents`: node ->
// its parent.

import { positionsOf } from "./figures.js";
import { pathLine } from "./highlights.js";

const mixed = (a, b, share) => a + (b - a) * share;

/** A trace of `nodes` alone, a part of those of `trace`, and of the edges that lead to them. */
function partOf(trace, line, nodes, { positions, parents, fan, isUpright, opacity }) {
  const at = trace.ids.map(Number);
  const sizes = trace.marker.size;
  const size = Array.isArray(sizes) ? nodes.map((node) => sizes[at.indexOf(node)]) : sizes;
  const [x, y] = [0, 1].map((axis) => nodes.map((node) => positions.get(node)[axis]));
  const ids = nodes.map(String);
  const marks = { mode: "markers", ids, x, y, marker: { ...trace.marker, size }, opacity };
  if (!line) return [marks];
  const edges = { mode: "lines", x: [], y: [], line, opacity };
  for (const node of nodes) {
    const points = pathLine([parents.get(node), node], positions, fan, isUpright);
    edges.x.push(...points.x, null);
    edges.y.push(...points.y, null);
  }
  return [edges, marks];
}

/** The traces of those nodes of `figure` that `isMeant`. */
function tracesOf({ data }, isMeant, placed) {
  const lines = new Map(data.filter(({ mode }) => mode === "lines").map((t) => [t.legendgroup, t]));
  return data
    .filter((trace) => trace.ids)
    .flatMap((trace) => {
      const nodes = trace.ids.map(Number).filter(isMeant);
      return partOf(trace, lines.get(trace.legendgroup)?.line, nodes, placed);
    });
}

/** `figure` of the page at `share` (0 to 1) of the way from the figure `from` to `to`. */
export function between(from, to, share, { parents, fan, isUpright }) {
  const [old, next] = [positionsOf(from), positionsOf(to)];
  const way = (node) => {
    const [a, b] = [old.get(node) ?? next.get(node), next.get(node) ?? old.get(node)];
    return [mixed(a[0], b[0], share), mixed(a[1], b[1], share)];
  };
  const positions = new Map([...old.keys(), ...next.keys()].map((node) => [node, way(node)]));
  const placed = (opacity) => ({ positions, parents, fan, isUpright, opacity });
  const range = (axis) => {
    const [a, b] = [from.layout[axis].range, to.layout[axis].range];
    return { ...to.layout[axis], range: a.map((value, i) => mixed(value, b[i], share)) };
  };
  const data = [
    ...tracesOf(from, (node) => !next.has(node), placed(1 - share)),
    ...tracesOf(to, (node) => !old.has(node), placed(share)),
    ...tracesOf(to, (node) => old.has(node), placed(1)),
  ];
  return { data, layout: { ...to.layout, xaxis: range("xaxis"), yaxis: range("yaxis") } };
}
