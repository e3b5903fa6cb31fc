// Random rounds as the player parses them.

const STATUSES = ["accepted", "rejected", "beyond"];

/** Ranks from 1 in a random order. */
function ranks(count, { number }) {
  const order = Array.from({ length: count }, (_, i) => [number(), i]).sort(([a], [b]) => a - b);
  const places = [];
  for (const [rank, [, i]] of order.entries()) places[i] = rank + 1;
  return places;
}

const LABELS = ["a", "␣the", "encyclopaedia", "<F0 9F>", "⁨שלום⁩", "漢字漢字"];

/** Forms of a label from long to short. */
const forms = (label) => [label, ...(label.length > 4 ? [`${label[0]}…${label.at(-1)}`] : [])];

/** `count` drafted nodes below a root, every parent before its children. */
export function randomRows(count, draw) {
  const [blind, aligned] = [ranks(count, draw), ranks(count, draw)];
  const root = { node: 0, parent: -1, depth: 0, status: "root", labels: ["root"], full: "root" };
  const rows = [{ ...root, blind_rank: null, aligned_rank: null }];
  for (let node = 1; node <= count; node++) {
    const parent = rows[draw.below(node)];
    const label = draw.oneOf(LABELS);
    rows.push({
      node,
      parent: parent.node,
      depth: parent.depth + 1,
      status: draw.oneOf(STATUSES),
      labels: forms(label),
      full: label,
      blind_rank: blind[node - 1],
      aligned_rank: aligned[node - 1],
    });
  }
  return rows;
}

export const byId = (rows) => new Map(rows.map((row) => [row.node, row]));

/** Some place for every node, as a left-to-right tree has it: x is the depth. */
export const randomPositions = (rows, { below }) =>
  new Map(rows.map(({ node, depth }) => [node, [depth, below(1000) + node / 1000]]));
