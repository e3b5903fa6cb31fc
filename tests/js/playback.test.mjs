import assert from "node:assert/strict";
import { test } from "node:test";
import { nextAction, Playback, ROUND_TIME } from "../../assets/player/logic/playback.js";

/** A run of `count` rounds and what playback did with it. */
function reader(t, count, state) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const run = { count, state };
  const log = [];
  let round = 0;
  const position = () => ({ isLast: round >= run.count - 1, state: run.state });
  const playback = new Playback(position, {
    rewind: () => {
      round = 0;
      log.push("rewind");
    },
    step: () => {
      round += 1;
      log.push(round);
    },
    wait: () => log.push("wait"),
    change: (isPlaying) => log.push(isPlaying ? "started" : "stopped"),
  });
  return { playback, log, run, pass: (beats) => t.mock.timers.tick(beats * ROUND_TIME) };
}

test("a round after the other, and an end with the run's", (t) => {
  const { playback, log, pass } = reader(t, 3, "done");
  playback.start(1);
  assert.ok(playback.isPlaying);
  pass(0.99);
  assert.deepEqual(log, ["started"]);
  pass(9);
  assert.deepEqual(log, ["started", 1, 2, "stopped"]);
  assert.ok(!playback.isPlaying);
});

test("a live run is waited for, never overtaken", (t) => {
  const { playback, log, run, pass } = reader(t, 2, "running");
  playback.start(1);
  pass(3);
  assert.deepEqual(log, ["started", 1, "wait", "wait"]);
  run.count = 3;
  pass(1);
  assert.equal(log.at(-1), 2);
  run.state = "done";
  pass(5);
  assert.deepEqual(log.slice(-2), [2, "stopped"]);
});

test("a run seen to its end starts again, a live one does not", (t) => {
  const done = reader(t, 1, "done");
  done.playback.start(1);
  assert.deepEqual(done.log, ["rewind", "started"]);
  done.playback.stop();
  t.mock.timers.reset();
  const live = reader(t, 1, "running");
  live.playback.start(1);
  assert.deepEqual(live.log, ["started"]);
});

test("twice the speed takes half the time, also when changed on the way", (t) => {
  const { playback, log, pass } = reader(t, 99, "done");
  playback.start(2);
  pass(2);
  assert.deepEqual(log, ["started", 1, 2, 3, 4]);
  playback.changeSpeed(0.5);
  pass(4);
  assert.deepEqual(log, ["started", 1, 2, 3, 4, 5, 6]);
});

test("a pause lasts, and a change of speed does not end it", (t) => {
  const { playback, log, pass } = reader(t, 99, "done");
  playback.toggle(1);
  pass(1);
  playback.toggle(1);
  playback.changeSpeed(4);
  pass(5);
  assert.deepEqual(log, ["started", 1, "stopped"]);
});

test("what is next depends on the data alone", () => {
  assert.equal(nextAction({ isLast: false, state: "running" }), "step");
  assert.equal(nextAction({ isLast: false, state: "done" }), "step");
  assert.equal(nextAction({ isLast: true, state: "running" }), "wait");
  assert.equal(nextAction({ isLast: true, state: "done" }), "stop");
});
