// The tree before Plotly is here: the same figure as a still SVG, so that a visitor sees it while the library loads.

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = {
  circle: (r) => `M${r},0A${r},${r} 0 1,1 0,${-r}A${r},${r} 0 0,1 ${r},0Z`,
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
  const dash = { dot: "2,3", dash: "6,4" }[line.dash] ?? "none";
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

/** Draw the lines and marks of `figure`, whose axes are linear, in `box`. */
export function sketch(box, figure, label) {
  const { xaxis, yaxis, margin } = figure.layout, width = box.clientWidth, height = box.clientHeight;
  const place = (value, [low, high], from, to) => (from + ((value - low) / (high - low)) * (to - from)).toFixed(1);
  const at = (x, y) => [place(x, xaxis.range, margin.l, width - margin.r), place(y, yaxis.range, height - margin.b, margin.t)].join();
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "sketch");
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  for (const trace of figure.data) {
    if (trace.mode.includes("lines")) drawLine(svg, trace, at);
    if (trace.marker?.symbol) drawMarks(svg, trace, at);
  }
  box.replaceChildren(svg);
  box.setAttribute("aria-label", label);
}
