// Plotly figures as plain data: the page's theme, the tree turned upright, marks sized by rank.

const PLAIN = new Set(["customdata", "text"]); // values without colours, fonts and lines

/** Replace every colour of the light palette in `part` by its partner in `dark`, in place. */
function recolour(part, dark, isInScale = false) {
  for (const [key, value] of Object.entries(part)) {
    if (typeof value === "string" && (isInScale || /color$/i.test(key)))
      part[key] = dark[value] ?? value;
    else if (value && typeof value === "object" && !PLAIN.has(key))
      recolour(value, dark, isInScale || key === "colorscale");
  }
}

/** Make every letter and line of `part` larger, in place. */
function enlarge(part, scale) {
  for (const [key, value] of Object.entries(part)) {
    if (!value || typeof value !== "object" || PLAIN.has(key)) continue;
    if (/font$/.test(key) && value.size) value.size *= scale;
    if (key === "line" && value.width) value.width *= scale;
    enlarge(value, scale);
  }
}

/**
 * A copy of `figure` with the colours of `dark` (light colour -> dark one; null for the light page)
 * and letters and lines `scale` times as large.
 */
export function inTheme(figure, dark, scale) {
  const copy = structuredClone(figure);
  if (dark) recolour(copy, dark);
  if (scale !== 1) enlarge(copy, scale);
  return copy;
}

const negated = (values = []) => values.map((value) => (value === null ? null : -value));

/** Turn a left-to-right tree, in place, so that its root is on top: (x, y) becomes (-y, -x). */
export function turnUpright(figure) {
  for (const trace of figure.data) [trace.x, trace.y] = [negated(trace.y), negated(trace.x)];
  const { xaxis: along, yaxis: across } = figure.layout;
  const flipped = (axis) => ({ ...axis, range: [-axis.range[1], -axis.range[0]] });
  figure.layout.xaxis = flipped(across);
  figure.layout.yaxis = { ...flipped(along), tickvals: negated(along.tickvals), side: "left" };
}

/** Where each node stands: node -> [x, y]. */
export function positionsOf(figure) {
  const positions = new Map();
  for (const trace of figure.data)
    for (const [i, id] of (trace.ids ?? []).entries())
      positions.set(Number(id), [trace.x[i], trace.y[i]]);
  return positions;
}

const SMALLEST = 5; // pixels of the mark of the node that ranks last
const LARGER = 9; // how much larger the first one's is

/** Mark sizes of a trace's nodes by their rank under `score`; null unless all of them have one. */
export function sizesByRank(trace, byId, score) {
  const rankOf = (row) => row?.[`${score}_rank`];
  const ranks = (trace.ids ?? []).map((id) => rankOf(byId.get(Number(id))));
  if (!ranks.length || !ranks.every(Boolean)) return null;
  const last = [...byId.values()].filter(rankOf).length;
  const share = (rank) => 1 - (rank - 1) / Math.max(last - 1, 1); // the first's is 1, the last's 0
  return ranks.map((rank) => SMALLEST + LARGER * share(rank) ** 2);
}

/** Let the size of every drafted node's mark tell its rank under `score`, "aligned" or "blind". */
export function sizeByRank(figure, byId, score) {
  for (const trace of figure.data) {
    const size = sizesByRank(trace, byId, score);
    // Plotly fades marks of several sizes that have no opacity of their own.
    if (size) trace.marker = { ...trace.marker, size, opacity: 1 };
  }
}

/**
 * A copy of `figure` with `points`, which came one by one: point `i` stands at x = i + 1, and the
 * `meta` of a trace names the column of a point for each of its other properties.
 */
export function withPoints({ data, layout }, points) {
  const x = points.map((_, i) => i + 1);
  const filled = ({ meta, ...trace }) => {
    for (const [name, column] of Object.entries(meta))
      trace[name] = points.map((point) => point[column]);
    return { ...trace, x };
  };
  return { data: data.map(filled), layout };
}

/** An empty figure with a sentence. */
export function emptyFigure(text) {
  const hidden = { visible: false };
  const middle = { xref: "paper", yref: "paper", x: 0.5, y: 0.5 };
  const sentence = { text, showarrow: false, ...middle, font: { size: 13 } };
  const clear = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" };
  const layout = { ...clear, xaxis: hidden, yaxis: hidden, annotations: [sentence] };
  return { data: [], layout };
}
