import assert from "node:assert/strict";
import { test } from "node:test";
import { disagreement } from "../../assets/player/logic/differences.js";
import { forAll } from "./random.mjs";

test("going later from the first place visits all disagreements, going earlier all again", () => {
  forAll(100, (draw) => {
    const found = new Set(draw.several(12, () => 1 + draw.below(40)));
    const differences = [...found].sort((a, b) => a - b);
    const walk = (position, step) => {
      const next = disagreement(differences, position, step);
      return next === undefined ? [] : [next - 1, ...walk(next, step)];
    };
    assert.deepEqual(walk(1, 1), differences);
    assert.deepEqual(walk(99, -1), differences.toReversed());
  });
});
