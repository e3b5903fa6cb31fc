import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf } from "../../assets/player/logic/keys.js";

/** The command of `key` while the focus is in an element that `name` selects. */
const command = (key, name = "body", isOnTree = false, held = {}) =>
  commandOf({ key, ...held }, (selector) => selector.split(", ").includes(name), isOnTree);

test("arrows, space, Home and End command the player", () => {
  const keys = ["ArrowLeft", "ArrowRight", " ", "Home", "End", "Escape"];
  const commands = ["back", "next", "play", "first", "last", "release"];
  assert.deepEqual(
    keys.map((key) => command(key)),
    commands,
  );
  assert.equal(command("a"), null);
  assert.equal(command("ArrowUp"), null);
});

test("who types or moves a slider keeps every key", () => {
  for (const name of ["input", "textarea", "[contenteditable]", "[role=slider]"])
    for (const key of ["ArrowLeft", " ", "Escape"]) assert.equal(command(key, name), null);
});

test("on the tree all four arrows move its cursor", () => {
  for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"])
    assert.equal(command(key, "body", true), "move");
  assert.equal(command("End", "body", true), "last");
});

test("space presses the button that has the focus, arrows scroll the text that has it", () => {
  assert.equal(command(" ", "button"), null);
  assert.equal(command("ArrowRight", "button"), "next");
  assert.equal(command("ArrowRight", ".text"), null);
  assert.equal(command(" ", ".text"), "play");
});

test("keys held with a modifier are the browser's", () => {
  for (const held of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }])
    assert.equal(command("ArrowLeft", "body", true, held), null);
});
