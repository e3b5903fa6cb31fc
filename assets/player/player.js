// The player: steps through a run's rounds in the page. Python sends the figures, this script only shows them.
//
// value = { key, head, rounds: [json, …], speedup }: see viz/payload.py. A run that grows, or of which the page itself
// carries the beginning only, keeps its key.

import { listen } from "./events.js";
import { Learn } from "./learn.js";
import { nodeSentence } from "./nodes.js";
import { loadPlotly } from "./plots.js";
import { asked, copy, linkTo, readRun, savePicture, saveRun, saveTable } from "./share.js";
import { View } from "./view.js";

const BEAT = 1400; // milliseconds a round stays on screen at speed 1×

class Player {
  constructor({ element, props, select, send, watch, served, learn }) {
    this.props = props;
    this.served = served;
    this.select = select;
    this.send = send;
    this.view = new View(element.querySelector(".player"), {
      pin: (node) => this.pin(node),
      go: (round) => this.jump(round),
      view: (name) => this.learn.notice(`view:${name}`),
      rest: () => this.raw[this.round + 1] && this.get(this.round + 1), // parsed now, the next step need not wait for it
    });
    this.learn = new Learn(this, this.view.part.learn, this.view.part.opener, served(learn));
    this.key = null; // of the run on screen
    this.past = new Set(); // keys of runs that were on screen before
    this.raw = []; // its rounds as JSON
    this.rivals = []; // what other scorers would have had accepted in them, as JSON
    this.round = 0;
    this.node = null; // the pinned node
    this.following = false; // stay with the newest round of a live run
    this.timer = null; // of playback
    this.asked = asked(); // the round and node of a shared link, until they are on screen
    document.body.classList.toggle("embedded", this.asked.embed);
    listen(this);
    watch("value", () => this.refresh());
    this.receive(props.value);
  }

  // ---- data -------------------------------------------------------------------------------------------------------

  /** Coalesce the updates of a fast stream into one per frame. */
  refresh() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.receive(this.props.value));
  }

  /** Take the newest value; a new key starts over, a growing run keeps the reader's place. */
  receive(value) {
    if (!value?.head) return;
    const head = JSON.parse(value.head);
    if (head.badge === "live" && this.past.has(value.key)) return; // a late message of a run that was replaced
    if (value.key !== this.key) this.restart(value.key, head);
    if (value.rounds.length < this.raw.length) return; // a late message: runs only grow
    const first = !this.ready;
    this.head = head;
    this.raw = [...value.rounds];
    this.rivals = value.rivals ?? [];
    this.speedup = value.speedup ? JSON.parse(value.speedup) : null;
    this.record = value.record || this.record;
    this.view.showHead(head);
    if (this.following && this.ready) this.round = this.raw.length - 1;
    if (first || this.following) this.show();
    else {
      this.view.showPlace(this.round, this.count);
      if (this.speedup) this.view.drawSpeedup(this.speedup, this.round);
    }
    this.arrive();
  }

  restart(key, head) {
    this.pause();
    this.past.add(this.key);
    this.key = key;
    this.raw = [];
    this.parsed = new Map();
    this.round = 0;
    this.node = null;
    this.record = "";
    this.following = head.state === "running";
  }

  /** Go to the round and node that the address asks for, once, as soon as its run has come so far. */
  arrive() {
    const { run, prompt, round, node } = this.asked,
      { link, state } = this.head;
    const meant = run === null ? prompt === link.prompt : run === link.run;
    if (round === null || !this.ready || !meant || (this.raw.length < round && state !== "done"))
      return;
    this.asked.round = null;
    this.round = Math.max(0, Math.min(round - 1, this.raw.length - 1));
    this.following = false;
    if (node !== null && this.get(this.round).byId.has(node)) this.node = node;
    this.show();
  }

  get ready() {
    return this.raw.length > 0;
  }

  /** How many rounds the run has so far; of a run that is still loading not all are here. */
  get count() {
    return this.head.rounds;
  }

  /** The parsed round `i`, its rows as objects; with what other scorers would have done once that is known. */
  get(i) {
    if (!this.parsed.has(i)) {
      const round = JSON.parse(this.raw[i]);
      const names = this.head.columns;
      round.rows = round.rows.map((row) =>
        Object.fromEntries(row.map((value, j) => [names[j], value])),
      );
      round.byId = new Map(round.rows.map((row) => [row.node, row]));
      this.parsed.set(i, round);
    }
    const round = this.parsed.get(i);
    if (!round.rivals && this.rivals[i]) {
      const { rivals, remark, only, missing } = JSON.parse(this.rivals[i]);
      Object.assign(round, { rivals, only, missing });
      round.remarks.rivals = remark;
    }
    return round;
  }

  /** Show the current round. */
  show() {
    this.view.showPlace(this.round, this.count);
    if (this.ready)
      this.view.showRound((i) => this.get(i), this.round, this.head, this.speedup, this.path());
  }

  // ---- the pinned node --------------------------------------------------------------------------------------------

  /** Nodes from the root to the pinned one; empty when none is pinned. */
  path() {
    const { byId } = this.get(this.round);
    const path = [];
    for (let node = this.node; node !== null && byId.has(node); node = byId.get(node).parent)
      path.unshift(node);
    return path;
  }

  /** Pin a node of the current round (null lets go). */
  pin(node) {
    const round = this.get(this.round);
    if (node !== null && !round.byId.has(node)) return;
    this.node = node;
    this.view.light(round, this.round, this.path());
    if (node === null) return;
    this.view.announce(nodeSentence(round.byId.get(node)));
    this.learn.notice(`pin:${round.byId.get(node).status}`);
    this.select({ round: this.round, node });
  }

  /** A chip of the text was chosen: go to its round and pin its node. */
  pick(round, isBonus, nodes) {
    this.jump(round);
    const bonus = this.get(this.round).rows.find((row) => row.status === "bonus");
    if (isBonus) this.pin(bonus.node);
    else if (nodes) this.pin(Number(nodes.split(" ").at(-1)));
  }

  /** Move the pin through the tree: left to the parent, right to the first child, up and down between siblings. */
  moveCursor(key) {
    const { rows, byId } = this.get(this.round);
    const here = byId.get(this.node);
    if (!here) return this.pin(0);
    const order = (a, b) =>
      (b.status === "bonus") - (a.status === "bonus") || b.aligned - a.aligned; // as drawn
    const childrenOf = (node) => rows.filter((row) => row.parent === node).sort(order);
    const siblings = childrenOf(here.parent),
      place = siblings.indexOf(here);
    const target = {
      ArrowLeft: byId.get(here.parent),
      ArrowRight: childrenOf(here.node)[0],
      ArrowUp: siblings[place - 1],
      ArrowDown: siblings[place + 1],
    }[key];
    if (target) this.pin(target.node);
  }

  /** Let the tree show ranks under `score`. */
  rankBy(score) {
    this.view.rankBy(score, this.path());
    this.learn.notice(`rank:${score}`);
  }

  /** Show the round as it is after one of its phases. */
  showPhase(name) {
    this.pause();
    this.view.showPhase(name, this.path());
    this.view.root.querySelector(`[data-phase="${name}"]`).focus();
    this.learn.notice(`phase:${name}`);
  }

  // ---- stepping ---------------------------------------------------------------------------------------------------

  get atEnd() {
    return this.round >= this.count - 1;
  }

  /** Show round `i`, at most the newest one; one that is still loading as soon as it is here. */
  go(i) {
    const target = Math.max(0, Math.min(i, this.count - 1)),
      { state, link } = this.head;
    this.following = state === "running" && i >= this.count - 1;
    this.asked.round = null; // the reader's last word counts
    if (target === this.round) return;
    if (target >= this.raw.length)
      return Object.assign(this.asked, { run: link.run, round: target + 1, node: null });
    this.round = target;
    this.node = null;
    this.show();
    this.view.announce(`Round ${target + 1}. ${this.get(target).sentence}`);
    this.learn.notice("step");
    if (this.atEnd) this.learn.notice("last");
  }

  /** The reader chose round `i`. */
  jump(i) {
    this.pause();
    this.go(i);
  }

  play() {
    if (this.atEnd && this.head.state === "done") this.go(0);
    this.view.showPlaying(true);
    this.timer = setInterval(() => this.tick(), BEAT / Number(this.view.part.speed.value));
  }

  /** One beat of playback, never ahead of the data. */
  tick() {
    if (!this.atEnd) {
      this.view.say(this.head.message);
      return this.go(this.round + 1);
    }
    if (this.head.state === "running") this.view.say("Waiting for the next round…");
    else this.pause();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.view.showPlaying(false);
  }

  changeSpeed() {
    if (!this.timer) return;
    this.pause();
    this.play();
  }

  /** Send a saved run to the server, which checks it and draws its figures. */
  async open(file) {
    try {
      this.send({ text: await readRun(file) });
    } catch (error) {
      this.view.say(error.message);
    }
  }

  /** A command of a button or key. */
  act(name) {
    if (!this.ready && name !== "open") return;
    if (name === "play") return this.timer ? this.pause() : this.play();
    if (SHARED[name]) return SHARED[name](this);
    if (name === "by-aligned" || name === "by-blind") return this.rankBy(name.slice(3));
    this.jump({ first: 0, back: this.round - 1, next: this.round + 1, last: this.count - 1 }[name]);
  }
}

const copyLink = ({ head, round, node }) =>
  Object.keys(head.link).length
    ? copy(linkTo(head.link, round, node))
    : "A run from a file has no link: pass the file on.";

/** What the menu "Share, save, open" does. */
const SHARED = {
  link: async (player) => player.view.say(await copyLink(player)),
  run: (player) =>
    player.record
      ? saveRun(player.record, player.served)
      : player.view.say("The run can be saved when it is over."),
  table: (player) => saveTable(player.get(player.round).rows, player.round),
  svg: (player) => savePicture(player.view.part.tree, "svg", player.round),
  open: (player) => player.view.part.file.click(),
  png: (player) => savePicture(player.view.part.tree, "png", player.round),
};

/** Start the player in `element` of a gr.HTML component; `served` gives a file's address. */
export async function mount({ element, props, select, send, watch, served, plotly, learn }) {
  const message = element.querySelector('[data-part="message"]');
  const player = new Player({ element, props, select, send, watch, served, learn }); // a preview of the tree is there at once
  try {
    await loadPlotly(served(plotly));
    player.show();
  } catch (error) {
    message.hidden = false;
    message.textContent = `The page is incomplete: ${error.message}. Reload to try again.`;
  }
}
