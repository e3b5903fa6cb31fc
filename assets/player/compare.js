// Lanes side by side, locked by position in the text: every lane shows the round that emitted the chosen token.
//
// value = { key, head, lanes: [json, …], clock }: see viz/lanes.py.

import { make, partsOf, showState } from "./dom.js";
import { draw, loadPlotly, themed } from "./plots.js";

const FACTS = ["scorer", "τ", "tokens/s", "over the first lane", "text"];

/** Index of the round that emitted output token `position` (from 1), or the last one before it. */
function roundAt(ends, position) {
  const found = ends.findIndex((end) => end >= position);
  return found < 0 ? ends.length - 1 : found;
}

/** The text of a lane up to and with round `current`, that round marked. */
function text(lane, current) {
  const box = make("div", undefined, "text");
  box.dir = "auto";
  for (let i = 0; i <= current; i++)
    for (const [unit, kind] of lane.rounds[i])
      box.append(
        make("span", unit, `chip ${kind}${i % 2 ? " odd" : ""}${i === current ? " now" : ""}`),
      );
  return box;
}

/** What each scorer would have committed at this round's state, the lane's own marked. */
function others(rivals) {
  const box = make("p", undefined, "remark rivals");
  if (!rivals.length) return box;
  box.append("At this very state: ");
  rivals.forEach(([name, committed, own], i) => {
    box.append(i ? " · " : "", make(own ? "b" : "span", `${name} ${committed}`));
  });
  return box;
}

/** One lane's panel at output token `position`. */
function panel(lane, position) {
  const current = roundAt(lane.ends, position),
    box = make("section", undefined, "panel lane");
  box.setAttribute("aria-label", lane.name);
  const size = current < 0 ? 0 : lane.ends[current] - (lane.ends[current - 1] ?? 0);
  const title = make("h3", lane.name);
  title.append(
    make(
      "small",
      current < 0
        ? "no round yet"
        : `round ${current + 1} of ${lane.ends.length} committed ${size}`,
    ),
  );
  const facts = make("dl", undefined, "facts");
  for (const name of FACTS) {
    if (!lane.cells[name]) continue;
    const fact = make("div", undefined, "fact");
    fact.append(make("dt", name), make("dd", lane.cells[name]));
    facts.append(fact);
  }
  box.append(title, text(lane, current), facts, others(lane.rivals[current] ?? []));
  return box;
}

class Compare {
  constructor({ element, props, watch }) {
    this.props = props;
    this.root = element.querySelector(".compare");
    this.part = partsOf(this.root);
    this.position = 1; // output token that all lanes are locked to
    this.past = new Set(); // keys of comparisons that were on screen before
    this.root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-do]");
      if (button) this.jump(button.dataset.do);
    });
    this.part.slider.addEventListener("input", () => this.go(Number(this.part.slider.value)));
    new ResizeObserver(() => this.drawClock()).observe(this.part.clock);
    new MutationObserver(() => this.drawClock()).observe(document.body, {
      attributeFilter: ["class"],
    });
    watch("value", () => this.refresh());
    this.refresh();
  }

  refresh() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.receive(this.props.value));
  }

  receive(value) {
    if (!value?.head) return;
    const head = JSON.parse(value.head);
    if (head.badge === "live" && this.past.has(value.key)) return; // a late message of a run that was replaced
    if (value.key !== this.key) {
      this.past.add(this.key);
      this.position = 1;
    }
    this.key = value.key;
    this.head = head;
    this.lanes = value.lanes.map((lane) => JSON.parse(lane));
    this.clock = JSON.parse(value.clock);
    showState(this.part, this.head);
    if (this.head.state === "running") this.position = this.last;
    this.show();
    this.drawClock();
  }

  get last() {
    return Math.max(1, ...this.lanes.map((lane) => lane.ends.at(-1) ?? 0));
  }

  show() {
    const { slider, where, lanes } = this.part;
    slider.max = this.last;
    slider.value = this.position;
    slider.setAttribute("aria-valuetext", `output token ${this.position} of ${this.last}`);
    where.textContent = `token ${this.position} / ${this.last}`;
    lanes.replaceChildren(...this.lanes.map((lane) => panel(lane, this.position)));
    for (const box of lanes.querySelectorAll(".text")) {
      const now = box.querySelector(".now");
      if (now) box.scrollTop = now.offsetTop - box.offsetTop - box.clientHeight / 2;
    }
  }

  go(position) {
    this.position = Math.max(1, Math.min(position, this.last));
    this.show();
    const words = this.lanes.map(
      (lane) => `${lane.name} round ${roundAt(lane.ends, this.position) + 1}`,
    );
    this.part.live.textContent = `Token ${this.position}: ${words.join(", ")}.`;
  }

  /** Go to the next or previous token with which a round begins in one drafting lane but not in another. */
  jump(direction) {
    const places = this.head.differences.map((place) => place + 1);
    const target =
      direction === "later"
        ? places.find((p) => p > this.position)
        : places.findLast((p) => p < this.position);
    if (target) return this.go(target);
    this.part.live.textContent = this.part.where.textContent = "no further disagreement";
  }

  drawClock() {
    const box = this.part.clock;
    if (!this.clock || !box.clientWidth) return; // the tab is not open
    draw(
      box,
      themed(this.clock, this.head.dark),
      "Tokens committed over seconds, one line per lane.",
    );
  }
}

/** Start the comparison in `element` of a gr.HTML component. */
export async function mount({ element, props, watch, served, plotly }) {
  await loadPlotly(served(plotly));
  return new Compare({ element, props, watch });
}
