import assert from "node:assert/strict";
import { test } from "node:test";
import { isReached, linkTo, parseQuery } from "../../assets/player/logic/links.js";
import { forAll } from "./random.mjs";

const PAGE = "https://example.org/presto/";
const HOSTILE = ["&", "=", "?", "#", "%", "+", " ", "<", "漢", "é", "a", "/", "🙂"];
const parse = (link) => parseQuery(new URL(link).search);

test("a link brings back the run or prompt, the round and the node", () => {
  forAll(200, (draw) => {
    const name = draw.oneOf(["run", "prompt"]);
    const text = draw.text(12, HOSTILE);
    const [round, node] = [draw.below(999), draw.oneOf([null, 0, 7, 512])];
    const whatIf = draw.oneOf([null, "", "lam:0.4,budget:64"]);
    const link = linkTo(PAGE, { [name]: text, budget: "64" }, round, node, whatIf);
    assert.ok(link.startsWith(`${PAGE}?`));
    const other = name === "run" ? "prompt" : "run";
    const view = { [name]: text, [other]: null, round: round + 1, node, whatIf };
    assert.deepEqual(parse(link), { ...view, isEmbedded: false });
  });
});

test("the bonus token, which has no number of its own, is not in a link", () => {
  assert.equal(linkTo(PAGE, { run: "A" }, 0, -2), `${PAGE}?run=A&round=1`);
  assert.equal(linkTo(PAGE, { run: "A" }, 0, null), `${PAGE}?run=A&round=1`);
});

test("what is no small whole number is left out", () => {
  for (const value of ["", "-1", "1.5", "1e3", "1234567", "x"])
    assert.equal(parseQuery(`?round=${value}`).round, null);
  assert.equal(parseQuery("?round=007").round, 7);
});

test("only embed=1 embeds", () => {
  assert.ok(parseQuery("?embed=1").isEmbedded);
  assert.ok(!parseQuery("?embed=0").isEmbedded && !parseQuery("").isEmbedded);
});

test("a view is reached when its run has come so far, or is over", () => {
  const head = (state) => ({ link: { run: "A" }, state });
  const wanted = { run: "A", prompt: null, round: 5 };
  assert.ok(!isReached(wanted, head("loading"), 4));
  assert.ok(isReached(wanted, head("loading"), 5));
  assert.ok(isReached(wanted, head("done"), 4));
  assert.ok(!isReached(wanted, head("done"), 0));
});

test("a view of another run or without a round is never reached", () => {
  const done = { link: { run: "A" }, state: "done" };
  assert.ok(!isReached({ run: "B", prompt: null, round: 1 }, done, 9));
  assert.ok(!isReached({ run: "A", prompt: null, round: null }, done, 9));
  assert.ok(!isReached({ run: null, prompt: null, round: 1 }, done, 9));
});

test("a view of a live run is known by its prompt", () => {
  const live = { link: { prompt: "Why?", system: "s" }, state: "running" };
  assert.ok(isReached({ run: null, prompt: "Why?", round: 2 }, live, 2));
  assert.ok(!isReached({ run: null, prompt: "Who?", round: 2 }, live, 2));
});
