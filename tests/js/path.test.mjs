import assert from "node:assert/strict";
import { test } from "node:test";
import { isOnPath, neighbour, notAccepted, pathTo } from "../../assets/player/logic/path.js";
import { forAll } from "./random.mjs";
import { byId, randomPositions, randomRows } from "./trees.mjs";

test("a path leads from the root to its node, parent by parent", () => {
  forAll(50, (draw) => {
    const rows = randomRows(40, draw);
    const all = byId(rows);
    for (const { node, depth } of rows) {
      const path = pathTo(node, all);
      assert.deepEqual([path.length, path[0], path.at(-1)], [depth + 1, 0, node]);
      for (let i = 1; i < path.length; i++) assert.equal(all.get(path[i]).parent, path[i - 1]);
    }
    assert.deepEqual([pathTo(null, all), pathTo(99, all)], [[], []]);
  });
});

test("the cursor goes back where it came from", () => {
  forAll(50, (draw) => {
    const rows = randomRows(40, draw);
    const positions = randomPositions(rows, draw);
    const go = (key, here) => neighbour(key, here, rows, positions);
    for (const row of rows) {
      const [child, above, below] = ["ArrowRight", "ArrowUp", "ArrowDown"].map((k) => go(k, row));
      if (child) assert.equal(go("ArrowLeft", child), row);
      if (above) assert.equal(go("ArrowDown", above), row);
      if (below) assert.equal(go("ArrowUp", below), row);
      assert.equal(go("ArrowLeft", row)?.node, row.node ? row.parent : undefined);
    }
  });
});

test("down from the first child the cursor visits all siblings from top to bottom", () => {
  forAll(50, (draw) => {
    const rows = randomRows(40, draw);
    const positions = randomPositions(rows, draw);
    for (const row of rows) {
      const visited = [];
      let here = neighbour("ArrowRight", row, rows, positions);
      for (; here; here = neighbour("ArrowDown", here, rows, positions)) visited.push(here);
      const children = rows.filter(({ parent }) => parent === row.node);
      assert.deepEqual(new Set(visited), new Set(children));
      const heights = visited.map(({ node }) => positions.get(node)[1]);
      assert.deepEqual(
        heights,
        heights.toSorted((a, b) => b - a),
      );
    }
  });
});

test("of a path's text only what was not accepted is a ghost", () => {
  const statuses = ["root", "accepted", "rejected", "beyond"];
  const rows = statuses.map((status, i) => ({ status, full: "abcd"[i] }));
  assert.equal(notAccepted(rows), "cd");
  assert.equal(notAccepted(rows.slice(0, 2)), "");
});

test("a chip lies on a path by one of its nodes, the bonus by its status", () => {
  const path = [
    { node: 0, status: "root" },
    { node: 4, status: "accepted" },
  ];
  assert.ok(isOnPath({ nodes: [3, 4], isBonus: false }, path));
  assert.ok(!isOnPath({ nodes: [3], isBonus: false }, path));
  assert.ok(!isOnPath({ nodes: [], isBonus: true }, path));
  assert.ok(isOnPath({ nodes: [], isBonus: true }, [...path, { node: -2, status: "bonus" }]));
});
