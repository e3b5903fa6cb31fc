import assert from "node:assert/strict";
import { test } from "node:test";
import {
  emptyFigure,
  inTheme,
  positionsOf,
  sizeByRank,
  sizesByRank,
  turnUpright,
  withPoints,
} from "../../assets/player/logic/figures.js";
import { forAll } from "./random.mjs";
import { byId, randomRows } from "./trees.mjs";

const DARK = { "#111111": "#eeeeee", "rgba(1,1,1,0.1)": "rgba(9,9,9,0.1)" };
const themedFigure = () => ({
  data: [
    {
      text: ["#111111"],
      customdata: [["#111111"]],
      marker: { color: ["#222222"], colorscale: [[0, "rgba(1,1,1,0.1)"]], line: { width: 2 } },
      textfont: { size: 10, color: "#111111" },
      name: "#111111",
    },
  ],
  layout: {
    font: { size: 12, color: "#111111" },
    xaxis: { gridcolor: "#111111", tickfont: { color: "#222222" } },
    shapes: [{ line: { dash: "dot" } }],
  },
});

test("colours turn dark, and nothing else", () => {
  const figure = themedFigure();
  const { data, layout } = inTheme(figure, DARK, 1);
  assert.deepEqual(figure, themedFigure());
  assert.deepEqual(
    [layout.font.color, layout.xaxis.gridcolor, data[0].textfont.color],
    ["#eeeeee", "#eeeeee", "#eeeeee"],
  );
  assert.deepEqual(data[0].marker.colorscale, [[0, "rgba(9,9,9,0.1)"]]);
  assert.deepEqual(
    [data[0].text, data[0].customdata, data[0].name, data[0].marker.color],
    [["#111111"], [["#111111"]], "#111111", ["#222222"]],
  );
});

test("letters and lines grow by the scale, in a copy", () => {
  const figure = themedFigure();
  const { data, layout } = inTheme(figure, null, 1.5);
  assert.deepEqual(
    [layout.font.size, data[0].textfont.size, data[0].marker.line.width],
    [18, 15, 3],
  );
  assert.deepEqual(layout.xaxis, figure.layout.xaxis);
  assert.deepEqual(layout.shapes, figure.layout.shapes);
  assert.deepEqual(figure, themedFigure());
  assert.deepEqual(inTheme(figure, null, 1), figure);
});

const treeFigure = () => ({
  data: [
    { x: [0, 1, null], y: [0, -2, null], mode: "lines" },
    { x: [0, 1], y: [0, -2], ids: ["0", "7"] },
  ],
  layout: { xaxis: { range: [-0.3, 3], tickvals: [0, 1, 2] }, yaxis: { range: [-5, 1] } },
});

test("an upright tree has its root on top and its first child on the left", () => {
  const figure = treeFigure();
  turnUpright(figure);
  assert.deepEqual(positionsOf(figure).get(7), [2, -1]);
  assert.deepEqual(figure.data[0].x, [-0, 2, null]);
  const { xaxis, yaxis } = figure.layout;
  assert.deepEqual(xaxis.range, [-1, 5]);
  assert.deepEqual(
    [yaxis.range, yaxis.tickvals],
    [
      [-3, 0.3],
      [-0, -1, -2],
    ],
  );
  assert.equal(yaxis.side, "left");
});

test("turned twice a tree is what it was", () => {
  const figure = treeFigure();
  turnUpright(figure);
  turnUpright(figure);
  for (const [i, { x, y }] of treeFigure().data.entries())
    for (const [j, value] of x.entries()) {
      const turned = figure.data[i];
      assert.ok(turned.x[j] === value && turned.y[j] === y[j]); // 0 equals −0
    }
  assert.deepEqual(figure.layout.xaxis.range, [-0.3, 3]);
});

test("every node stands where its trace has it, edges have none", () => {
  assert.deepEqual(
    [...positionsOf(treeFigure())],
    [
      [0, [0, 0]],
      [7, [1, -2]],
    ],
  );
});

test("a better rank has a larger mark, the best and the last the extreme ones", () => {
  forAll(30, (draw) => {
    const rows = [...randomRows(2 + draw.below(60), draw), { node: -2, status: "bonus" }];
    const all = byId(rows);
    const drafted = rows.filter(({ node }) => node > 0);
    const sizes = sizesByRank({ ids: drafted.map(({ node }) => String(node)) }, all, "blind");
    const order = drafted.map(({ blind_rank: rank }, i) => [rank, sizes[i]]);
    order.sort(([a], [b]) => a - b);
    for (let i = 1; i < order.length; i++) assert.ok(order[i][1] < order[i - 1][1]);
    assert.equal(order[0][1], 14);
    assert.equal(order.at(-1)[1], 5);
  });
});

test("root and bonus, which have no rank, keep their size", () => {
  const all = byId([
    { node: 0, aligned_rank: null },
    { node: 1, aligned_rank: 1 },
  ]);
  const figure = {
    data: [{ ids: ["0"], marker: { size: 11 } }, { mode: "lines" }, { ids: ["1"] }],
  };
  sizeByRank(figure, all, "aligned");
  assert.deepEqual(figure.data[0].marker, { size: 11 });
  assert.equal(figure.data[1].marker, undefined);
  assert.deepEqual(figure.data[2].marker, { size: [14], opacity: 1 });
});

test("a trace is sized only when all its nodes have a rank", () => {
  const all = byId([
    { node: 0, aligned_rank: null },
    { node: 1, aligned_rank: 1 },
    { node: 2, aligned_rank: 2 },
  ]);
  assert.equal(sizesByRank({ ids: ["0", "1"] }, all, "aligned"), null);
  assert.equal(sizesByRank({ ids: ["1", "99"] }, all, "aligned"), null);
  assert.equal(sizesByRank({}, all, "aligned"), null);
  assert.deepEqual(sizesByRank({ ids: ["1", "2"] }, all, "aligned"), [14, 5]);
});

test("an empty figure says why", () => {
  const { data, layout } = emptyFigure("nothing here");
  assert.deepEqual([data, layout.annotations[0].text], [[], "nothing here"]);
});

test("points fill the properties that a trace names, by number from 1", () => {
  const figure = {
    data: [
      { name: "a", meta: { y: 0, customdata: 2 } },
      { name: "b", meta: { y: 1 } },
    ],
    layout: { shapes: [] },
  };
  const before = structuredClone(figure);
  const { data, layout } = withPoints(figure, [
    [1, null, 3],
    [4, 5, 6],
  ]);
  assert.deepEqual(data, [
    { name: "a", y: [1, 4], customdata: [3, 6], x: [1, 2] },
    { name: "b", y: [null, 5], x: [1, 2] },
  ]);
  assert.deepEqual(layout, figure.layout);
  assert.deepEqual(figure, before);
});
