// The run at a glance: a bar per round, as high as the tokens it committed, each part by how they
// came. `bars`: [exact, accepted, bonus] of every round; `blind`: tokens that the blind tree would
// have committed at its state, null where nothing was drafted, none before the run is over.

export const KINDS = ["exact", "accepted", "bonus"]; // of a bar's parts, from below
const NARROWEST = 7; // pixels of the mark of the round on screen
const WIDEST = 60; // pixels of a round
const FOOT = 9; // pixels below the bars, for the marks of disagreements
const HEAD = 4; // pixels above the highest bar

const sum = (bar) => bar.reduce((total, count) => total + count, 0);

/** Rounds, from 0, that commit another number of tokens than the blind tree would have. */
export const disagreements = (bars, blind) =>
  bars.flatMap((bar, i) => ((blind[i] ?? null) !== null && blind[i] !== sum(bar) ? [i] : []));

/** The mark's width: a round's own where there is space, as a slider's mark has it. */
export const markWidth = (count, width) =>
  Math.max(NARROWEST, Math.min(WIDEST, width / Math.max(count, 1)));

/**
 * Where everything stands on a timeline of `width` × `height` pixels: per round its `left` edge,
 * `width`, the `parts` of its bar ({ kind, top, height, count }), the `tick` of the blind tree
 * (null where unknown) and the direction in which the two `part`. The middle of a round is where a
 * slider with a mark of `markWidth` puts it.
 */
export function placeBars({ bars, blind }, { width, height }) {
  const mark = markWidth(bars.length, width);
  const pitch = bars.length > 1 ? (width - mark) / (bars.length - 1) : mark;
  const most = Math.max(1, ...bars.map(sum), ...blind);
  const unit = (height - FOOT - HEAD) / most;
  const floor = height - FOOT;
  const size = Math.min(pitch, WIDEST);
  return bars.map((bar, i) => {
    const known = blind[i] ?? null;
    let top = floor;
    const parts = bar.map((count, place) => {
      top -= count * unit;
      return { kind: KINDS[place], top, height: count * unit, count };
    });
    const left = mark / 2 + i * pitch - size / 2;
    const tick = known === null ? null : floor - known * unit;
    return { left, width: size, parts, tick, part: known === null ? 0 : sum(bar) - known };
  });
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** What round `i` committed, in words: "6 tokens: 1 exact, 4 accepted, 1 bonus; blind tree 4". */
export function barSentence({ bars, blind }, i) {
  const bar = bars[i];
  if (!bar) return "";
  const parts = KINDS.flatMap((kind, place) => (bar[place] ? [`${bar[place]} ${kind}`] : []));
  const known = blind[i] ?? null;
  const other = known === null ? "" : `; blind tree ${known}`;
  return `${plural(sum(bar), "token")}: ${parts.join(", ") || "none"}${other}`;
}
