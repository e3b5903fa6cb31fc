// Drawing with Plotly: loads the script from our own server, recolours figures for the dark page, steps in place.

import { make } from "./dom.js";

const CONFIG = {
  displaylogo: false,
  responsive: false, // the player redraws on resize itself: labels must be fitted anew
  scrollZoom: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "zoom2d", "pan2d", "autoScale2d"],
};

let loading = null;

async function load(href) {
  document.head.append(Object.assign(make("link"), { rel: "preload", as: "script", href }));
  await painted(); // running the script keeps the page busy for a while
  const script = make("script");
  return new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error("the chart library did not load")));
    document.head.append(Object.assign(script, { src: href }));
  });
}

/** Resolves when the global Plotly is here. */
export function loadPlotly(url) {
  loading ??= load(url);
  return loading;
}

/** Resolves when the frame with what was changed so far is past; in a hidden tab, which paints nothing, soon. */
export const painted = () =>
  new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, 200);
  });

export const isDark = () => document.body.classList.contains("dark");
export const isNarrow = () => window.matchMedia("(max-width: 640px)").matches;

/** Replace every colour of the light palette in `part` by its dark partner, in place. */
function recolour(part, dark, inScale = false) {
  for (const [key, value] of Object.entries(part)) {
    if (typeof value === "string" && (inScale || /color$/i.test(key)))
      part[key] = dark[value] ?? value;
    else if (value && typeof value === "object" && key !== "customdata" && key !== "text")
      recolour(value, dark, inScale || key === "colorscale");
  }
}

/** How much larger letters are than the figures say: more for an audience in front of a projector. */
export const textScale = () => (document.body.classList.contains("projector") ? 1.4 : 1);

/** Make every letter and line of `part` larger, in place. */
function enlarge(part, scale) {
  for (const [key, value] of Object.entries(part)) {
    if (!value || typeof value !== "object" || key === "customdata" || key === "text") continue;
    if (/font$/.test(key) && value.size) value.size *= scale;
    if (key === "line" && value.width) value.width *= scale;
    enlarge(value, scale);
  }
}

/** A copy of `figure` in the page's theme. `figure` itself is the cached original and stays as it came. */
export function themed(figure, dark) {
  const copy = structuredClone(figure),
    scale = textScale();
  if (isDark()) recolour(copy, dark);
  if (scale !== 1) enlarge(copy, scale);
  return copy;
}

/** Turn a left-to-right tree so that its root is on top: (x, y) becomes (-y, -x). */
export function topDown(figure) {
  const minus = (values) => values.map((value) => (value === null ? null : -value));
  for (const trace of figure.data)
    [trace.x, trace.y] = [minus(trace.y ?? []), minus(trace.x ?? [])];
  const { xaxis: along, yaxis: across } = figure.layout;
  const flip = (axis) => ({ ...axis, range: [-axis.range[1], -axis.range[0]] });
  figure.layout.xaxis = flip(across);
  figure.layout.yaxis = { ...flip(along), tickvals: minus(along.tickvals), side: "left" };
  return figure;
}

/** Draw or update `figure` in `box`; the first call also hands clicks and hovers to `on`. */
export function draw(box, figure, label, on = {}) {
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const size = { width: box.clientWidth, height: box.clientHeight };
  const layout = { ...figure.layout, ...size, modebar: { bgcolor: "rgba(0,0,0,0)" } };
  if (touch || !layout.dragmode) layout.dragmode = false; // a finger scrolls the page
  const fresh = !box.classList.contains("js-plotly-plot");
  if (fresh) box.replaceChildren();
  const displayModeBar = layout.dragmode ? "hover" : false;
  window.Plotly.react(box, figure.data, layout, { ...CONFIG, displayModeBar });
  box.setAttribute("aria-label", label);
  if (fresh) for (const [event, handler] of Object.entries(on)) box.on(event, handler);
}

/** Where each node stands: id -> [x, y]. */
export function places(figure) {
  const found = new Map();
  for (const trace of figure.data)
    for (const [i, id] of (trace.ids ?? []).entries())
      found.set(Number(id), [trace.x[i], trace.y[i]]);
  return found;
}

const LEAST = 5,
  SPAN = 9; // pixels of the last node's mark, and what the first has more

/** Mark sizes of a trace's drafted nodes by their rank under `score`; null for a trace that has none. */
function sizes(trace, byId, score) {
  const rows = (trace.ids ?? []).map((id) => byId.get(Number(id)));
  if (!rows.length || rows.some((row) => !row?.[`${score}_rank`])) return null;
  const last = Math.max(byId.size - 2, 1);
  return rows.map((row) => LEAST + SPAN * (1 - (row[`${score}_rank`] - 1) / last) ** 2);
}

/** Let the size of every drafted node's mark tell its rank under `score`, "aligned" or "blind". */
export function sizeByRank(figure, byId, score) {
  for (const trace of figure.data) {
    const marks = sizes(trace, byId, score);
    if (marks) trace.marker = { ...trace.marker, size: marks, opacity: 1 }; // Plotly fades marks of several sizes
  }
}

/** Move the marks to their sizes under `score`; resolves when they have arrived. */
export function animateSizes(box, byId, score) {
  if (!window.Plotly || window.matchMedia("(prefers-reduced-motion: reduce)").matches)
    return Promise.resolve();
  const moved = box.data
    .map((trace, i) => [i, sizes(trace, byId, score)])
    .filter(([, marks]) => marks);
  const data = moved.map(([, size]) => ({ marker: { size } }));
  const time = { duration: 350, easing: "cubic-in-out" };
  return window.Plotly.animate(
    box,
    { data, traces: moved.map(([i]) => i) },
    { transition: time, frame: { duration: 350, redraw: false } },
  );
}

/** Rings around nodes that the blind tree of the same budget does not have. */
export function onlyTrace(nodes, where, colour) {
  const points = nodes.map((node) => where.get(node)).filter(Boolean);
  return {
    x: points.map(([x]) => x),
    y: points.map(([, y]) => y),
    mode: "markers",
    marker: { symbol: "diamond-open", size: 15, color: colour, line: { width: 1, color: colour } },
    opacity: 0.5,
    hoverinfo: "skip",
    showlegend: false,
  };
}

/** An empty figure with a sentence. */
export function nothing(text) {
  const hidden = { visible: false };
  const remark = {
    text,
    showarrow: false,
    xref: "paper",
    yref: "paper",
    x: 0.5,
    y: 0.5,
    font: { size: 13 },
  };
  const clear = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" };
  return { data: [], layout: { ...clear, xaxis: hidden, yaxis: hidden, annotations: [remark] } };
}

/** The two traces that light a path: a broad line under it and a ring around its last node. */
export function pathTraces(path, where, fan, colour) {
  const x = [],
    y = [];
  path.forEach((node, i) => {
    const [x1, y1] = where.get(node);
    if (i) {
      const [x0, y0] = where.get(path[i - 1]);
      const down = isNarrow();
      x.push(down ? x0 : x0 + fan);
      y.push(down ? y0 - fan : y0);
    }
    x.push(x1);
    y.push(y1);
  });
  const end = path.length ? where.get(path.at(-1)) : null;
  const quiet = { hoverinfo: "skip", showlegend: false };
  return [
    { ...quiet, x, y, mode: "lines", line: { color: colour, width: 10 }, opacity: 0.25 },
    {
      ...quiet,
      x: end ? [end[0]] : [],
      y: end ? [end[1]] : [],
      mode: "markers",
      marker: {
        symbol: "circle-open",
        size: 20,
        color: colour,
        line: { width: 2.5, color: colour },
      },
    },
  ];
}
