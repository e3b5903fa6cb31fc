// The search of a round as a film: its tree grows node by node, beside the candidates that wait and
// the tree-attention mask. It needs nothing but the film (ui/film_payload.py) and an element inside
// one of class "player", whose styles it uses.

import { isStill } from "./charts.js";
import { make, makeButton } from "./dom.js";
import { FilmTable } from "./film_table.js";
import { FilmTree } from "./film_tree.js";
import { frontierOf, nodeOf, rowBeside, stepBy, stepTime } from "./logic/film.js";
import { neighbour } from "./logic/path.js";
import { Playback, ROUND_TIME } from "./logic/playback.js";
import { Mask } from "./mask.js";

const KEYS = "← → or , . step, Space plays, Home and End";
const BUTTONS = [
  ["⏮", "First step"],
  ["◀", "Previous step"],
  ["Play", "Play the search"],
  ["▶", "Next step"],
  ["⏭", "Last step"],
];

export class Film {
  /**
   * Show the film `data` in `box`. `on`: what `pick(node)` does with a node that was chosen, what
   * `step(step, last)` does when a step is shown, and the `speed()` at which it plays.
   */
  constructor(box, data, on = {}) {
    Object.assign(this, { box, data, on });
    this.step = 0;
    this.last = data.steps.length - 1;
    this.chosen = null; // the node that is pointed at or focused
    const pointed = { point: (node) => this.choose(node), pick: (node) => this.pick(node) };
    this.tree = new FilmTree(data, pointed);
    this.mask = new Mask(data.sees, pointed);
    this.table = new FilmTable(data);
    const position = () => ({ isLast: this.step === this.last, state: "done" });
    this.playback = new Playback(position, {
      rewind: () => this.show(0),
      step: () => this.show(this.step + 1),
      change: (isPlaying) => this.showPlaying(isPlaying),
    });
    this.build();
    this.draw();
  }

  build() {
    const { box, tree, mask, table, data } = this;
    this.sentence = make("p", undefined, "film-sentence");
    this.seen = make("p", undefined, "film-seen");
    this.live = make("p", undefined, "unseen");
    this.live.setAttribute("aria-live", "polite");
    const beside = make("div", undefined, "film-beside");
    beside.append(mask.box, this.seen, make("p", data.mask, "more"));
    const stage = make("div", undefined, "film-stage");
    const grown = make("div");
    const marks = `● taken ○ not yet${data.levels.length ? " ◇ in the beam’s frontier" : ""}`;
    const legend = make("p", `${marks} · keys: ${KEYS}`, "more");
    grown.append(tree.box, legend, this.makeBar(), this.sentence);
    stage.append(grown, beside);
    const rest = make("div", undefined, "film-rest");
    rest.append(table.box, table.frontier);
    box.classList.add("film");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "The search, step by step");
    box.replaceChildren(stage, rest, this.live);
    box.onkeydown = (event) => this.press(event);
  }

  makeBar() {
    const acts = [
      () => this.go(0),
      () => this.go(this.step - 1),
      () => this.toggle(),
      () => this.go(this.step + 1),
      () => this.go(this.last),
    ];
    const buttons = BUTTONS.map(([text, label], i) => {
      const button = makeButton(text, acts[i]);
      button.setAttribute("aria-label", label);
      button.title = label;
      return button;
    });
    [, , this.play] = buttons;
    const slider = make("input");
    Object.assign(slider, { type: "range", min: 0, max: this.last, step: 1 });
    slider.setAttribute("aria-label", "Step of the search");
    slider.addEventListener("input", () => this.go(Number(slider.value)));
    this.slider = slider;
    this.budget = make("progress");
    this.budget.max = this.data.budget;
    this.budget.setAttribute("aria-label", "Budget used");
    this.where = make("span", undefined, "film-where");
    const used = make("span", undefined, "film-budget");
    used.append(this.budget, this.where);
    const bar = make("div", undefined, "film-bar");
    bar.append(...buttons, slider, used);
    return bar;
  }

  // ---- playing ----------------------------------------------------------------------------------

  /** Play at the reader's speed, from the start where it is at its end. */
  toggle() {
    const speed = this.on.speed?.() ?? 1;
    this.playback.toggle((speed * ROUND_TIME) / stepTime(this.last));
  }

  /** Begin: play, or show the end at once where nothing may move. */
  begin() {
    if (isStill()) this.show(this.last);
    else this.toggle();
  }

  stop() {
    if (this.playback.isPlaying) this.playback.stop();
  }

  showPlaying(isPlaying) {
    this.play.textContent = isPlaying ? "Pause" : "Play";
    this.play.setAttribute("aria-label", isPlaying ? "Pause the search" : "Play the search");
    this.play.setAttribute("aria-pressed", String(isPlaying));
    this.play.title = this.play.getAttribute("aria-label");
  }

  /** The reader chose a step. */
  go(step) {
    this.stop();
    this.chosen = null;
    this.show(Math.min(this.last, Math.max(0, step)));
    this.live.textContent = this.sentence.textContent;
  }

  press(event) {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || !this.obey(key, target)) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own keys step through rounds
  }

  /** Do what `key` commands in the element `target`; false where it commands nothing here. */
  obey(key, target) {
    if (key === "Escape" && this.chosen !== null) return this.choose(null);
    const isIn = (box) => box.contains(target);
    if (key.startsWith("Arrow") && isIn(this.mask.box)) return this.walkMask(key);
    if (key.startsWith("Arrow") && isIn(this.tree.box)) return this.walkTree(key);
    if (key === "Enter" && (isIn(this.mask.box) || isIn(this.tree.box))) return this.pick(this.now);
    if (key === " " && target.tagName !== "BUTTON") {
      this.toggle();
      return true;
    }
    if (target === this.slider || (key.startsWith("Arrow") && isIn(this.table.box)))
      if (key !== "," && key !== ".") return false; // its own keys
    const step = stepBy(key, this.step, this.last);
    if (step !== null) this.go(step);
    return step !== null;
  }

  // ---- a node -----------------------------------------------------------------------------------

  /** The node that is lit: the one that is pointed at, or else the one taken last. */
  get now() {
    return this.chosen ?? nodeOf(this.data, this.data.steps[this.step]);
  }

  walkMask(key) {
    return this.reach(rowBeside(key, this.now, this.data.sees.length));
  }

  walkTree(key) {
    const { positions } = this.tree.tree;
    const rows = this.data.nodes.map(({ parent }, node) => ({ node, parent }));
    const next = neighbour(key, rows[this.now], rows, positions);
    return next ? this.reach(next.node) : true;
  }

  reach(node) {
    this.choose(node);
    this.live.textContent = this.seen.textContent;
    return true;
  }

  /** Light a node's row in the mask and what it sees in the tree; null lets go. */
  choose(node) {
    if (node === this.chosen) return true;
    this.chosen = node;
    this.light();
    return true;
  }

  pick(node) {
    if (node === null) return false;
    this.choose(node);
    this.on.pick?.(node);
    return true;
  }

  // ---- showing ----------------------------------------------------------------------------------

  show(step) {
    this.step = step;
    const { slider, budget, where, data } = this;
    const shown = data.steps[step];
    this.sentence.textContent = shown.sentence;
    slider.value = step;
    slider.setAttribute("aria-valuetext", `step ${step} of ${this.last}: ${shown.sentence}`);
    budget.value = shown.taken;
    where.textContent = `budget: ${shown.taken} of ${data.budget} nodes`;
    this.table.show(shown);
    this.light();
    this.on.step?.(step, this.last);
  }

  light() {
    const { data, now } = this;
    const step = data.steps[this.step];
    const frontier = frontierOf(data, step);
    const state = { taken: step.taken, now, lit: data.sees[now], frontier };
    this.tree.draw(state);
    this.mask.draw(state);
    this.seen.textContent = data.seen[now];
  }

  /** Draw all of it for the page as it is now. */
  draw() {
    this.tree.place();
    this.show(this.step);
  }
}
