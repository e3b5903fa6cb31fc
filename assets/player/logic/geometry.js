// A figure's geometry in pixels, for what the page itself draws and places: axes, lines, marks.

const between = (value, [low, high], from, to) =>
  from + ((value - low) / (high - low)) * (to - from);

/** The function from a figure's (x, y) to pixels [left, top] of a box of `width` × `height`. */
export function projection({ xaxis, yaxis }, { width, height }, { l, r, t, b }) {
  return (x, y) => [between(x, xaxis.range, l, width - r), between(y, yaxis.range, height - b, t)];
}

/** The unbroken lines of a trace, each a list of points [x, y]; null breaks them. */
export function linesOf({ x, y }) {
  const lines = [[]];
  for (const [i, value] of x.entries())
    if (value === null) lines.push([]);
    else lines.at(-1).push([value, y[i]]);
  return lines.filter((line) => line.length > 1);
}

/** Lengths of a line's dashes and gaps in pixels: "dot" or, as Python writes them, "6px,3px". */
export const dashOf = ({ dash = "" }) =>
  dash === "dot" ? [3, 3] : (dash.match(/[\d.]+/g) ?? []).map(Number);

/** The five points of a star and the five between them. */
function star(radius) {
  const corners = Array.from({ length: 10 }, (_, i) => {
    const [length, angle] = [radius * (i % 2 ? 0.53 : 1.4), (i * Math.PI) / 5];
    return `${length * Math.sin(angle)},${-length * Math.cos(angle)}`;
  });
  return `M${corners.join("L")}Z`;
}

const OUTLINES = {
  circle: (r) => `M${r},0A${r},${r} 0 1,1 0,${-r}A${r},${r} 0 0,1 ${r},0Z`,
  diamond: (r) => `M${1.3 * r},0L0,${-1.3 * r}L${-1.3 * r},0L0,${1.3 * r}Z`,
  square: (r) => `M${r},${r}H${-r}V${-r}H${r}Z`,
  "x-thin": (r) => `M${r},${r}L${-r},${-r}M${r},${-r}L${-r},${r}`,
  star,
};

/** The outline of Plotly's mark `symbol` around (0, 0) as an SVG path, and whether it is hollow. */
export function markOf(symbol, size) {
  const outline = OUTLINES[symbol.replace("-open", "")];
  if (!outline) throw new Error(`no outline for the mark ${symbol}`);
  return { path: outline(size / 2), isHollow: symbol.endsWith("-open") };
}

const ALIGNED = { left: "right", center: "center", right: "left" };
const SHIFTED = { left: -6, center: 0, right: 6, top: -8, middle: 4, bottom: 16 }; // pixels

/** How a text stands beside its mark, as Plotly's `textposition` ("top right") has it. */
export function textBeside(position) {
  const [vertical, side] = position.split(" ");
  return { align: ALIGNED[side], dx: SHIFTED[side], dy: SHIFTED[vertical] };
}
