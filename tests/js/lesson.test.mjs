import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countOf,
  isAnswer,
  lessonIn,
  lessonLink,
  readScore,
  withAnswer,
  withDone,
  withWords,
} from "../../assets/player/logic/lesson.js";
import { addsTo, inOrder } from "../../assets/player/logic/lesson_tree.js";

const GLOSSARY = [
  { id: "blind", forms: ["blind", "prefix-blind"] },
  { id: "target", forms: ["target"] },
  { id: "ko", forms: ["타깃"] },
];

test("an address brings a chapter, run and round back", () => {
  const link = lessonLink("http://a/", 3, { run: "A & B", round: 7, language: "ko" }, true);
  const asked = lessonIn(new URL(link).search);
  assert.deepEqual(asked, {
    page: "3",
    chapter: 3,
    run: "A & B",
    round: 7,
    language: "ko",
    isEmbedded: true,
  });
  assert.equal(lessonIn("?learn=build").chapter, null);
  assert.equal(lessonIn("").page, null);
  const bare = lessonLink("/", "words", { run: "A", round: null, language: "en" });
  assert.equal(bare, "/?learn=words&run=A&lang=en");
});

test("the first of each word of the glossary is found, the longest form, whole words only", () => {
  const parts = withWords("Targets: a prefix-blind target is blind, a target.", GLOSSARY);
  const found = parts.filter(({ entry }) => entry).map(({ text }) => text);
  assert.deepEqual(found, ["prefix-blind", "target"]);
  assert.equal(
    parts.map(({ text }) => text).join(""),
    "Targets: a prefix-blind target is blind, a target.",
  );
  const korean = withWords("타깃은 씁니다", GLOSSARY);
  assert.deepEqual(
    korean.map(({ text }) => text),
    ["타깃", "은 씁니다"],
  );
});

test("answers: numbers, choices, and any λ that does it", () => {
  assert.ok(isAnswer({ kind: "number", answer: 5 }, " 5 "));
  assert.ok(!isAnswer({ kind: "number", answer: 0 }, ""));
  assert.ok(!isAnswer({ kind: "number", answer: 5 }, "five"));
  assert.ok(isAnswer({ kind: "choice", answer: "blind" }, "blind"));
  assert.ok(isAnswer({ kind: "node", answer: 3 }, 3));
  const lam = { kind: "lam", answer: [0.6, 0.65] };
  assert.ok(isAnswer(lam, "0,65"));
  assert.ok(!isAnswer(lam, "0.7"));
  assert.ok(!isAnswer(lam, "none"));
  assert.ok(isAnswer({ kind: "lam", answer: [] }, "none"));
});

test("the first answer counts, and a score survives its keeping", () => {
  let score = readScore(null);
  score = withAnswer(withAnswer(score, "a", false), "a", true);
  score = withDone(withDone(withAnswer(score, "b", true), "pass"), "pass");
  assert.deepEqual(countOf(score), { tried: 2, right: 1 });
  assert.deepEqual(readScore(JSON.stringify(score)), score);
  assert.deepEqual(readScore("{broken"), { answers: {}, done: [] });
  assert.deepEqual(readScore('{"done":1}'), { answers: {}, done: [] });
});

test("a tree by hand takes every path once and reads from top to bottom", () => {
  assert.deepEqual(addsTo([[0]], [0], 1), [0, 1]);
  assert.equal(addsTo([[0]], [], 0), null);
  assert.deepEqual(inOrder([[1], [0, 2], [0]]), [[0], [0, 2], [1]]);
});
