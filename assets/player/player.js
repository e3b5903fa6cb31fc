// The player: steps through a run's rounds in the page. Python sends the figures, the scripts
// only show them (ui/explore_payload.py).

import { loadPlotly } from "./charts.js";
import { playbackOf } from "./commands.js";
import { follow, onPageChange, partsIn } from "./component.js";
import { say } from "./dom.js";
import { listen } from "./events.js";
import { filmOf } from "./film_panel.js";
import { openLesson } from "./lesson_tab.js";
import { isReached, parseQuery } from "./logic/links.js";
import { nodeSentence } from "./logic/nodes.js";
import { neighbour, pathTo } from "./logic/path.js";
import { Run } from "./logic/run.js";
import { TwoTrees } from "./two_trees.js";
import { Veil } from "./veil.js";
import { viewOf } from "./view.js";
import { WhatIf } from "./what_if.js";

class Player {
  constructor({ element, props, watch, select, send, submit, asked, served }) {
    const { root, part } = partsIn(element);
    Object.assign(this, { select, send, served });
    this.run = new Run();
    this.round = 0; // index of the round on screen
    this.node = null; // the pinned node
    this.isShown = false; // whether a round of this run is on screen
    this.isFollowing = false; // whether the newest round of a live run is to be shown
    this.wanted = parseQuery(window.location.search); // the view to show when its run is here
    this.view = viewOf(this, root, part);
    this.veil = new Veil(part);
    this.film = filmOf(this, part, asked);
    this.twoTrees = new TwoTrees(part, asked, () => this.showTree());
    this.whatIf = new WhatIf(part, asked, { run: submit, go: (round) => this.jump(round) });
    this.playback = playbackOf(this);
    part.opener.addEventListener("click", openLesson);
    document.body.classList.toggle("embedded", this.wanted.isEmbedded);
    listen(this);
    onPageChange(root, () => this.run.isReady && this.show());
    follow({ props, watch }, (value) => this.receive(value));
  }

  // ---- the run ---------------------------------------------------------------------------------

  /** Take the newest value: another run starts over, a growing one keeps the reader's place. */
  receive(value) {
    const news = this.run.take(value);
    if (news === "ignored") return;
    if (news === "awaited") return this.veil.show(this.run.awaited);
    this.veil.lift();
    if (news === "replaced") this.restart();
    const { run, view } = this;
    view.showHead(run.head);
    view.timeline.offer(run);
    this.twoTrees.offer(run.key, run.head);
    this.whatIf.offer(run.key, run.head);
    this.film.offer(run.key, run.head);
    if (this.isFollowing && run.isReady) this.round = run.loaded - 1;
    if (!this.isShown || this.isFollowing) this.show();
    else {
      view.showPosition(this.round, run.count);
      view.showSpeedup(run, this.round);
      view.scores.renew(run.head);
    }
    this.showWanted();
  }

  restart() {
    this.playback.stop();
    this.view.restart();
    this.round = 0;
    this.node = null;
    this.isShown = false;
    this.isFollowing = this.run.head.state === "running";
  }

  /** Show `round` (from 1) of the recorded `run`, and say `words`, as soon as it is here. */
  want({ run, round, words }) {
    this.wanted = { run, round, words, node: null, whatIf: null };
    this.showWanted();
  }

  /** Show the round and node that the address or the reader asked for, once they are here. */
  showWanted() {
    const { run, wanted } = this;
    if (!isReached(wanted, run.head, run.loaded)) return;
    this.round = Math.max(0, Math.min(wanted.round - 1, run.loaded - 1));
    this.isFollowing = false;
    if (run.round(this.round).byId.has(wanted.node)) this.node = wanted.node;
    this.wanted = { ...wanted, round: null };
    if (wanted.whatIf !== null) this.whatIf.restore(wanted.whatIf);
    this.show();
    this.view.say(wanted.words || run.head.message);
  }

  /** Show the current round, or that there is none yet. */
  show() {
    this.view.showPosition(this.round, this.run.count);
    if (!this.run.isReady) return;
    this.isShown = true;
    this.twoTrees.show(this.round);
    this.view.showRound(this.run, this.round, this.shown, this.path);
    this.whatIf.show(this.round);
    this.showFilm();
  }

  /** The search of the round on screen, where its phase is "build". */
  showFilm() {
    if (this.view.tree.phase === "build") this.film.show(this.round);
    else this.film.hide();
  }

  /** The round on screen with its tree as it is shown; null while that is asked for. */
  get shown() {
    return this.twoTrees.of(this.round, this.run.round(this.round));
  }

  /** Show the chosen tree of the round on screen, once it is here. */
  showTree() {
    if (!this.shown) return;
    this.view.showTree(this.round, this.shown, this.path);
    this.showFilm();
    const { view, sentence } = this.twoTrees;
    this.view.announce(`Tree: ${view}. ${sentence}`);
  }

  /** Choose the tree that is shown: the run's own, "blind", or "both". */
  chooseTree(view) {
    this.node = null;
    this.twoTrees.choose(view);
    this.twoTrees.show(this.round);
    this.showTree();
  }

  /** Parse the next round while nothing happens: the next step need not wait for it. */
  prepareNext() {
    if (this.round + 1 < this.run.loaded) this.run.round(this.round + 1);
  }

  // ---- the pinned node -------------------------------------------------------------------------

  /** Nodes from the root to the pinned one; empty when none is pinned. */
  get path() {
    return this.shown ? pathTo(this.node, this.shown.byId) : [];
  }

  /** Pin a node of the current round (null lets go). */
  pin(node) {
    const row = this.shown?.byId.get(node);
    if (node !== null && !row) return;
    this.node = node;
    this.view.highlight(this.round, this.path);
    if (!row) return;
    this.view.announce(nodeSentence(row));
    this.select({ round: this.round, node });
  }

  /** A chip of the text was chosen: go to its round and pin its node. */
  pick(round, isBonus, nodes) {
    this.jump(round);
    const { rows } = this.run.round(this.round);
    if (isBonus) this.pin(rows.find((row) => row.status === "bonus").node);
    else if (nodes.length) this.pin(nodes.at(-1));
  }

  /** Move the pin through the tree by an arrow key, at first to the root. */
  moveCursor(key) {
    if (!this.shown) return;
    const { rows, byId, positions } = this.shown;
    const here = byId.get(this.node);
    const row = here ? neighbour(key, here, rows, positions) : rows[0];
    if (row) this.pin(row.node);
  }

  rankBy(score) {
    this.view.rankBy(score, this.path);
  }

  /** Show the round as it is after one of its phases. */
  showPhase(name) {
    this.playback.stop();
    if (this.twoTrees.view !== "aligned") this.chooseTree("aligned");
    this.view.showPhase(name, this.path);
    this.showFilm();
  }

  // ---- stepping --------------------------------------------------------------------------------

  get isLast() {
    return this.round >= this.run.count - 1;
  }

  /** The chosen speed of playback. */
  get speed() {
    return Number(this.view.part.speed.value);
  }

  /** Show round `i`, at most the newest one; one that is still loading as soon as it is here. */
  go(i) {
    const { run } = this;
    const { state, link } = run.head;
    const round = Math.max(0, Math.min(i, run.count - 1));
    this.isFollowing = state === "running" && i >= run.count - 1;
    const isLoaded = round < run.loaded;
    // What the reader does last counts, not what the address asked for.
    this.wanted = {
      run: link.run,
      prompt: link.prompt,
      round: isLoaded ? null : round + 1,
      whatIf: null,
    };
    if (!isLoaded || round === this.round) return;
    this.round = round;
    this.node = null;
    this.show();
    this.view.announce(`Round ${round + 1}. ${run.round(round).sentence}`);
  }

  /** The reader chose round `i`. */
  jump(i) {
    this.playback.stop();
    this.go(i);
  }
}

/** Start the player in `element` of a gr.HTML component; `served` gives a file's address. */
export async function mount(settings) {
  const player = new Player(settings); // with a preview of the tree at once
  try {
    await loadPlotly(settings.served(settings.plotly));
    player.show();
  } catch (error) {
    const text = `The page is incomplete: ${error.message}. Reload to try again.`;
    say(player.view.part.message, text);
  }
}
