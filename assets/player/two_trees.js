// The other views of the draft tree: the blind tree of the round's state, and both trees on one
// layout, as the server replays them (ui/what_if.py).

import { ask } from "./ask.js";
import { say } from "./dom.js";
import { withRows } from "./logic/run.js";
import { Newest } from "./logic/what_if.js";

const VIEWS = ["aligned", "blind", "both"];
const KEPT = 8; // rounds whose trees are kept

export class TwoTrees {
  /**
   * `part`: the elements treeViews, trees and treePanel; `address(what)`: where to ask;
   * `arrive()`: the trees of the round on screen are here.
   */
  constructor(part, address, arrive) {
    Object.assign(this, { part, arrive });
    this.view = "aligned"; // the run's own tree
    this.key = null; // of the run on screen
    this.index = 0; // of the round on screen
    this.known = new Map(); // round -> { blind, both, sentence } or { problem }
    this.newest = new Newest(
      (question) => ask(address("trees"), question),
      (answer, { round }) => this.take(answer, round),
    );
  }

  /** The run `key` is on screen, or has news. Only a finished one can be replayed. */
  offer(key, head) {
    this.columns = head.columns;
    this.rounds = head.rounds;
    this.isPossible = Boolean(head.own) && head.own.scorer !== "blind";
    this.part.treeViews.hidden = !this.isPossible;
    if (key !== this.key) {
      this.key = key;
      this.known.clear();
      this.newest.forget();
    }
    if (!this.isPossible) this.choose("aligned");
  }

  choose(view) {
    this.view = view;
    const { treeViews, treePanel } = this.part;
    treePanel.dataset.tree = view;
    for (const [i, button] of [...treeViews.querySelectorAll("button")].entries())
      button.setAttribute("aria-pressed", String(VIEWS[i] === view));
    this.describe();
  }

  /** What the tree panel shows of round `index`, `own` in the run; null while it is asked for. */
  of(index, own) {
    if (this.view === "aligned") return own;
    const known = this.known.get(index);
    return known ? (known[this.view] ?? own) : null;
  }

  /** Round `index` is on screen: ask for its trees, and then for the next one's. */
  show(index) {
    this.index = index;
    this.describe();
    if (this.view === "aligned") return;
    const round = this.known.has(index) ? index + 1 : index;
    if (round < this.rounds && !this.known.has(round)) this.newest.want({ key: this.key, round });
  }

  take(answer, round) {
    const { columns, known } = this;
    if (answer.problem) known.set(round, answer);
    else {
      const [blind, both] = [answer.blind, answer.both].map((one) => withRows(one, columns));
      known.set(round, { blind, both, sentence: answer.sentence });
    }
    for (const old of [...known.keys()].slice(0, -KEPT)) known.delete(old);
    this.show(this.index);
    if (round === this.index) this.arrive();
  }

  /** Where each tree loses the text, in words. */
  get sentence() {
    const known = this.view === "aligned" ? null : this.known.get(this.index);
    return known ? (known.problem ?? known.sentence) : "";
  }

  describe() {
    say(this.part.trees, this.sentence);
  }
}
