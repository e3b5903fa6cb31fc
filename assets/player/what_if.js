// The panel "What if": the run's own states under other settings, replayed by the server while a
// control moves (ui/what_if.py).

import { ask, post, UNREACHED } from "./ask.js";
import { draw, themed } from "./charts.js";
import { say } from "./dom.js";
import { saveSweep } from "./downloads.js";
import { Knobs } from "./knobs.js";
import { withRows } from "./logic/run.js";
import { changesOf, fromText, Newest, toText, valuesOf } from "./logic/what_if.js";
import { TreeView } from "./treeview.js";

const REST = 300; // milliseconds without a change after which the costlier figures follow

export class WhatIf {
  /**
   * `part`: the panel's elements; `address(what)`: where to ask; `on`: what `run(settings)` and
   * `go(round)` do.
   */
  constructor(part, address, on) {
    Object.assign(this, { part, address, on });
    this.knobs = null; // once the controls are known
    this.wanted = null; // settings from an address, until the run's own are known
    this.key = null; // of the run on screen
    this.own = null; // its settings; null while they cannot be replayed
    this.round = 0; // on screen
    this.rest = null; // timer
    this.stream = null; // stops the answer about all rounds
    this.swept = null; // stops the sweep
    this.sweptUnder = ""; // what the sweep held fixed
    this.table = null; // the sweep's cells
    this.tree = new TreeView(
      {
        cursor: part.otherCursor,
        tree: part.otherTree,
        preview: part.otherPreview,
        more: part.otherMore,
      },
      () => {},
      "",
    );
    this.newest = new Newest(
      (question) => ask(this.address("round"), question),
      (answer) => this.showRound(answer),
    );
    this.listen();
  }

  listen() {
    const { part } = this;
    part.whatIf.addEventListener("toggle", () => this.askRound());
    part.back.addEventListener("click", () => this.apply(this.own));
    part.runThis.addEventListener("click", () => {
      this.on.run({ key: this.key, settings: this.changes });
    });
    part.sweep.addEventListener("click", () => this.sweep());
    part.sweepTable.addEventListener("click", () => saveSweep(this.table));
  }

  get isOpen() {
    return this.part.whatIf.open;
  }

  get changes() {
    return changesOf(this.knobs.values, this.own);
  }

  /** What an address says of the panel; null where it is closed. */
  get text() {
    return this.isOpen && this.own ? toText(this.changes) : null;
  }

  // ---- the run on screen ------------------------------------------------------------------------

  /** The run `key` is on screen, or has news. */
  offer(key, head) {
    this.head = head;
    this.knobs ??= new Knobs(this.part.knobs, head.controls, () => this.change());
    const isOther = key !== this.key;
    this.key = key;
    say(this.part.absent, head.own ? "" : head.absent);
    this.part.whatIfBody.hidden = !head.own;
    if (!isOther && Boolean(this.own) === Boolean(head.own)) return;
    this.own = head.own;
    this.forget();
    if (this.own) this.apply({ ...this.own, ...this.restored() });
  }

  /** Open the panel with the settings that an address wrote. */
  restore(text) {
    this.wanted = text;
    this.part.whatIf.open = true;
    if (this.own) this.apply({ ...this.own, ...this.restored() });
  }

  restored() {
    const text = this.wanted ?? "";
    this.wanted = null;
    return fromText(text, this.head.controls);
  }

  /** Another round is on screen. */
  show(round) {
    this.round = round;
    this.askRound();
    if (this.figure) this.drawRounds();
  }

  // ---- asking -----------------------------------------------------------------------------------

  apply(values) {
    this.knobs.set(values);
    this.change();
  }

  /** The settings are new: this round at once, the rest when the hand rests. */
  change() {
    const isOwn = !Object.keys(this.changes).length;
    this.part.back.disabled = isOwn;
    if (this.sweptUnder !== this.others) this.closeSweep();
    this.askRound();
  }

  askRound() {
    if (!this.own || !this.isOpen) return;
    const { key, changes: settings, round } = this;
    clearTimeout(this.rest);
    this.newest.want({ key, settings, round });
  }

  /** Give every line of the answer to `show`; what was stopped shows nothing more. */
  async follow(what, control, show) {
    const { key, changes: settings } = this;
    const { signal } = control;
    try {
      const { body } = await post(this.address(what), { key, settings }, signal);
      for await (const answer of valuesOf(body)) if (!signal.aborted) show(answer);
    } catch {
      if (!signal.aborted) show({ problem: UNREACHED });
    }
  }

  /** Nothing that was asked about another run is to be shown. */
  forget() {
    this.newest.forget();
    this.stream?.abort();
    clearTimeout(this.rest);
    this.figure = null;
    this.closeSweep();
  }

  // ---- showing ----------------------------------------------------------------------------------

  showRound(answer) {
    const { part, head } = this;
    part.outcome.textContent = answer.problem ?? answer.sentence;
    part.otherCursor.hidden = Boolean(answer.problem);
    if (!answer.problem) {
      const round = withRows(answer, head.columns);
      this.tree.show(round, head, `The tree under these settings. ${answer.sentence}`, []);
    }
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.settle(answer), REST);
  }

  /** The hand rests: the tree answers to the pointer, and all rounds follow. */
  settle(answer) {
    if (window.Plotly && !answer.problem && this.isOpen) this.tree.draw();
    const text = toText(this.changes);
    if (text === this.followed && this.figure && this.key === this.followedKey) return;
    Object.assign(this, { followed: text, followedKey: this.key });
    this.stream?.abort();
    this.stream = new AbortController();
    this.follow("rounds", this.stream, (told) => this.showRounds(told));
  }

  showRounds({ problem, figure, remark }) {
    this.part.allRemark.textContent = problem ?? remark;
    if (problem) return;
    this.figure = figure;
    this.remark = remark;
    this.drawRounds();
  }

  /** All rounds, with a mark at the one on screen. */
  drawRounds() {
    if (!window.Plotly || !this.isOpen) return;
    const { part, head } = this;
    const figure = themed(this.figure, head.dark);
    const x = this.round + 1;
    const line = { width: 1, dash: "dot", color: this.tree.colour("--muted") };
    figure.layout.shapes = [{ type: "line", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line }];
    draw(part.allRounds, figure, `Tokens per round at the run’s own states. ${this.remark}`, {
      plotly_click: (event) => this.on.go(event.points[0].x - 1),
    });
  }

  // ---- the sweep --------------------------------------------------------------------------------

  /** What a sweep holds fixed: all changes but those that it goes over. */
  get others() {
    const { lam, budget, ...others } = this.changes;
    return toText(others);
  }

  closeSweep() {
    this.swept?.abort();
    this.table = null;
    this.part.sweepBox.hidden = true;
  }

  sweep() {
    const { part } = this;
    this.closeSweep();
    this.swept = new AbortController();
    this.sweptUnder = this.others;
    part.sweepBox.hidden = false;
    part.sweepProgress.hidden = false;
    part.sweepTable.disabled = true;
    part.sweepProgress.value = 0;
    this.follow("sweep", this.swept, (told) => this.showSweep(told));
  }

  showSweep({ problem, figure, remark, settings, table, done, of }) {
    const { part, head } = this;
    part.sweepRemark.textContent = problem ?? remark;
    if (problem) return;
    Object.assign(part.sweepProgress, { value: done, max: of });
    part.sweepProgress.hidden = done === of;
    part.sweepTable.disabled = done !== of;
    this.table = table;
    const under = settings ? ` Otherwise: ${settings}.` : "";
    if (window.Plotly) draw(part.sweepMap, themed(figure, head.dark), `${remark}${under}`);
  }
}
