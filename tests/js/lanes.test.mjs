import assert from "node:assert/strict";
import { test } from "node:test";
import { lastPosition, readLane, roundAt, withLanes } from "../../assets/player/logic/lanes.js";
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
      for (; position <= ends[i]; position++) assert.equal(roundAt(ends, position), i);
    assert.equal(position, (ends.at(-1) ?? 0) + 1);
    assert.equal(roundAt(ends, position), ends.length - 1);
  });
});

test("a lane that has not begun has no round", () => {
  assert.equal(roundAt([], 1), -1);
});

test("a replayed lane tells what each round would commit, and is not on the clock", () => {
  const rounds = [
    [2, 5],
    [3, 1],
  ].map(([end, committed]) => JSON.stringify({ units: [], end, committed, tree: null, words: "" }));
  const head = JSON.stringify({ name: "PRESTO", mark: "replayed", cells: {} });
  const replay = readLane({ head, rounds, alternatives: "[]" });
  assert.deepEqual(replay.committed, [5, 1]);
  const run = readLane(
    laneOf([
      [2, 0.5],
      [3, 0.75],
    ]),
  );
  assert.deepEqual(run.committed, [2, 1]);
  const figure = { data: [{ name: "run" }], layout: { annotations: [{ text: "run" }] } };
  const { data } = withLanes(figure, [run, replay]);
  assert.deepEqual(data, [{ name: "run", x: [0, 0.5, 0.75], y: [0, 2, 3] }]);
});

test("the slider ends with the longest lane", () => {
  assert.equal(lastPosition([{ ends: [3, 5] }, { ends: [9] }, { ends: [] }]), 9);
  assert.equal(lastPosition([]), 1);
});

const laneOf = (rounds) => ({
  head: JSON.stringify({ name: "linear", cells: { τ: "2.00" } }),
  rounds: rounds.map(([end, seconds]) =>
    JSON.stringify({ units: [["x"]], end, seconds, tree: { root: end }, words: "w" }),
  ),
  alternatives: "[]",
});

test("a lane that grows is read on from where it was", () => {
  const first = readLane(laneOf([[2, 0.5]]));
  assert.deepEqual([first.name, first.ends, first.seconds], ["linear", [2], [0.5]]);
  const whole = laneOf([
    [2, 0.5],
    [3, 0.75],
  ]);
  whole.rounds[0] = "not parsed again";
  const lane = readLane(whole, first);
  assert.deepEqual(
    [lane.ends, lane.seconds],
    [
      [2, 3],
      [0.5, 0.75],
    ],
  );
  assert.deepEqual(lane.units, [[["x"]], [["x"]]]);
  assert.deepEqual(
    lane.trees.map(({ tree }) => tree.root),
    [2, 3],
  );
  assert.deepEqual([lane.cells, lane.alternatives], [{ τ: "2.00" }, []]);
});

test("every lane's line and flag on the clock are its own", () => {
  const figure = {
    data: [{ name: "a" }, { name: "b" }],
    layout: { xaxis: 1, annotations: [{ text: "a" }, { text: "b" }] },
  };
  const lanes = [
    { ends: [2, 5], seconds: [0.5, 1] },
    { ends: [], seconds: [] },
  ];
  const { data, layout } = withLanes(figure, lanes);
  assert.deepEqual(data, [
    { name: "a", x: [0, 0.5, 1], y: [0, 2, 5] },
    { name: "b", x: [0], y: [0] },
  ]);
  assert.deepEqual(layout, {
    xaxis: 1,
    annotations: [
      { text: "a", x: 1, y: 5 },
      { text: "b", x: 0, y: 0 },
    ],
  });
});

test("without lanes the clock keeps its sentence", () => {
  const figure = { data: [], layout: { annotations: [{ text: "none", x: 0.5, y: 0.5 }] } };
  assert.deepEqual(withLanes(figure, []), figure);
});
