import assert from "node:assert/strict";
import { test } from "node:test";
import { between } from "../../assets/player/logic/between.js";

const PARENTS = new Map([
  [0, -1],
  [1, 0],
  [2, 0],
  [3, 0],
]);
const HOW = { parents: PARENTS, fan: 0.5, isUpright: false };

/** A tree's figure: the root and its children, by node -> height. */
function figureOf(children, range) {
  const nodes = Object.keys(children);
  const marker = { symbol: "circle", size: nodes.map((node) => 5 + Number(node)) };
  const data = [
    { mode: "lines", legendgroup: "beyond", line: { width: 1 }, x: [], y: [] },
    { mode: "markers", legendgroup: "root", ids: ["0"], x: [0], y: [0], marker: { size: 9 } },
    {
      mode: "markers",
      legendgroup: "beyond",
      ids: nodes,
      x: nodes.map(() => 1),
      y: nodes.map((node) => children[node]),
      marker,
    },
    { mode: "markers+text", meta: ["label"], x: [1], y: [0] },
  ];
  return { data, layout: { xaxis: { range: [0, 1] }, yaxis: { range } } };
}

const FROM = figureOf({ 1: 4, 2: 0 }, [0, 4]);
const TO = figureOf({ 1: 0, 3: 2 }, [0, 2]);

/** Node -> [its height, its mark's size, its opacity], as they are drawn. */
const marksOf = ({ data }) =>
  Object.fromEntries(
    data
      .filter(({ ids }) => ids)
      .flatMap(({ ids, marker, y, opacity }) =>
        ids.map((id, i) => [id, [y[i], marker.size[i] ?? marker.size, opacity]]),
      ),
  );

test("nodes of both trees move, the others fade, and the axes go along", () => {
  const half = between(FROM, TO, 0.5, HOW);
  assert.deepEqual(marksOf(half), {
    0: [0, 9, 1],
    1: [2, 6, 1], // on its way
    2: [0, 7, 0.5], // goes
    3: [2, 8, 0.5], // comes
  });
  assert.deepEqual(half.layout.yaxis.range, [0, 3]);
  assert.deepEqual(between(FROM, TO, 0, HOW).layout.yaxis.range, [0, 4]);
  assert.deepEqual(between(FROM, TO, 1, HOW).layout.yaxis.range, [0, 2]);
});

test("edges go where their nodes are, and every line ends before the next begins", () => {
  const { data } = between(FROM, TO, 0.25, HOW);
  const edges = data.filter(({ mode, x }) => mode === "lines" && x.length);
  assert.deepEqual(
    edges.map(({ x, y, opacity }) => [x, y, opacity]),
    [
      [[0, 0.5, 1, null], [0, 0, 0, null], 0.75],
      [[0, 0.5, 1, null], [0, 0, 2, null], 0.25],
      [[0, 0.5, 1, null], [0, 0, 3, null], 1],
    ],
  );
});
