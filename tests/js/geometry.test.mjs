import assert from "node:assert/strict";
import { test } from "node:test";
import {
  dashOf,
  linesOf,
  markOf,
  projection,
  textBeside,
} from "../../assets/player/logic/geometry.js";
import { forAll } from "./random.mjs";

const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

test("the ranges' ends fall on the margins, y upwards", () => {
  forAll(100, (draw) => {
    const range = () => {
      const low = draw.number() * 20 - 10;
      return [low, low + 0.1 + draw.number() * 20];
    };
    const layout = { xaxis: { range: range() }, yaxis: { range: range() } };
    const margin = { l: draw.below(40), r: draw.below(40), t: draw.below(40), b: draw.below(40) };
    const toPixels = projection(layout, { width: 600, height: 300 }, margin);
    const [[x0, x1], [y0, y1]] = [layout.xaxis.range, layout.yaxis.range];
    const [left, bottom] = toPixels(x0, y0);
    const [right, top] = toPixels(x1, y1);
    close(left, margin.l);
    close(bottom, 300 - margin.b);
    close(right, 600 - margin.r);
    close(top, margin.t);
    const [centre, middle] = toPixels((x0 + x1) / 2, (y0 + y1) / 2);
    close(centre, (left + right) / 2);
    close(middle, (top + bottom) / 2);
  });
});

test("null breaks a trace into lines, and a point alone is no line", () => {
  const trace = { x: [0, 1, null, 5, null, 2, 3, 4], y: [0, 1, null, 5, null, 2, 3, 4] };
  assert.deepEqual(linesOf(trace), [
    [
      [0, 0],
      [1, 1],
    ],
    [
      [2, 2],
      [3, 3],
      [4, 4],
    ],
  ]);
});

test("dashes are lengths in pixels", () => {
  assert.deepEqual(dashOf({ dash: "6px,3px" }), [6, 3]);
  assert.deepEqual(dashOf({ dash: "dot" }), [3, 3]);
  assert.deepEqual(dashOf({}), []);
});

/** Half the width and height of an outline's corners. */
function extent(path) {
  const numbers = path.match(/-?[\d.]+(e-?\d+)?/g).map(Number);
  return Math.max(...numbers.map(Math.abs));
}

test("a mark grows with its size, a hollow one has the same outline", () => {
  for (const symbol of ["circle", "diamond", "square", "x-thin", "star"]) {
    const small = markOf(symbol, 10);
    close(extent(markOf(symbol, 20).path), 2 * extent(small.path));
    assert.ok(!small.isHollow);
    assert.deepEqual(markOf(`${symbol}-open`, 10), { ...small, isHollow: true });
  }
});

test("a mark without an outline is an error, not another mark", () => {
  assert.throws(() => markOf("hexagram", 10), { message: "no outline for the mark hexagram" });
});

test("a star has five points, one of them on top", () => {
  const corners = markOf("star", 10)
    .path.slice(1, -1)
    .split("L")
    .map((corner) => corner.split(",").map(Number));
  assert.equal(corners.length, 10);
  const lengths = corners.map(([x, y]) => Math.hypot(x, y));
  const [point, notch] = [7, 2.65];
  for (const [i, length] of lengths.entries()) close(length, i % 2 ? notch : point);
  for (const [i, [x, y]] of corners.entries()) {
    close(x / lengths[i], Math.sin((i * Math.PI) / 5));
    close(y / lengths[i], -Math.cos((i * Math.PI) / 5));
  }
});

test("a text stands on the side of its mark that its position names", () => {
  assert.deepEqual(textBeside("top right"), { align: "left", dx: 6, dy: -8 });
  assert.deepEqual(textBeside("middle left"), { align: "right", dx: -6, dy: 4 });
  assert.deepEqual(textBeside("bottom center"), { align: "center", dx: 0, dy: 16 });
});
