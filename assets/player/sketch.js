// The same figure as a still SVG, which costs a tenth of Plotly's: shown at once at every step and while Plotly loads.

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = {
  circle: (r) => `M${r},0A${r},${r} 0 1,1 0,${-r}A${r},${r} 0 0,1 ${r},0Z`,
  diamond: (r) => `M${1.3 * r},0L0,${-1.3 * r}L${-1.3 * r},0L0,${1.3 * r}Z`,
  square: (r) => `M${r},${r}H${-r}V${-r}H${r}Z`,
  "x-thin": (r) => `M${r},${r}L${-r},${-r}M${r},${-r}L${-r},${r}`,
  star: (r) => `M${[...Array(10).keys()].map((i) => spoke(i, i % 2 ? r * 0.53 : r * 1.4)).join("L")}Z`,
};
const spoke = (i, r) => `${r * Math.sin((i * Math.PI) / 5)},${-r * Math.cos((i * Math.PI) / 5)}`;

function add(parent, tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent.append(element);
  return element;
}

/** A trace's lines as one path; null breaks it. */
function drawLine(svg, { x, y, line, opacity = 1 }, at) {
  let pen = "M", d = "";
  x.forEach((value, i) => {
    if (value === null) pen = "M";
    else {
      d += pen + at(value, y[i]);
      pen = "L";
    }
  });
  const dash = line.dash === "dot" ? "3,3" : (line.dash ?? "none").replaceAll("px", "");
  add(svg, "path", { d, fill: "none", stroke: line.color, "stroke-width": line.width, "stroke-dasharray": dash, opacity });
}

function drawMarks(svg, { x, y, marker, opacity = 1 }, at) {
  const open = marker.symbol.endsWith("-open"), shape = SHAPES[marker.symbol.replace("-open", "")] ?? SHAPES.square;
  const paint = { fill: open ? "none" : marker.color, stroke: marker.color, "stroke-width": marker.line?.width ?? 1, opacity };
  x.forEach((value, i) => {
    const size = Array.isArray(marker.size) ? marker.size[i] : marker.size;
    add(svg, "path", { d: shape(size / 2), transform: `translate(${at(value, y[i])})`, ...paint });
  });
}

const ANCHORS = { left: "end", center: "middle", right: "start" };
const OFFSETS = { left: -6, center: 0, right: 6, top: -8, middle: 4, bottom: 16 }; // as Plotly's, in pixels

/** The labels that labels.js placed. */
function drawLabels(svg, { x, y, meta, textposition, textfont }, at) {
  const words = add(svg, "g", { "font-family": textfont.family, "font-size": textfont.size });
  x.forEach((value, i) => {
    const [vertical, side] = textposition[i].split(" "), [left, top] = at(value, y[i]);
    const place = { x: left + OFFSETS[side], y: top + OFFSETS[vertical], "text-anchor": ANCHORS[side] };
    add(words, "text", { ...place, fill: textfont.color[i] }).textContent = meta[i];
  });
}

/** The depths: a number and a line across each. */
function drawDepths(svg, { xaxis, yaxis }, at, margin, down) {
  const axis = down ? yaxis : xaxis, { family = "inherit", size, color } = axis.tickfont;
  const words = add(svg, "g", { "font-family": family, "font-size": size, fill: color, "text-anchor": down ? "end" : "middle" });
  axis.tickvals.forEach((value, i) => {
    const [x, y] = down ? [margin.l, at(0, value)[1]] : [at(value, 0)[0], margin.t];
    add(svg, "path", { d: `M${x},${y}${down ? "H" : "V"}9999`, stroke: axis.gridcolor });
    add(words, "text", down ? { x: x - 4, y: y + 4 } : { x, y: y - 5 }).textContent = axis.ticktext[i];
  });
}

/** Draw lines, marks and labels of a tree's `figure` in `box`; `down`: its root is on top. */
export function sketch(box, figure, down) {
  const { xaxis, yaxis, margin } = figure.layout, width = box.clientWidth, height = box.clientHeight;
  const place = (value, [low, high], from, to) => from + ((value - low) / (high - low)) * (to - from);
  const at = (x, y) => [place(x, xaxis.range, margin.l, width - margin.r), place(y, yaxis.range, height - margin.b, margin.t)];
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  drawDepths(svg, figure.layout, at, margin, down);
  for (const trace of figure.data) {
    if (trace.mode.includes("lines")) drawLine(svg, trace, at);
    if (trace.marker?.symbol) drawMarks(svg, trace, at);
    if (trace.meta) drawLabels(svg, trace, at);
  }
  box.replaceChildren(svg);
}
