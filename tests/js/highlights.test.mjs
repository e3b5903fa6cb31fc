import assert from "node:assert/strict";
import { test } from "node:test";
import { pathLine, pathTraces, ringsAround } from "../../assets/player/logic/highlights.js";

const POSITIONS = new Map([
  [0, [0, 0]],
  [1, [1, -1]],
  [2, [2, -3]],
]);

test("a path runs along the tree's edges: on its parent's level first, then to the child", () => {
  const { x, y } = pathLine([0, 1, 2], POSITIONS, 0.6, false);
  assert.deepEqual(x, [0, 0.6, 1, 1.6, 2]);
  assert.deepEqual(y, [0, 0, -1, -1, -3]);
});

test("in an upright tree it first runs down", () => {
  const positions = new Map([
    [0, [0, 0]],
    [1, [1, -1]],
  ]);
  const line = pathLine([0, 1], positions, 0.6, true);
  assert.deepEqual(line, { x: [0, 0, 1], y: [0, -0.6, -1] });
});

test("a path's traces are its line and a ring around its last node", () => {
  const [line, ring] = pathTraces([0, 1, 2], POSITIONS, 0.6, false, "#abc");
  assert.deepEqual([line.mode, line.x.at(-1), line.line.color], ["lines", 2, "#abc"]);
  assert.deepEqual([ring.x, ring.y, ring.marker.color], [[2], [-3], "#abc"]);
});

test("without a path both traces are there and empty", () => {
  const traces = pathTraces([], POSITIONS, 0.6, false, "#abc");
  assert.deepEqual(
    traces.map(({ x, y }) => [...x, ...y]),
    [[], []],
  );
});

test("highlights answer to no pointer and stand in no legend", () => {
  const rings = ringsAround([1], POSITIONS, "#abc");
  for (const trace of [rings, ...pathTraces([0, 1], POSITIONS, 0.6, false, "#abc")])
    assert.deepEqual([trace.hoverinfo, trace.showlegend], ["skip", false]);
});

test("rings stand around the nodes that are drawn", () => {
  const { x, y } = ringsAround([2, 99], POSITIONS, "#abc");
  assert.deepEqual([x, y], [[2], [-3]]);
});
