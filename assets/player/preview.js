// The same figure as a still picture on a canvas, which costs a fraction of Plotly's: shown at once at every step and
// while Plotly loads. Nothing of it is an element, so that a step makes the browser lay out and style next to nothing.

const SHAPES = {
  circle: (r) => `M${r},0A${r},${r} 0 1,1 0,${-r}A${r},${r} 0 0,1 ${r},0Z`,
  diamond: (r) => `M${1.3 * r},0L0,${-1.3 * r}L${-1.3 * r},0L0,${1.3 * r}Z`,
  square: (r) => `M${r},${r}H${-r}V${-r}H${r}Z`,
  "x-thin": (r) => `M${r},${r}L${-r},${-r}M${r},${-r}L${-r},${r}`,
  star: (r) =>
    `M${[...Array(10).keys()].map((i) => spoke(i, i % 2 ? r * 0.53 : r * 1.4)).join("L")}Z`,
};
const spoke = (i, r) => `${r * Math.sin((i * Math.PI) / 5)},${-r * Math.cos((i * Math.PI) / 5)}`;
const DASHES = { dot: [3, 3] };

/** A trace's lines; null breaks them. */
function drawLine(pen, { x, y, line, opacity = 1 }, at) {
  pen.beginPath();
  x.forEach((value, i) => {
    if (value === null) return;
    if (i && x[i - 1] !== null) pen.lineTo(...at(value, y[i]));
    else pen.moveTo(...at(value, y[i]));
  });
  const dash = DASHES[line.dash] ?? (line.dash?.match(/[\d.]+/g) ?? []).map(Number);
  pen.setLineDash(dash);
  Object.assign(pen, { strokeStyle: line.color, lineWidth: line.width, globalAlpha: opacity });
  pen.stroke();
}

function drawMarks(pen, { x, y, marker, opacity = 1 }, at) {
  const isOpen = marker.symbol.endsWith("-open"),
    shape = SHAPES[marker.symbol.replace("-open", "")] ?? SHAPES.square;
  const paint = {
    fillStyle: marker.color,
    strokeStyle: marker.color,
    lineWidth: marker.line?.width ?? 1,
    globalAlpha: opacity,
  };
  Object.assign(pen, paint);
  pen.setLineDash([]);
  x.forEach((value, i) => {
    const size = Array.isArray(marker.size) ? marker.size[i] : marker.size,
      outline = new Path2D(shape(size / 2));
    const [left, top] = at(value, y[i]);
    pen.translate(left, top);
    if (!isOpen) pen.fill(outline);
    pen.stroke(outline);
    pen.translate(-left, -top);
  });
}

const ANCHORS = { left: "right", center: "center", right: "left" };
const OFFSETS = { left: -6, center: 0, right: 6, top: -8, middle: 4, bottom: 16 }; // as Plotly's, in pixels

/** The labels that labels.js placed, each with a rim of the paper's colour that keeps lines off it. */
function drawLabels(pen, { x, y, meta, textposition, textfont }, at, paper) {
  const rim = { strokeStyle: paper, lineWidth: 4, lineJoin: "round", globalAlpha: 1 };
  Object.assign(pen, rim, { font: `${textfont.size}px ${textfont.family}` });
  pen.setLineDash([]);
  x.forEach((value, i) => {
    const [vertical, side] = textposition[i].split(" "),
      [left, top] = at(value, y[i]);
    const place = [meta[i], left + OFFSETS[side], top + OFFSETS[vertical]];
    Object.assign(pen, { textAlign: ANCHORS[side], fillStyle: textfont.color[i] });
    pen.strokeText(...place);
    pen.fillText(...place);
  });
}

/** The depths: a number and a line across each. */
function drawDepths(pen, { xaxis, yaxis }, at, { margin, down, family, width, height }) {
  const axis = down ? yaxis : xaxis,
    { tickfont } = axis;
  const words = {
    font: `${tickfont.size}px ${tickfont.family ?? family}`,
    fillStyle: tickfont.color,
    textAlign: down ? "right" : "center",
  };
  Object.assign(pen, words, { strokeStyle: axis.gridcolor, lineWidth: 1 });
  pen.beginPath();
  axis.tickvals.forEach((value, i) => {
    const [x, y] = down ? [margin.l, at(0, value)[1]] : [at(value, 0)[0], margin.t];
    pen.moveTo(x, y);
    pen.lineTo(down ? width - margin.r : x, down ? y : height - margin.b);
    pen.fillText(axis.ticktext[i], down ? x - 4 : x, down ? y + 4 : y - 5);
  });
  pen.stroke();
}

/** A clean pen for the whole of `canvas`, in CSS pixels. */
function penOf(canvas, width, height) {
  const scale = window.devicePixelRatio;
  Object.assign(canvas, { width: width * scale, height: height * scale });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  return pen;
}

/** Draw lines, marks and labels of a tree's `figure` on `canvas`; `down`: its root is on top. */
export function preview(canvas, figure, down) {
  const { xaxis, yaxis, margin } = figure.layout,
    width = canvas.clientWidth,
    height = canvas.clientHeight;
  const { fontFamily: family, backgroundColor: paper } = getComputedStyle(canvas);
  const place = (value, [low, high], from, to) =>
    from + ((value - low) / (high - low)) * (to - from);
  const at = (x, y) => [
    place(x, xaxis.range, margin.l, width - margin.r),
    place(y, yaxis.range, height - margin.b, margin.t),
  ];
  const pen = penOf(canvas, width, height);
  drawDepths(pen, figure.layout, at, { margin, down, family, width, height });
  for (const trace of figure.data) {
    if (trace.mode.includes("lines")) drawLine(pen, trace, at);
    if (trace.marker?.symbol) drawMarks(pen, trace, at);
    if (trace.meta) drawLabels(pen, trace, at, paper);
  }
}
