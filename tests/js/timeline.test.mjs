import assert from "node:assert/strict";
import { test } from "node:test";
import {
  barSentence,
  disagreements,
  markWidth,
  placeBars,
} from "../../assets/player/logic/timeline.js";
import { forAll } from "./random.mjs";

const NEAR = 1e-6; // of sums of fractions of a pixel

/** A run of up to `most` rounds, some of which drafted nothing. */
const randomRun = (draw, most) => {
  const bars = draw.several(most, () => [draw.below(2), draw.below(9), draw.below(2)]);
  const blind = bars.map(() => (draw.below(5) ? draw.below(12) : null));
  return { bars, blind };
};

const total = (bar) => bar[0] + bar[1] + bar[2];

test("a bar is as high as its tokens, its parts stand on one another, a tick at its count", () => {
  forAll(200, (draw) => {
    const run = randomRun(draw, 60);
    const [width, height] = [200 + draw.below(1200), 52];
    const rounds = placeBars(run, { width, height });
    const scale = new Set();
    for (const [i, { parts, tick, part }] of rounds.entries()) {
      const [exact, , bonus] = parts;
      const floor = exact.top + exact.height;
      const size = parts.reduce((sum, one) => sum + one.height, 0);
      assert.ok(Math.abs(floor - size - bonus.top) < NEAR);
      assert.ok(bonus.top >= 0 && floor <= height);
      if (total(run.bars[i])) scale.add((size / total(run.bars[i])).toFixed(6));
      const known = run.blind[i];
      if (known === null) assert.deepEqual([tick, part], [null, 0]);
      else assert.equal(part, total(run.bars[i]) - known);
      if (known) scale.add(((floor - tick) / known).toFixed(6));
    }
    assert.ok(scale.size <= 1); // one height per token, own or the blind tree's
  });
});

test("the middle of a round is where a slider puts its mark, at every width and length", () => {
  forAll(200, (draw) => {
    const run = randomRun(draw, 400);
    const width = 90 + draw.below(1300);
    const mark = markWidth(run.bars.length, width);
    const rounds = placeBars(run, { width, height: 52 });
    for (const [i, round] of rounds.entries()) {
      const share = rounds.length > 1 ? i / (rounds.length - 1) : 0;
      const middle = mark / 2 + share * (width - mark);
      assert.ok(Math.abs(round.left + round.width / 2 - middle) < NEAR);
      if (i) assert.ok(rounds[i - 1].left + rounds[i - 1].width <= round.left + NEAR);
    }
  });
});

test("300 rounds on a phone are marked by no less than a finger's tip can see", () => {
  assert.equal(markWidth(300, 370), 7);
  assert.equal(markWidth(10, 370), 37);
  assert.equal(markWidth(2, 370), 60);
});

test("rounds disagree where the blind tree is known to commit another number of tokens", () => {
  const bars = [
    [1, 2, 1],
    [1, 2, 1],
    [1, 2, 1],
    [1, 0, 0],
  ];
  assert.deepEqual(disagreements(bars, [4, 5, 2, null]), [1, 2]);
  assert.deepEqual(disagreements(bars, []), []);
});

test("a round's tokens are told in words", () => {
  const run = {
    bars: [
      [1, 4, 1],
      [0, 0, 1],
      [0, 0, 0],
    ],
    blind: [4, null],
  };
  assert.equal(barSentence(run, 0), "6 tokens: 1 exact, 4 accepted, 1 bonus; blind tree 4");
  assert.equal(barSentence(run, 1), "1 token: 1 bonus");
  assert.equal(barSentence(run, 2), "0 tokens: none");
  assert.equal(barSentence(run, 3), "");
});
