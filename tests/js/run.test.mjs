import assert from "node:assert/strict";
import { test } from "node:test";
import { RunGuard } from "../../assets/player/logic/guard.js";
import { Run } from "../../assets/player/logic/run.js";
import { forAll } from "./random.mjs";

const COLUMNS = ["node", "parent", "status"];

const roundJson = (i) =>
  JSON.stringify({
    sentence: `round ${i}`,
    rows: [
      [0, -1, "root"],
      [1, 0, "accepted"],
    ],
    charts: { stopping: { figure: { data: [] }, remark: "why" } },
    tree: { data: [{ ids: ["0", "1"], x: [0, 1], y: [0, 5] }] },
  });

/** A value as Python sends it, of `count` rounds. */
function message(key, count, more = {}) {
  const { badge = "live", state = "running", ...rest } = more;
  const head = JSON.stringify({ badge, state, rounds: count, columns: COLUMNS });
  const rounds = Array.from({ length: count }, (_, i) => roundJson(i));
  const bars = rounds.map((_, i) => JSON.stringify([1, i, 1]));
  return { key, head, rounds, bars, replays: [], speedup: "", points: [], record: "", ...rest };
}

test("a growing run has news, another run replaces it", () => {
  const run = new Run();
  assert.equal(run.take(message("a", 0)), "replaced");
  assert.deepEqual([run.isReady, run.count], [false, 0]);
  assert.equal(run.take(message("a", 2)), "updated");
  assert.deepEqual([run.isReady, run.loaded, run.count], [true, 2, 2]);
  assert.equal(run.take(message("b", 1)), "replaced");
  assert.deepEqual([run.isReady, run.loaded], [true, 1]);
  assert.equal(run.round(0).sentence, "round 0");
});

test("late and empty messages change nothing", () => {
  const run = new Run();
  run.take(message("a", 1));
  run.take(message("b", 3));
  const late = [message("a", 5), message("b", 2), null, undefined, {}];
  for (const value of late) assert.equal(run.take(value), "ignored");
  assert.deepEqual([run.loaded, run.count], [3, 3]);
});

test("however messages are delayed, the newest state of the newest run is on screen", () => {
  forAll(200, (draw) => {
    const run = new Run();
    const sent = [];
    for (const key of ["a", "b", "c"].slice(0, 1 + draw.below(3)))
      for (let count = 0; count <= 1 + draw.below(3); count++) sent.push([key, count]);
    const newest = sent.at(-1);
    // A message may be repeated at any time after it was sent.
    const arriving = sent.flatMap((message, i) => [
      message,
      ...draw.several(2, () => sent[draw.below(i + 1)]),
    ]);
    for (const [key, count] of arriving) run.take(message(key, count));
    assert.equal(run.take(message(...newest)), "updated");
    assert.equal(run.loaded, newest[1]);
  });
});

test("rounds that follow a beginning belong to the same run", () => {
  const run = new Run();
  const whole = { badge: "recorded", state: "done" };
  run.take({ ...message("a", 5, whole), rounds: [roundJson(0), roundJson(1)] });
  assert.deepEqual([run.loaded, run.count], [2, 5]);
  assert.equal(run.take(message("a", 5, whole)), "updated");
  assert.equal(run.loaded, 5);
});

test("a round's rows are objects, with the place where each node is drawn", () => {
  const run = new Run();
  run.take(message("a", 1));
  const round = run.round(0);
  assert.deepEqual(round.rows[1], { node: 1, parent: 0, status: "accepted" });
  assert.equal(round.byId.get(1), round.rows[1]);
  assert.deepEqual(round.positions.get(1), [1, 5]);
  assert.equal(run.round(0), round);
});

test("what other scorers would have done joins a round when it is known", () => {
  const run = new Run();
  run.take(message("a", 1));
  const { stopping } = run.round(0).charts;
  assert.deepEqual(Object.keys(run.round(0).charts), ["stopping"]);
  const alternatives = { figure: { data: [7] }, remark: "all alike" };
  const replay = (charts) => JSON.stringify({ charts });
  run.take(message("a", 1, { replays: [replay({ alternatives })] }));
  assert.deepEqual(run.round(0).charts, { stopping, alternatives });
  run.take(message("a", 1, { replays: [replay({ alternatives: "other" })] }));
  assert.deepEqual(run.round(0).charts.alternatives, alternatives); // a replay is parsed once
});

test("the timeline grows with the run, and knows the blind tree's counts when it is over", () => {
  const run = new Run();
  run.take(message("a", 1));
  const [first] = run.bars;
  run.take(message("a", 3));
  assert.deepEqual([run.bars.length, run.bars[0] === first], [3, true]);
  assert.deepEqual([run.bars[2], run.blind], [[1, 2, 1], []]);
  const head = { badge: "live", state: "done", rounds: 3, columns: COLUMNS, blind: [2, 3, null] };
  run.take({ ...message("a", 3), head: JSON.stringify(head) });
  assert.deepEqual(run.blind, [2, 3, null]);
  run.take(message("b", 1));
  assert.deepEqual(run.bars, [[1, 0, 1]]);
});

test("the record of a run is kept, and not taken for another's", () => {
  const run = new Run();
  run.take(message("a", 1, { record: "file" }));
  run.take(message("a", 2));
  assert.equal(run.record, "file");
  run.take(message("b", 1));
  assert.equal(run.record, "");
});

const speedup = (title) => {
  const data = [{ name: "time", meta: { y: 1 } }];
  return JSON.stringify({ data, layout: { title } });
};

test("the speed-up grows by the points that come, and is another figure only then", () => {
  const run = new Run();
  run.take(message("a", 1, { speedup: speedup("waiting") }));
  const waiting = run.speedup;
  assert.deepEqual(waiting.data, [{ name: "time", x: [], y: [] }]);
  run.take(message("a", 2, { speedup: speedup("waiting") }));
  assert.equal(run.speedup, waiting);
  run.take(message("a", 2, { speedup: speedup("ratios"), points: ["[0,5]", "[0,null]"] }));
  const { data, layout } = run.speedup;
  assert.deepEqual([data, layout.title], [[{ name: "time", x: [1, 2], y: [5, null] }], "ratios"]);
  run.take(message("a", 2, { speedup: speedup("ratios"), points: ["[0,5]", "[0,null]", "[0,3]"] }));
  assert.deepEqual(run.speedup.data[0].y, [5, null, 3]);
});

test("another run has no speed-up of the one before", () => {
  const run = new Run();
  run.take(message("a", 1, { speedup: speedup("ratios"), points: ["[0,5]"] }));
  run.take(message("b", 1));
  assert.equal(run.speedup, null);
  run.take(message("b", 1, { speedup: speedup("ratios"), points: ["[0,7]"] }));
  assert.deepEqual(run.speedup.data[0].y, [7]);
});

test("a recorded run may be chosen again, a live one that was replaced does not come back", () => {
  const guard = new RunGuard();
  const messages = [
    ["a", "recorded", "other"],
    ["a", "recorded", "same"],
    ["b", "live", "other"],
    ["b", "live", "same"],
    ["a", "recorded", "other"],
    ["b", "live", "late"],
    ["a", "recorded", "same"],
    ["c", "live", "other"],
    ["a", "opened", "other"],
    ["c", "live", "late"],
  ];
  for (const [key, badge, expected] of messages) assert.equal(guard.admit(key, badge), expected);
});

test("a run without rounds is awaited: what is on screen stays until it has one or ends", () => {
  const run = new Run();
  run.take(message("a", 2, { badge: "recorded", state: "done" }));
  const waiting = message("b", 0);
  assert.equal(run.take(waiting), "awaited");
  assert.deepEqual([run.loaded, run.count, run.head.badge], [2, 2, "recorded"]);
  assert.equal(run.take(waiting), "awaited");
  assert.equal(run.take(message("b", 1)), "replaced");
  assert.equal(run.take(message("b", 2)), "updated");
  assert.equal(run.take(message("c", 0)), "awaited");
  assert.equal(run.take(message("c", 0, { state: "done" })), "replaced");
  assert.deepEqual([run.loaded, run.head.state], [0, "done"]);
});

test("an awaited run that is given up for a recorded one does not come back", () => {
  const run = new Run();
  const recorded = message("a", 2, { badge: "recorded", state: "done" });
  run.take(recorded);
  run.take(message("b", 0));
  assert.equal(run.take(recorded), "replaced");
  for (const count of [0, 3]) assert.equal(run.take(message("b", count)), "ignored");
  assert.deepEqual([run.loaded, run.head.badge], [2, "recorded"]);
});
