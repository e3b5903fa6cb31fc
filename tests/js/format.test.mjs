import assert from "node:assert/strict";
import { test } from "node:test";
import { isRight } from "../../assets/player/logic/answers.js";
import { fill, orDash, percent } from "../../assets/player/logic/format.js";

test("placeholders take their values, whatever these contain", () => {
  assert.equal(fill("{a} of {b}, {a}", { a: 0, b: "$&" }), "0 of $&, 0");
  assert.equal(fill("{missing}", {}), "{missing}");
});

test("shares are whole percentages and what is absent is a dash", () => {
  assert.deepEqual([percent(0.456), percent(1)], ["46 %", "100 %"]);
  assert.deepEqual([orDash(null), orDash(0), orDash("")], ["–", 0, ""]);
});

test("answers count as right when they round to the number's first decimal", () => {
  for (const text of ["3.4", "3,4", " 3.45 ", "3.5"]) assert.ok(isRight(text, 3.45), text);
  for (const text of ["3.3", "3.6", "", " ", "x", "34"]) assert.ok(!isRight(text, 3.45), text);
  assert.ok(!isRight("", 0));
});
