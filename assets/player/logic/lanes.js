// Lanes side by side are locked by position: an output token, counted from 1.

/** Index of the round that emitted output token `position`, or of the last one before it. */
export function roundAt(ends, position) {
  const found = ends.findIndex((end) => end >= position);
  return found < 0 ? ends.length - 1 : found;
}

/** The last token of the longest lane, at least 1. */
export const lastPosition = (lanes) => Math.max(1, ...lanes.map(({ ends }) => ends.at(-1) ?? 0));

/**
 * A lane as Python sends it, { head: json, rounds: [json, …], alternatives: json }; `known` is what
 * was read of it before, whose rounds are not parsed again. `ends`: tokens of the lane after each
 * round; `committed`: of each round, which in a replayed lane (with a `mark`) lead nowhere: its
 * next round starts where the run's own does.
 */
export function readLane({ head, rounds, alternatives }, known) {
  const read = { units: [], ends: [], seconds: [], trees: [], committed: [], ...known };
  for (const json of rounds.slice(read.ends.length)) {
    const { units, end, seconds, tree, words, committed } = JSON.parse(json);
    read.committed.push(committed ?? end - (read.ends.at(-1) ?? 0));
    read.units.push(units);
    read.ends.push(end);
    read.seconds.push(seconds);
    read.trees.push({ tree, words });
  }
  return { ...read, ...JSON.parse(head), alternatives: JSON.parse(alternatives) };
}

/**
 * A copy of the clock's `figure` with the points of `lanes`, each with its flag at its last one:
 * trace and annotation `i` are those of lane `i`. Replayed lanes, behind the others, took no time.
 */
export function withLanes({ data, layout }, all) {
  const lanes = all.filter(({ mark }) => !mark);
  if (!lanes.length) return { data, layout };
  const curves = lanes.map(({ ends, seconds }) => ({ x: [0, ...seconds], y: [0, ...ends] }));
  const flagAt = ({ x, y }) => ({ x: x.at(-1), y: y.at(-1) });
  const annotations = layout.annotations.map((flag, i) => ({ ...flag, ...flagAt(curves[i]) }));
  return {
    data: data.map((trace, i) => ({ ...trace, ...curves[i] })),
    layout: { ...layout, annotations },
  };
}
