// Everything the player shows: numbers, text, the three charts, table and card. Knows the page, not the playback.

import { partsOf, say, showState } from "./dom.js";
import { lightTable, showDetails, showTable } from "./nodes.js";
import { showNumbers, showStages } from "./numbers.js";
import { PHASES, showPhases } from "./phases.js";
import { draw, isDark, nothing, painted, textScale, themed } from "./plots.js";
import { lightText, showText } from "./text.js";
import { TreeView } from "./treeview.js";
import { VIEWS, listenTabs } from "./views.js";

const ABSENT = "Known when the run is over and its n-gram table is here.";
const REST = 250; // milliseconds after which the table follows: its many cells cost more than all charts
const HINT = "Select a node in the tree, the text or the table to see its numbers.";

export class View {
  /** `on`: what to do with a click on a node (`pin(node)`) or a point of the speed-up (`go(round)`), and at rest. */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.part = partsOf(root);
    this.tree = new TreeView(this.part, on.pin);
    this.chosen = "scores"; // tab of the score panel
    this.turn = 0; // counts what was shown
    this.lit = []; // the pinned path
    this.tabled = null; // the round that the table shows
    this.chooseView = listenTabs(root.querySelector(".scores-panel [role=tablist]"), (name) => {
      this.chosen = name;
      this.on.view(name);
      if (this.round) this.drawScores(this.round);
    });
  }

  button(name) {
    return this.root.querySelector(`[data-do="${name}"]`);
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
    showNumbers(part.numbers, head.numbers ?? []);
    showStages(part.stages, head.stages ?? []);
    part.honest.textContent = head.honest ?? "";
    part.place.textContent = [head.method, head.settings, head.place, head.ending]
      .filter(Boolean)
      .join(" · ");
  }

  /** Where we are: slider, counter, buttons. */
  showPlace(round, count) {
    const { slider, where } = this.part;
    const last = Math.max(count, 1),
      end = round >= count - 1;
    slider.max = last;
    slider.value = round + 1;
    slider.setAttribute("aria-valuetext", `round ${round + 1} of ${last}`);
    where.textContent = count ? `round ${round + 1} / ${count}` : "no round yet";
    this.root.classList.toggle("empty", !count);
    for (const [name, off] of Object.entries({
      first: round === 0,
      back: round === 0,
      next: end,
      last: end,
    }))
      this.button(name).setAttribute("aria-disabled", String(off));
  }

  showPlaying(on) {
    const button = this.button("play");
    button.textContent = on ? "Pause" : "Play";
    button.setAttribute("aria-label", on ? "Pause" : "Play");
    button.setAttribute("aria-pressed", String(on));
  }

  /** Everything of round `index`: `getRound(i)` gives any parsed round, `path` the pinned nodes from the root down. */
  showRound(getRound, index, head, speedup, path) {
    const round = getRound(index);
    this.head = head;
    this.round = round;
    this.part.sentence.textContent = round.sentence;
    showText(this.part.text, getRound, index);
    this.tree.phase = "commit";
    this.markPhase();
    this.tree.show(round, head, `Draft tree of round ${index + 1}. ${round.sentence}`, path);
    this.lightWords(round, index, path);
    this.fill(round, index, speedup);
  }

  /** What may come after the preview: the charts a frame later, the table when the reader stays; "drawing" until then. */
  async fill(round, index, speedup) {
    const { table } = this.part;
    this.turn += 1;
    const turn = this.turn,
      isPast = () => turn !== this.turn; // the reader has stepped on
    this.root.classList.add("drawing");
    await painted();
    if (isPast()) return;
    if (window.Plotly) {
      this.tree.draw();
      await painted();
      if (isPast()) return;
      this.drawScores(round);
      if (speedup) this.drawSpeedup(speedup, index);
    }
    await new Promise((resolve) => setTimeout(resolve, REST));
    if (isPast()) return;
    showTable(table, round.rows, `Nodes of round ${index + 1}`);
    lightTable(table, this.lit);
    this.tabled = round;
    this.root.classList.toggle("drawing", !window.Plotly);
    this.on.rest();
  }

  /** Whether the table's rows are those of the round on screen: it follows a little later. */
  get hasTable() {
    return this.tabled === this.round;
  }

  /** Show the round as it is after `phase`: tree, text, and the view of the scores that explains it. */
  showPhase(phase, path) {
    this.tree.showPhase(phase, path);
    this.markPhase();
    if (PHASES[phase]) this.chooseView(PHASES[phase]);
    this.announce(`After the phase “${phase}”.`);
  }

  /** Press the phase's button; what the round commits is faint until then. */
  markPhase() {
    showPhases(this.part.phases, this.round.phases, this.tree.phase);
    this.part.text.classList.toggle("ahead", this.tree.phase !== "commit");
  }

  /** Let the tree's marks tell the ranks under the other score. */
  rankBy(score, path) {
    for (const name of ["aligned", "blind"])
      this.button(`by-${name}`).setAttribute("aria-pressed", String(name === score));
    this.tree.rankBy(score, path);
    this.announce(`Node sizes show the ranks under the prefix-${score} score.`);
  }

  /** The chosen view of the round's scores. */
  drawScores(round) {
    if (!window.Plotly) return; // still loading: it will be drawn when all is shown again
    const { lead, label } = VIEWS[this.chosen],
      figure = round[this.chosen] ?? nothing(ABSENT);
    this.part.lead.textContent = lead;
    this.part.remark.textContent = round.remarks[this.chosen] ?? "";
    draw(
      this.part.scores,
      themed(figure, this.head.dark),
      `${label} ${this.part.remark.textContent}`,
      {
        plotly_click: (event) => {
          const node = parseInt(event.points[0].id, 10);
          if (!Number.isNaN(node)) this.on.pin(node);
        },
      },
    );
  }

  /** Draw the speed-up; when only the round changed, move its mark. */
  drawSpeedup(speedup, index) {
    if (!window.Plotly) return;
    const box = this.part.speedup,
      here = index + 1;
    const state = [isDark(), textScale(), box.clientWidth, box.clientHeight].join();
    if (speedup === this.drawnSpeedup?.speedup && state === this.drawnSpeedup.state) {
      window.Plotly.relayout(box, { "shapes[1].x0": here, "shapes[1].x1": here });
      return;
    }
    this.drawnSpeedup = { speedup, state };
    const figure = themed(speedup, this.head.dark);
    Object.assign(figure.layout.shapes[1], { x0: here, x1: here, visible: true });
    const versus = this.head.numbers.find(([name]) => name === "vs linear");
    const label = `Cumulative speed-up over linear drafting${versus ? `: ${versus[1]} over the whole run` : ""}`;
    draw(box, figure, label, { plotly_click: (event) => this.on.go(event.points[0].x - 1) });
  }

  /** Light the pinned path in tree, text, table and card; with an empty path, let go. */
  light(round, index, path) {
    this.tree.light(path);
    this.lightWords(round, index, path);
  }

  lightWords(round, index, path) {
    this.lit = path;
    lightText(this.part.text, path, round.byId, index);
    lightTable(this.part.table, path);
    showDetails(
      this.part.details,
      path.map((node) => round.byId.get(node)),
      this.head.lambda,
      HINT,
    );
  }
}
