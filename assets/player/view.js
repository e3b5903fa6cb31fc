// Everything the player shows: numbers, text, the three charts, table and card. It knows the page
// and not the playback.

import { showCard } from "./card.js";
import { painted } from "./charts.js";
import { say, showState } from "./dom.js";
import { PHASES } from "./logic/phases.js";
import { showNumbers, showPhases, showStages } from "./measures.js";
import { ScoresPanel } from "./scores.js";
import { SpeedupChart } from "./speedup.js";
import { highlightTable, showTable } from "./table.js";
import { highlightText, showText } from "./text.js";
import { Timeline } from "./timeline.js";
import { TreeView } from "./treeview.js";

// Milliseconds after which the table follows: its many cells cost more than all charts.
const TABLE_DELAY = 250;
const HINT = "Select a node in the tree, the text or the table to see its numbers.";

export class View {
  /**
   * `on`: what to do when a node is clicked (`pin(node)`), a point of the speed-up (`go(round)`) or
   * a tab (`view(name)`), and when all of a round is shown (`idle()`).
   */
  constructor(root, part, on) {
    this.root = root;
    this.part = part;
    this.on = on;
    this.timeline = new Timeline(part, (name) => this.button(name));
    this.tree = new TreeView(part, on.pin);
    this.scores = new ScoresPanel(part, on);
    this.speedup = new SpeedupChart(part.speedup, on.go);
    this.round = null; // on screen
    this.treeOf = null; // the index of the round whose tree is on screen
    this.path = []; // its pinned nodes, from the root down
    this.shows = 0; // counts how often a round was shown
    this.tabled = null; // the round that the table shows
  }

  button(name) {
    return this.root.querySelector(`[data-do="${name}"]`);
  }

  /** Another run begins: the text is as high as its own lines. */
  restart() {
    this.treeOf = null;
    this.part.text.style.removeProperty("--reached");
  }

  say(text) {
    say(this.part.message, text);
  }

  /** One announcement for screen readers. */
  announce(text) {
    this.part.live.textContent = text;
  }

  /** What is true of the whole run. */
  showHead(head) {
    const { part } = this;
    this.root.classList.toggle("loading", head.state === "loading");
    showState(part, head);
    this.scores.offer(head.charts);
    showNumbers(part.numbers, head.numbers ?? []);
    showStages(part.stages, head.stages ?? []);
    part.comparison.textContent = head.speed ?? "";
    part.place.textContent = [head.method, head.settings, head.place, head.ending]
      .filter(Boolean)
      .join(" · ");
  }

  /** Which of `count` rounds is on screen: timeline, counter, buttons. */
  showPosition(index, count) {
    this.timeline.show(index, count);
    this.root.classList.toggle("empty", !count);
    const [isFirst, isLast] = [index === 0, index >= count - 1];
    const disabled = { first: isFirst, back: isFirst, next: isLast, last: isLast };
    for (const [name, isDisabled] of Object.entries(disabled))
      this.button(name).setAttribute("aria-disabled", String(isDisabled));
  }

  showPlaying(isPlaying) {
    const button = this.button("play");
    button.textContent = isPlaying ? "Pause" : "Play";
    button.setAttribute("aria-label", button.textContent);
    button.setAttribute("aria-pressed", String(isPlaying));
  }

  /**
   * Everything of round `index` of `run`, with the nodes of `path` (root first) highlighted.
   * `shown`: the round as its tree is to be shown; null where that is still asked for.
   */
  showRound(run, index, shown, path) {
    const round = run.round(index);
    if (round !== this.round) this.tree.phase = "commit";
    this.head = run.head;
    this.round = round;
    this.part.sentence.textContent = round.sentence;
    showText(this.part.text, (i) => run.round(i), index);
    this.markPhase();
    if (shown) {
      this.tree.show(shown, run.head, this.labelOf(index), path);
      this.treeOf = index;
    }
    this.highlightRows(index, path);
    this.showRest(run, index);
  }

  /** Another tree of round `index`; `shown` as above. Between trees of one round nodes move. */
  async showTree(index, shown, path) {
    this.tree.phase = "commit";
    this.markPhase();
    const how = this.treeOf === index ? "move" : "show";
    this.treeOf = index;
    const end = this.tree[how](shown, this.head, this.labelOf(index), path);
    this.highlightRows(index, path);
    await end;
    if (this.tree.round === shown && window.Plotly) this.tree.draw();
  }

  labelOf(index) {
    const { trees } = this.part;
    const said = trees.hidden ? this.round.sentence : trees.textContent;
    return `Draft tree of round ${index + 1}. ${said}`;
  }

  /**
   * What may come after the preview of the tree: the charts a frame later, the table when the
   * reader stays. Until then the player has the class "drawing".
   */
  async showRest(run, index) {
    const { round } = this;
    this.shows += 1;
    const show = this.shows;
    const isPast = () => show !== this.shows; // the reader has stepped on
    this.root.classList.add("drawing");
    await painted();
    if (isPast()) return;
    if (window.Plotly) {
      this.tree.draw();
      await painted();
      if (isPast()) return;
      this.scores.draw(round, run.head);
      this.showSpeedup(run, index);
    }
    await new Promise((resolve) => setTimeout(resolve, TABLE_DELAY));
    if (isPast()) return;
    showTable(this.part.table, round.rows, `Nodes of round ${index + 1}`);
    highlightTable(this.part.table, this.path);
    this.tabled = round;
    this.root.classList.toggle("drawing", !window.Plotly);
    this.on.idle();
  }

  /** Whether the table's rows are those of the round on screen: it follows a little later. */
  get hasTable() {
    return this.tabled === this.round;
  }

  /** The speed-up of `run`, if it has one yet, with a mark at round `index`. */
  showSpeedup({ speedup, head }, index) {
    if (speedup) this.speedup.draw(speedup, index, head);
  }

  /** Show the round after `phase`: tree, text, and the view of the scores that explains it. */
  showPhase(phase, path) {
    this.tree.showPhase(phase, path);
    this.markPhase();
    if (PHASES[phase]) this.scores.choose(PHASES[phase]);
    this.announce(`After the phase “${phase}”.`);
    this.root.querySelector(`[data-phase="${phase}"]`).focus();
  }

  /** Press the phase's button; what the round commits is faint until then. */
  markPhase() {
    showPhases(this.part.phases, this.round.phases, this.tree.phase);
    this.part.text.classList.toggle("ahead", this.tree.phase !== "commit");
  }

  /** Let the sizes of the tree's marks tell the ranks under the other score. */
  rankBy(score, path) {
    for (const name of ["aligned", "blind"])
      this.button(`by-${name}`).setAttribute("aria-pressed", String(name === score));
    this.tree.rankBy(score, path);
    this.announce(`Node sizes show the ranks under the prefix-${score} score.`);
  }

  /** Highlight the pinned path in tree, text, table and card; an empty path lets go. */
  highlight(index, path) {
    this.tree.highlight(path);
    this.highlightRows(index, path);
  }

  highlightRows(index, path) {
    this.path = path;
    const rows = path.map((node) => this.tree.round.byId.get(node));
    highlightText(this.part.text, rows, index);
    highlightTable(this.part.table, path);
    showCard(this.part.details, rows, this.head, HINT);
  }
}

/** Everything that `player` shows of a round, in `root` with its elements `part`. */
export const viewOf = (player, root, part) =>
  new View(root, part, {
    pin: (node) => player.pin(node),
    go: (round) => player.jump(round),
    idle: () => player.prepareNext(),
  });
