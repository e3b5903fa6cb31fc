// Lanes side by side, locked by position in the text: every lane shows the round that emitted the
// chosen token. value = { key, head, lanes, clock }, see ui/compare_payload.py.

import { draw, themed } from "./charts.js";
import { follow, mountWithCharts, onPageChange, partsIn } from "./component.js";
import { make, makeFact, scrollToCurrent, showState } from "./dom.js";
import { disagreement } from "./logic/differences.js";
import { RunGuard } from "./logic/guard.js";
import { lastPosition, readLane, roundAt, withLanes } from "./logic/lanes.js";
import { SmallTrees } from "./small_trees.js";
import { makeChip } from "./text.js";
import { Veil } from "./veil.js";

const FACTS = ["scorer", "draft", "τ", "tokens/s", "over the first lane", "text"];
const CLOCK_LABEL = "Tokens committed over seconds, one line per lane.";

/** The text of a lane up to and with round `current`, that round marked; of a replay only that. */
function laneText({ units, mark }, current) {
  const box = make("div", undefined, "text");
  box.dir = "auto";
  for (let i = mark ? Math.max(0, current) : 0; i <= current; i++)
    box.append(...units[i].map(([text, kind]) => makeChip(text, kind, i, current)));
  return box;
}

/** What each scorer would have committed at this round's state, the lane's own marked. */
function alternativesOf(alternatives) {
  const box = make("p", undefined, "remark alternatives");
  if (!alternatives.length) return box;
  box.append("At this very state: ");
  alternatives.forEach(([name, committed, isOwn], i) => {
    box.append(i ? " · " : "", make(isOwn ? "b" : "span", `${name} ${committed}`));
  });
  return box;
}

/** One lane's panel at output token `position`; its tree joins `small`. */
function lanePanel(lane, position, small) {
  const { name, ends, cells, alternatives } = lane;
  const current = roundAt(ends, position);
  const panel = make("section", undefined, "panel lane");
  panel.setAttribute("aria-label", name);
  const committed = `${lane.mark ? "would commit" : "committed"} ${lane.committed[current]}`;
  const place =
    current < 0 ? "no round yet" : `round ${current + 1} of ${ends.length} ${committed}`;
  const title = make("h3", name);
  title.append(make("small", place));
  const facts = make("dl", undefined, "facts");
  for (const fact of FACTS) if (cells[fact]) facts.append(makeFact(fact, cells[fact]));
  const { tree, words } = lane.trees[current] ?? {};
  const picture = tree ? small.add(tree, words) : [make("div"), make("p")];
  const others = alternativesOf(alternatives[current] ?? []);
  panel.append(title, laneText(lane, current), ...picture, facts, others);
  return panel;
}

class Compare {
  constructor({ element, props, watch }) {
    const { root, part } = partsIn(element);
    this.part = part;
    this.position = 1; // output token that all lanes are locked to
    this.lanes = [];
    this.small = new SmallTrees();
    this.guard = new RunGuard();
    this.veil = new Veil(part);
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-do]");
      if (button) this.jump(button.dataset.do);
    });
    part.slider.addEventListener("input", () => this.go(Number(part.slider.value)));
    onPageChange(root, () => {
      this.drawClock();
      if (this.head) this.small.draw(this.head);
    });
    follow({ props, watch }, (value) => this.receive(value));
  }

  /** Take the newest value; the lanes of another comparison start at their first token. */
  receive(value) {
    if (!value?.head) return;
    const head = JSON.parse(value.head);
    const isEmpty = head.state === "running" && !value.lanes.length;
    const message = this.guard.admit(value.key, head.badge, isEmpty);
    if (message === "late") return;
    if (message === "awaited") return this.veil.show(head.message);
    this.veil.lift();
    const isReplay = head.badge === "replayed"; // of what is on screen, whose place is kept
    if (message === "other")
      Object.assign(this, { position: isReplay ? this.position : 1, lanes: [] });
    this.head = head;
    this.lanes = value.lanes.map((lane, i) => readLane(lane, this.lanes[i]));
    this.clock = withLanes(JSON.parse(value.clock), this.lanes);
    showState(this.part, head);
    if (head.state === "running") this.position = this.last;
    this.position = Math.min(this.position, this.last);
    this.show();
    this.drawClock();
  }

  get last() {
    return lastPosition(this.lanes);
  }

  show() {
    const { slider, where, lanes } = this.part;
    slider.max = this.last;
    slider.value = this.position;
    slider.setAttribute("aria-valuetext", `output token ${this.position} of ${this.last}`);
    where.textContent = `token ${this.position} / ${this.last}`;
    this.small.clear();
    lanes.replaceChildren(...this.lanes.map((lane) => lanePanel(lane, this.position, this.small)));
    this.small.draw(this.head);
    for (const box of lanes.querySelectorAll(".text")) scrollToCurrent(box);
  }

  go(position) {
    this.position = Math.max(1, Math.min(position, this.last));
    this.show();
    const places = this.lanes.map(
      ({ name, ends }) => `${name} round ${roundAt(ends, this.position) + 1}`,
    );
    this.part.live.textContent = `Token ${this.position}: ${places.join(", ")}.`;
  }

  /** Go to the next ("later") or previous ("earlier") disagreement of the drafting lanes. */
  jump(direction) {
    const step = direction === "later" ? 1 : -1;
    const position = disagreement(this.head.differences, this.position, step);
    if (position) return this.go(position);
    this.part.live.textContent = this.part.where.textContent = "no further disagreement";
  }

  drawClock() {
    const box = this.part.clock;
    if (!this.clock || !box.clientWidth) return; // the tab is not open
    draw(box, themed(this.clock, this.head.dark), CLOCK_LABEL);
  }
}

/** Start the comparison in `element` of a gr.HTML component. */
export const mount = mountWithCharts(Compare);
