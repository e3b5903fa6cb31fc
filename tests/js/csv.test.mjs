import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "../../assets/player/logic/csv.js";
import { COLUMNS, tableOf } from "../../assets/player/logic/nodes.js";
import { forAll } from "./random.mjs";

const HOSTILE = ['"', ",", "\r", "\n", "\t", "=", "+", "-", "@", "'", "1", "a", "漢", "−", " "];

/** Rows of a CSV file with every cell quoted. */
function parse(csv) {
  assert.equal(csv[0], "\ufeff");
  const rows = [[]];
  for (let i = 1; i < csv.length; ) {
    assert.equal(csv[i], '"');
    let cell = "";
    for (i++; csv[i] !== '"' || csv[i + 1] === '"'; i += csv[i] === '"' ? 2 : 1) cell += csv[i];
    rows.at(-1).push(cell);
    i++;
    if (csv[i] === ",") i++;
    else if (csv.startsWith("\r\n", i)) {
      rows.push([]);
      i += 2;
    } else assert.equal(i, csv.length);
  }
  return rows;
}

test("what is written is what is read, but for the mark before formulas", () => {
  forAll(300, (draw) => {
    const row = () => [draw.text(6, HOSTILE), ...draw.several(3, () => draw.text(6, HOSTILE))];
    const rows = [row(), ...draw.several(4, row)];
    const found = parse(csvOf(rows));
    assert.deepEqual(
      found.map((cells) => cells.length),
      rows.map((cells) => cells.length),
    );
    for (const [i, cells] of found.entries())
      for (const [j, cell] of cells.entries())
        assert.ok(cell === rows[i][j] || cell === `'${rows[i][j]}`);
  });
});

test("no cell is a formula to a spreadsheet", () => {
  forAll(300, (draw) => {
    const [[cell]] = parse(csvOf([[draw.text(6, HOSTILE)]]));
    assert.ok(!/^[=+\-@\t\r]/.test(cell) || /^[+-]?\d+$/.test(cell), JSON.stringify(cell));
  });
});

test("numbers stay numbers and harmless text stays as it is", () => {
  const cells = ["-5", "+1.25", "−0.51", "a=b", "", 7, null];
  assert.deepEqual(parse(csvOf([cells])), [["-5", "+1.25", "−0.51", "a=b", "", "7", "null"]]);
});

test("the node table names its columns and has a row per node", () => {
  const row = { full: "␣cat", token: 7, depth: 1, status: "accepted", probability: "50.0%" };
  const scores = { blind: "−0.51", blind_rank: 2, aligned: null, aligned_rank: null };
  const [headings, cells] = tableOf([{ ...row, ...scores, log_q: "−0.51", path: "cat" }]);
  assert.deepEqual(headings.slice(0, 4), ["token", "id", "depth", "verdict"]);
  const start = ["␣cat", 7, 1, "accepted", "−0.51", 2, "–", "–", "−0.51", "–"];
  assert.deepEqual(cells, [...start, "50.0%", "cat"]);
  assert.equal(headings.length, COLUMNS.length);
});
