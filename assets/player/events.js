// Clicks, keys and changes on the page, turned into the player's own verbs.

import { openFile, perform } from "./commands.js";
import { commandOf } from "./logic/keys.js";
import { nodesOf } from "./text.js";

function onClick(player, { target }) {
  const button = target.closest("[data-do]");
  if (button) return perform(player, button.dataset.do);
  const phase = target.closest("[data-phase]");
  if (phase) return player.showPhase(phase.dataset.phase);
  const row = target.closest("tr[data-node]");
  if (row) return player.view.hasTable && player.pin(Number(row.dataset.node));
  const chip = target.closest(".text .chip[data-round]");
  if (chip)
    player.pick(Number(chip.dataset.round), chip.classList.contains("bonus"), nodesOf(chip));
}

function onKey(player, event) {
  const { target } = event;
  const { root, part } = player.view;
  if (!root.isConnected || !player.run.isReady) return;
  const isIn = (selector) => target.closest?.(selector);
  const command = commandOf(event, isIn, target === part.cursor);
  if (command === null) return;
  if (command === "release") return player.pin(null);
  event.preventDefault();
  if (command === "move") player.moveCursor(event.key);
  else perform(player, command);
}

/** Connect the page to `player`. */
export function listen(player) {
  const { root, part } = player.view;
  root.addEventListener("click", (event) => onClick(player, event));
  document.addEventListener("keydown", (event) => onKey(player, event));
  document.addEventListener("presto-want", ({ detail }) => player.want(detail)); // ui/examples.py
  part.slider.addEventListener("input", () => player.jump(Number(part.slider.value) - 1));
  part.speed.addEventListener("change", () => player.playback.changeSpeed(player.speed));
  part.file.addEventListener("change", () => {
    if (part.file.files.length) openFile(player, part.file.files[0]);
    part.file.value = ""; // so that the same file can be chosen again
  });
}
