import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changesOf,
  fitted,
  fromText,
  Newest,
  toText,
  valuesOf,
} from "../../assets/player/logic/what_if.js";
import { forAll } from "./random.mjs";

const CONTROLS = [
  { name: "scorer", options: ["blind", "pmi", "my_own_2"] },
  { name: "lam", low: 0, high: 4, step: 0.05 },
  { name: "normalised" },
  { name: "budget", low: 1, high: 1024, step: 1 },
];
const OWN = { scorer: "pmi", lam: 0.7, normalised: true, budget: 32 };

test("an address brings back the settings that differ, whatever they are", () => {
  forAll(300, (draw) => {
    const values = {
      scorer: draw.oneOf(CONTROLS[0].options),
      lam: draw.below(81) / 20,
      normalised: draw.oneOf([true, false]),
      budget: 1 + draw.below(1024),
    };
    const changes = changesOf(values, OWN);
    assert.ok(Object.keys(changes).every((name) => values[name] !== OWN[name]));
    assert.deepEqual({ ...OWN, ...fromText(toText(changes), CONTROLS) }, values);
  });
});

test("a run's own settings are an empty text", () => {
  assert.equal(toText(changesOf({ ...OWN }, OWN)), "");
  assert.deepEqual(fromText("", CONTROLS), {});
});

test("what no control can have is left out, the rest is kept", () => {
  const cases = {
    "budget:0": {},
    "budget:1.5": {},
    "budget:1025,lam:0.4": { lam: 0.4 },
    "lam:4.1": {},
    "lam:x": {},
    "scorer:none": {},
    "normalised:1,normalised:false": { normalised: false },
    "seed:3": {},
    "__proto__:1": {},
    "budget:64,,:,=,lam": { budget: 64 },
  };
  for (const [text, found] of Object.entries(cases))
    assert.deepEqual(fromText(text, CONTROLS), found, text);
});

test("a typed number is fitted to what the control can have", () => {
  const [, lam, , budget] = CONTROLS;
  assert.deepEqual(
    ["0.4", "9", "-1", "0.123", "", " ", "x"].map((text) => fitted(text, lam)),
    [0.4, 4, 0, 0.12, null, null, null],
  );
  assert.deepEqual(
    ["64", "0", "99999", "3.7", "1e2"].map((text) => fitted(text, budget)),
    [64, 1, 1024, 4, 100],
  );
});

/** A `Newest` whose answers come when `answer()` is called; `asked` and `shown` are its log. */
function newest() {
  const log = { asked: [], shown: [], answer: null };
  log.machine = new Newest(
    (question) => {
      log.asked.push(question);
      return new Promise((resolve) => {
        log.answer = async () => {
          resolve(question * 10);
          await new Promise(setImmediate);
        };
      });
    },
    (answer, question) => log.shown.push([question, answer]),
  );
  return log;
}

test("one question is asked at a time, and of those that wait only the newest", async () => {
  const log = newest();
  for (const question of [1, 2, 3, 4]) log.machine.want(question);
  assert.deepEqual(log.asked, [1]);
  await log.answer();
  assert.deepEqual(log.asked, [1, 4]);
  await log.answer();
  log.machine.want(5);
  await log.answer();
  assert.deepEqual(log.shown, [
    [1, 10],
    [4, 40],
    [5, 50],
  ]);
});

test("what was forgotten is not shown, what is asked afterwards is", async () => {
  const log = newest();
  log.machine.want(1);
  log.machine.want(2);
  log.machine.forget();
  log.machine.want(3);
  await log.answer();
  await log.answer();
  assert.deepEqual([log.asked, log.shown], [[1, 3], [[3, 30]]]);
  log.machine.forget(); // nothing is on its way
  log.machine.want(4);
  await log.answer();
  assert.deepEqual(log.shown.at(-1), [4, 40]);
});

test("an answer that cannot be shown does not stop the next", async () => {
  const shown = [];
  const show = (answer) => {
    if (answer === 1) throw new Error("broken");
    shown.push(answer);
  };
  const machine = new Newest(async (question) => question, show);
  await assert.rejects(machine.want(1), /broken/);
  await machine.want(2);
  assert.deepEqual(shown, [2]);
});

test("lines are read whole however the bytes are cut", async () => {
  await Promise.all(
    Array.from({ length: 40 }, async (_, seed) => {
      const values = [{ a: "漢字 🙂" }, { b: [1, 2] }, { c: "x\ny" }];
      const bytes = new TextEncoder().encode(values.map((v) => `${JSON.stringify(v)}\n`).join(""));
      const size = 1 + (seed % 9);
      async function* parts() {
        for (let i = 0; i < bytes.length; i += size) yield bytes.slice(i, i + size);
      }
      const found = [];
      for await (const value of valuesOf(ReadableStream.from(parts()))) found.push(value);
      assert.deepEqual(found, values);
    }),
  );
});
