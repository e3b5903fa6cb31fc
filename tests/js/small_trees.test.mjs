import assert from "node:assert/strict";
import { test } from "node:test";
import { extentOf, readTree, smallFigure } from "../../assets/player/logic/small_trees.js";

const AXIS = { tickfont: { size: 11 } };
const VERDICTS = ["beyond", "rejected", "accepted", "bonus", "root"].map((status) => ({
  status,
  line: status === "root" ? null : { width: 1 },
  marker: { symbol: "circle", size: 4 },
}));
const STYLE = { verdicts: VERDICTS, layout: { xaxis: AXIS, yaxis: AXIS } };

// The text goes on with 7, 8, 9. The first lane begins a round at position 10, the other at 11.
const FIRST = {
  root: 10,
  nodes: [
    [0, -1, 0, 0, "root", 6, "six"],
    [1, 0, 1, 0, "accepted", 7, "seven"],
    [2, 1, 2, -1, "accepted", 8, "eight"],
    [3, 1, 2, 1, "rejected", 5, "five"],
    [4, 3, 3, 1, "beyond", 4, "four"],
    [-2, 2, 3, -1, "bonus", 9, "nine"],
  ],
};
const SECOND = {
  root: 11,
  nodes: [
    [0, -1, 0, 0, "root", 7, "seven"],
    [1, 0, 1, 0.5, "rejected", 5, "five"],
    [2, 1, 2, 0.5, "beyond", 4, "four"],
    [3, 1, 2, 1.5, "beyond", 3, "three"],
    [-2, 0, 1, -0.5, "bonus", 8, "eight"],
  ],
};

const keys = (tree) => Object.fromEntries(readTree(tree).map(({ node, key }) => [node, key]));

test("nodes of two lanes have one key where they stand for the same text", () => {
  assert.deepEqual(keys(FIRST), {
    0: "10",
    1: "11",
    2: "12",
    3: "11,5",
    4: "11,5,4",
    "-2": "13",
  });
  assert.deepEqual(keys(SECOND), { 0: "11", 1: "11,5", 2: "11,5,4", 3: "11,5,3", "-2": "12" });
});

test("all lanes are drawn at the scale that the largest needs", () => {
  const trees = [readTree(FIRST), readTree(SECOND)];
  const extent = extentOf(trees);
  assert.deepEqual(extent, { deepest: 3, least: -1, most: 1.5 });
  const [one, other] = trees.map((rows) => smallFigure(rows, STYLE, 0.6, extent, [], "red"));
  assert.deepEqual(one.layout, other.layout);
  assert.deepEqual(one.layout.xaxis.ticktext, ["", "+1", "+2", "+3"]);
  const [low, high] = one.layout.yaxis.range;
  for (const { y } of [...one.data, ...other.data])
    for (const value of y) assert.ok(value === null || (low < value && value < high));
});

test("every node is drawn once, by its verdict, and those pointed at are ringed", () => {
  const rows = readTree(FIRST);
  const { data } = smallFigure(rows, STYLE, 0.6, extentOf([rows]), [3, -2], "red");
  const marks = data.filter(({ mode }) => mode === "markers");
  assert.deepEqual(
    marks.map(({ x }) => x.length),
    [1, 1, 2, 1, 1, 2],
  );
  assert.deepEqual(marks.at(-1).x, [2, 3]);
  const edges = data.filter(({ mode }) => mode === "lines").flatMap(({ x }) => x);
  assert.equal(edges.filter((value) => value === null).length, rows.length - 1);
});

test("without lanes there is still a scale", () => {
  assert.deepEqual(extentOf([]), { deepest: 3, least: 0, most: 0 });
});
