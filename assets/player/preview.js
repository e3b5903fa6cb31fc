// A preview of the tree on a canvas, which costs a fraction of Plotly's chart: shown at once at
// every step and while Plotly loads. Nothing of it is an element, so that a step makes the browser
// lay out and style next to nothing.

import { dashOf, linesOf, markOf, projection, textBeside } from "./logic/geometry.js";

/** The lines of a trace. */
function drawLines(context, trace, toPixels) {
  const { line, opacity = 1 } = trace;
  context.beginPath();
  for (const [start, ...others] of linesOf(trace)) {
    context.moveTo(...toPixels(...start));
    for (const point of others) context.lineTo(...toPixels(...point));
  }
  context.setLineDash(dashOf(line));
  const style = { strokeStyle: line.color, lineWidth: line.width, globalAlpha: opacity };
  Object.assign(context, style);
  context.stroke();
}

/** The marks of a trace's nodes. */
function drawMarks(context, { x, y, marker, opacity = 1 }, toPixels) {
  const { symbol, color, size, line } = marker;
  const style = { fillStyle: color, strokeStyle: color, lineWidth: line?.width ?? 1 };
  Object.assign(context, style, { globalAlpha: opacity });
  context.setLineDash([]);
  x.forEach((value, i) => {
    const { path, isHollow } = markOf(symbol, Array.isArray(size) ? size[i] : size);
    const outline = new Path2D(path);
    const [left, top] = toPixels(value, y[i]);
    context.translate(left, top);
    if (!isHollow) context.fill(outline);
    context.stroke(outline);
    context.translate(-left, -top);
  });
}

/** The labels that were placed, each with a rim of the paper's colour that keeps lines off it. */
function drawLabels(context, { x, y, meta, textposition, textfont }, toPixels, paper) {
  const rim = { strokeStyle: paper, lineWidth: 4, lineJoin: "round", globalAlpha: 1 };
  Object.assign(context, rim, { font: `${textfont.size}px ${textfont.family}` });
  context.setLineDash([]);
  x.forEach((value, i) => {
    const { align, dx, dy } = textBeside(textposition[i]);
    const [left, top] = toPixels(value, y[i]);
    Object.assign(context, { textAlign: align, fillStyle: textfont.color[i] });
    context.strokeText(meta[i], left + dx, top + dy);
    context.fillText(meta[i], left + dx, top + dy);
  });
}

/** The depths: a number and a line across each. */
function drawDepths(context, { xaxis, yaxis, margin }, toPixels, { isUpright, family, size }) {
  const { tickfont, tickvals, ticktext, gridcolor } = isUpright ? yaxis : xaxis;
  const font = `${tickfont.size}px ${tickfont.family ?? family}`;
  Object.assign(context, { font, fillStyle: tickfont.color, strokeStyle: gridcolor });
  Object.assign(context, { textAlign: isUpright ? "right" : "center", lineWidth: 1 });
  context.beginPath();
  tickvals.forEach((value, i) => {
    const [x, y] = isUpright
      ? [margin.l, toPixels(0, value)[1]]
      : [toPixels(value, 0)[0], margin.t];
    context.moveTo(x, y);
    context.lineTo(isUpright ? size.width - margin.r : x, isUpright ? y : size.height - margin.b);
    context.fillText(ticktext[i], isUpright ? x - 4 : x, isUpright ? y + 4 : y - 5);
  });
  context.stroke();
}

/** The context of an empty `canvas`, in CSS pixels. */
function contextOf(canvas, { width, height }) {
  const scale = window.devicePixelRatio;
  Object.assign(canvas, { width: width * scale, height: height * scale });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return context;
}

/** Draw lines, marks and labels of a tree's `figure`; `isUpright`: its root is on top. */
export function drawPreview(canvas, figure, isUpright) {
  const size = { width: canvas.clientWidth, height: canvas.clientHeight };
  const { fontFamily: family, backgroundColor: paper } = getComputedStyle(canvas);
  const toPixels = projection(figure.layout, size, figure.layout.margin);
  const context = contextOf(canvas, size);
  drawDepths(context, figure.layout, toPixels, { isUpright, family, size });
  for (const trace of figure.data) {
    if (trace.mode.includes("lines")) drawLines(context, trace, toPixels);
    if (trace.marker?.symbol) drawMarks(context, trace, toPixels);
    if (trace.meta) drawLabels(context, trace, toPixels, paper);
  }
}
