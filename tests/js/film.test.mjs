import assert from "node:assert/strict";
import test from "node:test";
import {
  cellAt,
  filmFigure,
  frontierOf,
  nodeOf,
  rowBeside,
  stepBy,
  stepTime,
} from "../../assets/player/logic/film.js";

const ROWS = [{ node: null }, { node: 2 }, { node: 1 }];
const LEVELS = [{ rows: [2] }, { rows: [1, 0] }];
const COLOURS = { node: "n", root: "r", pin: "p", frontier: "f", muted: "m" };

/** A root with two children, of which the first has one: 0 → 1, 3; 1 → 2. */
const TREE = {
  layout: {},
  parents: [-1, 0, 1, 0],
  positions: new Map([
    [0, [0, 0]],
    [1, [1, 1]],
    [2, [2, 1]],
    [3, [1, -1]],
  ]),
  labels: new Map([
    [0, { text: "root", position: "top right" }],
    [1, { text: "<b>", position: "middle right" }],
    [2, null],
    [3, { text: "late", position: "middle right" }],
  ]),
  fan: 0.5,
  font: { size: 11, family: "mono" },
  isUpright: false,
};

test("a film takes about as long whatever its length, within bounds of a step", () => {
  assert.equal(stepTime(30), 500);
  assert.equal(stepTime(4), 600);
  assert.equal(stepTime(512), 60);
});

test("the node of a step is the one it took, the root where it took none", () => {
  assert.equal(nodeOf({ rows: ROWS }, { row: null }), 0);
  assert.equal(nodeOf({ rows: ROWS }, { row: 1 }), 2);
});

test("the frontier is marked while a beam opens, as far as the tree will hold it", () => {
  const film = { rows: ROWS, levels: LEVELS };
  assert.deepEqual(frontierOf(film, { row: null, levels: 1 }), [1]);
  assert.deepEqual(frontierOf(film, { row: null, levels: 2 }), [2]);
  assert.deepEqual(frontierOf(film, { row: 1, levels: 2 }), []);
  assert.deepEqual(frontierOf({ rows: ROWS, levels: [] }, { row: null, levels: 0 }), []);
});

test("a pointer is in one cell of the mask or in none", () => {
  assert.equal(cellAt(0, 100, 4), 0);
  assert.equal(cellAt(99.9, 100, 4), 3);
  assert.equal(cellAt(100, 100, 4), null);
  assert.equal(cellAt(-0.1, 100, 4), null);
});

test("arrows walk the rows of the mask and stay within it", () => {
  assert.equal(rowBeside("ArrowDown", 1, 4), 2);
  assert.equal(rowBeside("ArrowDown", 3, 4), 3);
  assert.equal(rowBeside("ArrowUp", 0, 4), 0);
  assert.equal(rowBeside("ArrowLeft", 2, 4), 1);
});

test("keys step, go to the ends, and leave others alone", () => {
  assert.equal(stepBy("ArrowRight", 3, 9), 4);
  assert.equal(stepBy(".", 9, 9), 9);
  assert.equal(stepBy("ArrowLeft", 3, 9), 2);
  assert.equal(stepBy(",", 0, 9), 0);
  assert.equal(stepBy("Home", 3, 9), 0);
  assert.equal(stepBy("End", 3, 9), 9);
  assert.equal(stepBy("a", 3, 9), null);
});

test("the tree shows the nodes taken with edges and labels, the others as faint marks", () => {
  const state = { taken: 2, now: 2, lit: [0, 1, 2], frontier: [1] };
  const { data } = filmFigure(TREE, state, COLOURS);
  const [edges, lit, later, there, frontier, root, path, ring, labels] = data;
  assert.equal(edges.x.filter((x) => x === null).length, 2);
  assert.deepEqual([lit.x[0], lit.x.at(-1)], [0, 2]);
  assert.deepEqual([later.x, later.y], [[1], [-1]]);
  assert.ok(later.opacity < there.opacity);
  assert.deepEqual(
    [there.x, there.y],
    [
      [1, 2],
      [1, 1],
    ],
  );
  assert.deepEqual([frontier.x, frontier.marker.symbol], [[1], "diamond-open"]);
  assert.deepEqual([root.x, root.marker.color], [[0], "r"]);
  assert.deepEqual(path.x, [0, 1, 2]);
  assert.deepEqual([ring.x, ring.y, ring.marker.color], [[2], [1], "p"]);
  assert.deepEqual(labels.meta, ["root", "<b>"]);
  assert.deepEqual(labels.textfont.color, ["r", "m"]);
});

test("at the start there is the root alone", () => {
  const { data } = filmFigure(TREE, { taken: 0, now: 0, lit: [0], frontier: [] }, COLOURS);
  assert.deepEqual(data[0].x, []);
  assert.equal(data[2].x.length, 3);
  assert.deepEqual(data.at(-1).meta, ["root"]);
});
