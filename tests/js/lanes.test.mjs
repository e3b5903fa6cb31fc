import assert from "node:assert/strict";
import { test } from "node:test";
import {
  committedIn,
  disagreement,
  lastPosition,
  roundAt,
} from "../../assets/player/logic/lanes.js";
import { forAll } from "./random.mjs";

const randomEnds = (draw) => {
  const ends = [];
  for (const size of draw.several(20, () => 1 + draw.below(6)))
    ends.push((ends.at(-1) ?? 0) + size);
  return ends;
};

test("every output token belongs to the round that emitted it", () => {
  forAll(100, (draw) => {
    const ends = randomEnds(draw);
    let position = 1;
    for (let i = 0; i < ends.length; i++)
      for (let count = committedIn(ends, i); count > 0; count--, position++)
        assert.equal(roundAt(ends, position), i);
    assert.equal(position, (ends.at(-1) ?? 0) + 1);
    assert.equal(roundAt(ends, position), ends.length - 1);
  });
});

test("a lane that has not begun has no round", () => {
  assert.deepEqual([roundAt([], 1), committedIn([], -1)], [-1, 0]);
});

test("the slider ends with the longest lane", () => {
  assert.equal(lastPosition([{ ends: [3, 5] }, { ends: [9] }, { ends: [] }]), 9);
  assert.equal(lastPosition([]), 1);
});

test("going later from the first token visits all disagreements, going earlier all again", () => {
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
