// The timeline of the player: a bar per round behind a slider, whose mark is the round on screen.

import { isDark } from "./charts.js";
import { disagreement } from "./logic/differences.js";
import { barSentence, disagreements, markWidth, placeBars } from "./logic/timeline.js";

const GAPPED = 5; // pixels of a round from which on it stands apart from its neighbours
const SPLIT = 7; // pixels of a token from which on it stands apart from the next
const HOLLOW = 3; // pixels of a bonus token from which on it has an inside
const STEPS = { earlier: -1, later: 1 };

const colour = (style, name) => style.getPropertyValue(`--${name}`).trim();

/** A part of a bar: exact tokens as a slim foot, accepted ones filled, the bonus hollow. */
function drawPart(context, { kind, top, height, count }, left, width) {
  if (width < GAPPED) return context.fillRect(left, top, width, height);
  if (kind === "bonus" && height >= HOLLOW)
    return context.strokeRect(left + 0.75, top + 0.75, width - 1.5, height - 1.5);
  const inset = kind === "exact" ? width / 4 : 0;
  const each = height / count;
  const gap = each < SPLIT ? 0 : 1;
  for (let i = 0; i < count; i++)
    context.fillRect(left + inset, top + i * each + gap, width - 2 * inset, each - gap);
}

/** A triangle at the foot of a round that parts from the blind tree: up where it commits more. */
function drawParting(context, { left, width, part }, height) {
  const size = Math.max(2, Math.min(width, 8));
  const [from, middle, base] = [left + (width - size) / 2, left + width / 2, height - 1];
  const [flat, tip] = part > 0 ? [base, base - 6] : [base - 6, base];
  context.beginPath();
  context.moveTo(from, flat);
  context.lineTo(from + size, flat);
  context.lineTo(middle, tip);
  context.fill();
}

export class Timeline {
  /** `part`: the elements timeline, bars (a canvas), slider, counts and where. */
  constructor(part, buttonOf) {
    Object.assign(this, { part, buttonOf });
    this.run = { bars: [], blind: [] };
    this.drawn = ""; // the state of the page that is drawn
    this.differing = [];
  }

  /** The bars of the run on screen, as far as it has come. */
  offer(run) {
    this.run = run;
    this.differing = disagreements(run.bars, run.blind);
    this.drawn = "";
    this.part.timeline.style.setProperty("--rounds", run.bars.length);
  }

  /** The next ("later") or previous ("earlier") round where the scores disagree, from 0. */
  differs(index, direction) {
    const place = disagreement(this.differing, index + 1, STEPS[direction]);
    return place === undefined ? null : place - 1;
  }

  /** Which of `count` rounds is on screen. */
  show(index, count) {
    const { part, run } = this;
    this.draw();
    const last = Math.max(count, 1);
    const words = barSentence(run, index);
    part.slider.max = last;
    part.slider.value = index + 1;
    const spoken = `round ${index + 1} of ${last}${words && `: ${words}`}`;
    part.slider.setAttribute("aria-valuetext", spoken);
    part.where.textContent = count ? `round ${index + 1} / ${count}` : "no round yet";
    part.counts.textContent = words;
    for (const name of Object.keys(STEPS)) {
      const isAbsent = this.differs(index, name) === null;
      this.buttonOf(name).setAttribute("aria-disabled", String(isAbsent));
    }
  }

  /** Draw the bars, unless they are drawn as the page is now. */
  draw() {
    const { bars, slider } = this.part;
    const size = { width: bars.clientWidth, height: bars.clientHeight };
    const page = [isDark(), size.width, size.height].join();
    if (page === this.drawn || !size.width) return;
    this.drawn = page;
    slider.style.setProperty("--mark", `${markWidth(this.run.bars.length, size.width)}px`);
    this.paint(bars, size);
  }

  paint(canvas, size) {
    const scale = window.devicePixelRatio;
    Object.assign(canvas, { width: size.width * scale, height: size.height * scale });
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    context.scale(scale, scale);
    context.lineWidth = 1.5;
    for (const round of placeBars(this.run, size)) this.paintRound(context, round, size, style);
  }

  paintRound(context, round, size, style) {
    const gap = round.width < GAPPED ? 0 : 1;
    const [left, width] = [round.left + gap, round.width - 2 * gap];
    for (const part of round.parts) {
      if (!part.count) continue;
      context.fillStyle = context.strokeStyle = colour(style, part.kind);
      drawPart(context, part, left, width);
    }
    if (round.tick === null) return;
    context.fillStyle = colour(style, "panel");
    if (gap) context.fillRect(left - 1, round.tick - 2, width + 2, 4);
    context.fillStyle = colour(style, "ink");
    context.fillRect(left - gap, round.tick - 1, width + 2 * gap, 2);
    if (!round.part) return;
    context.fillStyle = colour(style, "pin");
    drawParting(context, round, size.height);
  }
}
