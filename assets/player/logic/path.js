// Paths of a round's tree: from the root to a node, and from a node to its neighbours.

/** Nodes from the root to `node`; empty for null and for a node that the tree does not have. */
export function pathTo(node, byId) {
  const path = [];
  for (let here = byId.get(node); here; here = byId.get(here.parent)) path.unshift(here.node);
  return path;
}

/** Children of `parent` as the tree draws them, from top to bottom; `positions`: node -> [x, y]. */
function childrenOf(parent, rows, positions) {
  const height = (row) => positions.get(row.node)[1];
  return rows.filter((row) => row.parent === parent).sort((a, b) => height(b) - height(a));
}

/**
 * Where an arrow key leads from the row `here`: left to its parent, right to its first child, up
 * and down between its siblings. Undefined where there is nothing.
 */
export function neighbour(key, here, rows, positions) {
  if (key === "ArrowLeft") return rows.find((row) => row.node === here.parent);
  if (key === "ArrowRight") return childrenOf(here.node, rows, positions)[0];
  const siblings = childrenOf(here.parent, rows, positions);
  return siblings[siblings.indexOf(here) + (key === "ArrowDown" ? 1 : -1)];
}

/** The text of a path's nodes that were drafted and not accepted. */
export const notAccepted = (rows) =>
  rows
    .filter((row) => row.status === "rejected" || row.status === "beyond")
    .map((row) => row.full)
    .join("");

/** Whether a chip of the text, from `nodes` or the round's bonus, is on the path of `rows`. */
export const isOnPath = ({ nodes, isBonus }, rows) =>
  rows.some((row) => (isBonus && row.status === "bonus") || nodes.includes(row.node));
