import assert from "node:assert/strict";
import { test } from "node:test";
import { inLabelOrder, inTableOrder, nodeSentence } from "../../assets/player/logic/nodes.js";
import { forAll } from "./random.mjs";
import { randomRows } from "./trees.mjs";

const BONUS = { node: -2, status: "bonus", aligned_rank: null, blind_rank: null };

test("root, accepted path and bonus begin the table, the others follow by aligned rank", () => {
  forAll(50, (draw) => {
    const rows = [...randomRows(30, draw), BONUS];
    const before = [...rows];
    const sorted = inTableOrder(rows);
    assert.deepEqual(rows, before);
    assert.deepEqual(new Set(sorted), new Set(rows));
    const accepted = rows.filter(({ status }) => status === "accepted").length;
    const statuses = sorted.map(({ status }) => status);
    const first = ["root", ...Array(accepted).fill("accepted"), "bonus"];
    assert.deepEqual(statuses.slice(0, accepted + 2), first);
    const others = sorted.slice(accepted + 2).map((row) => row.aligned_rank);
    assert.deepEqual(
      others,
      others.toSorted((a, b) => a - b),
    );
  });
});

test("labels are given to the accepted path, bonus and root before the others", () => {
  const rows = ["beyond", "rejected", "root", "bonus", "accepted"].map((status) => ({ status }));
  const order = inLabelOrder(rows).map(({ status }) => status);
  assert.deepEqual(order, ["accepted", "bonus", "root", "rejected", "beyond"]);
});

test("a node is announced with both ranks, the bonus without", () => {
  const row = { full: "␣cat", depth: 2, word: "accepted by the target", probability: "50.0%" };
  const start = "␣cat, depth 2: accepted by the target. Target probability 50.0%.";
  assert.equal(nodeSentence({ ...row, blind_rank: null }), start);
  const ranked = nodeSentence({ ...row, blind_rank: 3, aligned_rank: 1 });
  assert.equal(ranked, `${start} Rank 3 blind, 1 aligned.`);
});
