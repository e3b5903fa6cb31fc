import assert from "node:assert/strict";
import { test } from "node:test";
import { hideUnknown, PHASES } from "../../assets/player/logic/phases.js";

const STATUSES = ["root", "bonus", "accepted", "rejected", "beyond"];

const figureOf = () => ({
  data: STATUSES.flatMap((status) => [
    { legendgroup: status, mode: "lines", line: { color: status } },
    {
      legendgroup: status,
      mode: "markers+text",
      marker: { color: status },
      textfont: { color: status },
    },
  ]),
});

/** Status and colours of what is left of the figure after `phase`. */
function after(phase) {
  const figure = figureOf();
  hideUnknown(figure, phase);
  return figure.data.map(({ legendgroup, line, marker }) => [legendgroup, (line ?? marker).color]);
}

test("after drafting there is only the root, as it looks", () => {
  assert.deepEqual(after("draft"), [
    ["root", "root"],
    ["root", "root"],
  ]);
});

test("until the target verifies, drafted nodes look like those never asked about", () => {
  for (const phase of ["score", "build"]) {
    const found = after(phase);
    assert.deepEqual(
      new Set(found.map(([status]) => status)),
      new Set(["beyond", "rejected", "accepted", "root"]),
    );
    for (const [status, colour] of found)
      assert.equal(colour, status === "root" ? "root" : "beyond");
  }
});

test("the verdicts are known after verifying and committing", () => {
  for (const phase of ["verify", "commit"])
    assert.deepEqual(
      after(phase),
      STATUSES.flatMap((status) => [
        [status, status],
        [status, status],
      ]),
    );
});

test("what is hidden keeps its own look in the figure it was taken from", () => {
  const figure = figureOf();
  hideUnknown(figure, "build");
  const [first, second] = figure.data.filter(({ mode }) => mode === "lines");
  assert.notEqual(first.line, second.line);
});

test("phases come in the order of a round", () => {
  assert.deepEqual(Object.keys(PHASES), ["draft", "score", "build", "verify", "commit"]);
});
