// What the player's buttons and keys do, by the names that buttons carry as data-do.

import { savePicture, saveRows, saveRun, saveTable } from "./downloads.js";
import { readRun } from "./logic/files.js";
import { linkTo } from "./logic/links.js";
import { Playback } from "./logic/playback.js";

/** Copy `text`; where the browser forbids it, let the reader copy it from a box. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return "Link copied.";
  } catch {
    window.prompt("Copy this link:", text);
    return "";
  }
}

async function copyLink({ run, round, node, view, whatIf }) {
  const { link } = run.head;
  const page = `${window.location.origin}${window.location.pathname}`;
  view.say(
    Object.keys(link).length
      ? await copy(linkTo(page, link, round, node, whatIf.text))
      : "A run from a file has no link: pass the file on.",
  );
}

function saveRecord({ run, view, served }) {
  if (run.record) saveRun(run.record, served);
  else view.say("The run can be saved when it is over.");
}

const saveTree = (format) => (player) => savePicture(player.view.part.tree, format, player.round);

/** Go to the next ("later") or previous ("earlier") round where the scores disagree. */
const differ = (direction) => (player) => {
  const { view, round } = player;
  const there = view.timeline.differs(round, direction);
  if (there !== null) return player.jump(there);
  const where = direction === "later" ? "after" : "before";
  view.announce(`No round ${where} this one where the scores disagree.`);
};

const COMMANDS = {
  first: (player) => player.jump(0),
  back: (player) => player.jump(player.round - 1),
  next: (player) => player.jump(player.round + 1),
  last: (player) => player.jump(player.run.count - 1),
  earlier: differ("earlier"),
  later: differ("later"),
  play: (player) => player.playback.toggle(player.speed),
  "by-aligned": (player) => player.rankBy("aligned"),
  "by-blind": (player) => player.rankBy("blind"),
  "tree-aligned": (player) => player.chooseTree("aligned"),
  "tree-blind": (player) => player.chooseTree("blind"),
  "tree-both": (player) => player.chooseTree("both"),
  link: copyLink,
  run: saveRecord,
  table: (player) => saveTable(player.run.round(player.round).rows, player.round),
  chart: ({ view: { scores } }) => saveRows(scores.rows, scores.chosen),
  svg: saveTree("svg"),
  png: saveTree("png"),
  open: (player) => player.view.part.file.click(),
};

/** Do what a button or key commands; without a run there is only a file to open. */
export function perform(player, command) {
  if (player.run.isReady || command === "open") COMMANDS[command](player);
}

/** Send a saved run to the server, which checks it and draws its figures. */
export async function openFile(player, file) {
  try {
    player.send({ text: await readRun(file) });
  } catch (error) {
    player.view.say(error.message);
  }
}

/** Playback of the rounds of `player`. */
export const playbackOf = (player) =>
  new Playback(() => ({ isLast: player.isLast, state: player.run.head.state }), {
    rewind: () => player.go(0),
    step: () => {
      player.view.say(player.run.head.message);
      player.go(player.round + 1);
    },
    wait: () => player.view.say("Waiting for the next round…"),
    change: (isPlaying) => player.view.showPlaying(isPlaying),
  });
