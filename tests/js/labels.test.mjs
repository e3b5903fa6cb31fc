import assert from "node:assert/strict";
import { test } from "node:test";
import {
  boxOf,
  chooseLabels,
  placeLabels,
  plotlyText,
  TakenBoxes,
  widthOf,
} from "../../assets/player/logic/labels.js";
import { forAll } from "./random.mjs";
import { randomRows } from "./trees.mjs";

const overlap = (a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const randomPoints = (rows, draw) =>
  new Map(rows.map(({ node }) => [node, [draw.below(600), draw.below(300)]]));

const areaOf = (draw) => ({
  width: 600,
  height: 300,
  scale: draw.oneOf([1, 1.4]),
  isUpright: draw.oneOf([true, false]),
});

test("labels touch neither each other nor a mark and stay inside", () => {
  let placed = 0;
  forAll(100, (draw) => {
    const rows = randomRows(draw.below(150), draw);
    const area = areaOf(draw);
    const points = randomPoints(rows, draw);
    const labels = [...chooseLabels(rows, points, area).values()].filter(Boolean);
    placed += labels.length;
    for (const [i, { box }] of labels.entries()) {
      assert.ok(box.left >= -4 && box.right <= area.width);
      assert.ok(!labels.slice(0, i).some((other) => overlap(box, other.box)));
      for (const [x, y] of points.values())
        assert.ok(!overlap(box, { left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 }));
    }
  });
  assert.ok(placed > 500);
});

test("every label is a form of its node's own", () => {
  forAll(50, (draw) => {
    const rows = randomRows(60, draw);
    const chosen = chooseLabels(rows, randomPoints(rows, draw), areaOf(draw));
    for (const { node, labels } of rows) {
      const label = chosen.get(node);
      assert.ok(label === null || labels.includes(label.text));
    }
  });
});

test("a label alone has its longest form, one with less space a shorter one", () => {
  const rows = [{ node: 0, status: "beyond", labels: ["encyclopaedia", "enc…dia", "e…a"] }];
  const formAt = (x) =>
    chooseLabels(rows, new Map([[0, [x, 50]]]), { width: 200, scale: 1 }).get(0)?.text;
  assert.equal(formAt(10), "encyclopaedia");
  assert.equal(formAt(140), "enc…dia");
  assert.equal(formAt(170), "e…a");
  assert.equal(formAt(199), undefined);
});

test("where two labels compete the accepted node keeps its own", () => {
  const labels = ["a label"];
  const rows = [
    { node: 1, status: "beyond", labels, aligned_rank: 1 },
    { node: 2, status: "accepted", labels, aligned_rank: 2 },
  ];
  // Both labels would stand on the same line; the second one's place is the first one's end.
  const points = new Map([
    [1, [10, 50]],
    [2, [30, 60]],
  ]);
  const chosen = chooseLabels(rows, points, { width: 400, scale: 1 });
  assert.deepEqual([chosen.get(1), chosen.get(2).text], [null, "a label"]);
});

test("in a large tree only the best of the nodes never asked keep a label", () => {
  const rows = Array.from({ length: 200 }, (_, i) => ({
    node: i,
    status: "beyond",
    labels: ["x"],
    aligned_rank: i + 1,
  }));
  const points = new Map(rows.map(({ node }) => [node, [20, 40 * node]]));
  const labelled = (some) =>
    [...chooseLabels(some, points, { width: 400, scale: 1 }).values()].filter(Boolean).length;
  assert.equal(labelled(rows), 24);
  assert.equal(labelled(rows.slice(0, 120)), 120);
});

test("an upright tree writes labels below its nodes", () => {
  const row = { node: 0, status: "rejected", labels: ["x"] };
  const place = (isUpright) =>
    chooseLabels([row], new Map([[0, [50, 50]]]), { width: 99, scale: 1, isUpright }).get(0)
      .position;
  assert.deepEqual([place(true), place(false)], ["bottom center", "middle right"]);
});

test("wide characters count twice and bidi isolates not at all", () => {
  assert.equal(widthOf("漢字", 1), widthOf("abcd", 1));
  assert.equal(widthOf("🙂", 1), widthOf("ab", 1));
  assert.equal(widthOf("\u2068שלום\u2069", 1), widthOf("abcd", 1));
  assert.equal(widthOf("abc", 1.5), 1.5 * widthOf("abc", 1));
});

test("boxes lie on the side that their position names", () => {
  const [x, y] = [100, 50];
  const at = (position) => boxOf("abc", [x, y], position, 1);
  assert.ok(at("middle right").left > x && at("middle left").right < x);
  assert.ok(at("top right").bottom < y && at("bottom center").top > y);
  const [centred, beside] = [at("bottom center"), at("middle right")];
  assert.ok(Math.abs((centred.left + centred.right) / 2 - x) < 1e-9);
  assert.equal((beside.top + beside.bottom) / 2, y);
  assert.deepEqual([at("top right").bottom, centred.top], [y - 4, y + 7]);
});

test("a label's box grows with the letters, its gap to the node does not", () => {
  const [small, large] = [1, 2].map((scale) => boxOf("abc", [0, 0], "middle right", scale));
  assert.equal(large.right - large.left, 2 * (small.right - small.left));
  assert.equal(large.bottom - large.top, 2 * (small.bottom - small.top));
  assert.equal(large.left, small.left);
});

test("a label may reach up to the edge and no further", () => {
  const right = boxOf("abc", [50, 50], "middle right", 1).right;
  const row = { node: 0, status: "beyond", labels: ["abc"] };
  const isPlaced = (width) =>
    chooseLabels([row], new Map([[0, [50, 50]]]), { width, scale: 1 }).get(0) !== null;
  assert.deepEqual([isPlaced(right), isPlaced(right - 0.01)], [true, false]);
});

test("labels of the accepted path stand above its line", () => {
  const positionOf = (status) => {
    const points = new Map([[0, [50, 50]]]);
    const row = { node: 0, status, labels: ["x"] };
    return chooseLabels([row], points, { width: 99, scale: 1 }).get(0).position;
  };
  for (const status of ["root", "accepted", "bonus"]) assert.equal(positionOf(status), "top right");
  for (const status of ["rejected", "beyond"]) assert.equal(positionOf(status), "middle right");
});

test("taken boxes are met exactly where one overlaps", () => {
  forAll(100, (draw) => {
    const randomBox = () => {
      const [left, top] = [draw.below(100), draw.below(100) - 20];
      return { left, top, right: left + 1 + draw.below(30), bottom: top + 1 + draw.below(30) };
    };
    const boxes = draw.several(20, randomBox);
    const taken = new TakenBoxes();
    for (const box of boxes) taken.add(box);
    const box = randomBox();
    assert.equal(
      taken.meets(box),
      boxes.some((other) => overlap(box, other)),
    );
  });
});

test("labels move to a trace of their own, escaped for Plotly and plain for the preview", () => {
  const textfont = { family: "mono", size: 11, color: "#123456" };
  const node = { x: [0], y: [0], ids: ["0"], text: ["&lt;b&gt;"], mode: "markers+text", textfont };
  const lines = { x: [0, 1], y: [0, 1], mode: "lines" };
  const figure = {
    data: [lines, node],
    layout: { xaxis: { range: [-1, 1] }, yaxis: { range: [-1, 1] } },
  };
  const rows = [{ node: 0, status: "root", labels: ["<b>"] }];
  const area = { width: 200, height: 100, scale: 1, isUpright: false };
  assert.equal(placeLabels(figure, rows, new Map([[0, [0, 0]]]), area), 0);
  const trace = figure.data.at(-1);
  assert.deepEqual([node.mode, node.text], ["markers", undefined]);
  assert.deepEqual(trace.text, ["\u2009&lt;b&gt;"]);
  assert.deepEqual(trace.meta, ["\u2009<b>"]);
  assert.deepEqual([trace.x, trace.y], [[0], [0]]);
  assert.deepEqual(trace.textfont, { family: "mono", size: 11, color: ["#123456"] });
  assert.deepEqual([trace.hoverinfo, trace.showlegend], ["skip", false]);
});

test("nodes without a label are counted", () => {
  const ids = Array.from({ length: 30 }, (_, i) => String(i));
  const trace = { ids, x: ids.map(() => 0), y: ids.map(() => 0), mode: "markers+text" };
  const figure = {
    data: [{ ...trace, textfont: {} }],
    layout: { xaxis: { range: [-1, 1] }, yaxis: { range: [-1, 1] } },
  };
  const rows = ids.map((_, node) => ({ node, status: "beyond", labels: ["x"], aligned_rank: 1 }));
  const positions = new Map(ids.map((_, node) => [node, [0, 0]]));
  const area = { width: 200, height: 100, scale: 1 };
  assert.equal(placeLabels(figure, rows, positions, area), 29);
});

test("Plotly's markup is escaped", () => {
  assert.equal(plotlyText("a<b>&$x$"), "a&lt;b&gt;&amp;&#36;x&#36;");
});
