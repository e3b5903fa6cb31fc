// Drawing with Plotly: loads its script from our own server, themes figures, updates them in place.

import { make } from "./dom.js";
import { inTheme, sizesByRank } from "./logic/figures.js";

const CONFIG = {
  displaylogo: false,
  responsive: false, // the player redraws on resize itself: labels must be fitted anew
  scrollZoom: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "zoom2d", "pan2d", "autoScale2d"],
};
const SOON = 200; // milliseconds
export const MOTION = 350; // milliseconds in which marks move to new sizes and places

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

/**
 * Resolves when the frame with what was changed so far is past. A hidden tab paints no frames:
 * there it resolves soon.
 */
export const painted = () =>
  new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, SOON);
  });

export const isDark = () => document.body.classList.contains("dark");
/** Whether nothing may move: the reader wants it so, or does not see the page. */
export const isStill = () =>
  document.hidden || window.matchMedia("(prefers-reduced-motion: reduce)").matches;
export const isNarrow = () => window.matchMedia("(max-width: 640px)").matches;

/** How much larger letters are than the figures say: more for an audience before a projector. */
export const textScale = () => (document.body.classList.contains("projector") ? 1.4 : 1);

/** A copy of `figure` in the page's theme; `dark`: the dark partner of every light colour. */
export const themed = (figure, dark) => inTheme(figure, isDark() ? dark : null, textScale());

/** Draw or update `figure` in `box`. The first call also connects `handlers`, by Plotly's event. */
export function draw(box, figure, label, handlers = {}) {
  const isTouched = window.matchMedia("(pointer: coarse)").matches;
  const size = { width: box.clientWidth, height: box.clientHeight };
  const layout = { ...figure.layout, ...size, modebar: { bgcolor: "rgba(0,0,0,0)" } };
  if (isTouched || !layout.dragmode) layout.dragmode = false; // a finger scrolls the page
  const isFresh = !box.classList.contains("js-plotly-plot");
  if (isFresh) box.replaceChildren();
  const displayModeBar = layout.dragmode ? "hover" : false;
  window.Plotly.react(box, figure.data, layout, { ...CONFIG, displayModeBar });
  box.setAttribute("aria-label", label);
  if (isFresh) for (const [event, handler] of Object.entries(handlers)) box.on(event, handler);
}

/** Move the marks to their sizes under `score`; resolves when they have arrived. */
export function animateSizes(box, byId, score) {
  if (!window.Plotly || isStill()) return Promise.resolve();
  const moved = box.data
    .map((trace, i) => ({ i, size: sizesByRank(trace, byId, score) }))
    .filter(({ size }) => size);
  const data = moved.map(({ size }) => ({ marker: { size } }));
  const transition = { duration: MOTION, easing: "cubic-in-out" };
  const frame = { duration: MOTION, redraw: false };
  return window.Plotly.animate(
    box,
    { data, traces: moved.map(({ i }) => i) },
    { transition, frame },
  );
}
