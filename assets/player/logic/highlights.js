// Traces that single out nodes of a drawn tree. `positions`: node -> [x, y].

const INERT = { hoverinfo: "skip", showlegend: false };

/** Rings around `nodes`, those that the blind tree of the same budget does not have. */
export function ringsAround(nodes, positions, color) {
  const points = nodes.map((node) => positions.get(node)).filter(Boolean);
  return {
    ...INERT,
    x: points.map(([x]) => x),
    y: points.map(([, y]) => y),
    mode: "markers",
    marker: { symbol: "diamond-open", size: 15, color, line: { width: 1, color } },
    opacity: 0.5,
  };
}

/**
 * The points of the line through `path`, as the tree draws its edges: each runs `fan` beyond its
 * parent's level before it turns towards the child. `isUpright`: the root is on top.
 */
export function pathLine(path, positions, fan, isUpright) {
  const points = path.flatMap((node, i) => {
    const end = positions.get(node);
    if (!i) return [end];
    const [x, y] = positions.get(path[i - 1]);
    return [isUpright ? [x, y - fan] : [x + fan, y], end];
  });
  return { x: points.map(([x]) => x), y: points.map(([, y]) => y) };
}

/** The two traces of a path: a broad line below its edges and a ring around its last node. */
export function pathTraces(path, positions, fan, isUpright, color) {
  const line = pathLine(path, positions, fan, isUpright);
  const end = ringsAround(path.slice(-1), positions, color);
  const marker = { symbol: "circle-open", size: 20, color, line: { width: 2.5, color } };
  return [
    { ...INERT, ...line, mode: "lines", line: { color, width: 10 }, opacity: 0.25 },
    { ...end, marker, opacity: 1 },
  ];
}
