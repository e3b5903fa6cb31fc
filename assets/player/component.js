// What the page's components (player, lanes, benchmark) have in common: how they start, take the
// newest value that Python sent, and draw again when the page changes.

import { loadPlotly } from "./charts.js";
import { partsOf } from "./dom.js";

/** The root of the component in `element` and its parts. */
export function partsIn(element) {
  const root = element.querySelector(".player");
  return { root, part: partsOf(root) };
}

/** Hand the value to `receive` now, and every newer one: of a fast stream one per frame. */
export function follow({ props, watch }, receive) {
  let frame = 0;
  watch("value", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => receive(props.value));
  });
  receive(props.value);
}

/** Call `redraw` when the page's theme or the width of `root` changes. */
export function onPageChange(root, redraw) {
  new MutationObserver(redraw).observe(document.body, { attributeFilter: ["class"] });
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    redraw();
  }).observe(root);
}

/** A `mount` that makes a `Component` as soon as it can draw charts. */
export const mountWithCharts = (Component) => async (settings) => {
  await loadPlotly(settings.served(settings.plotly));
  return new Component(settings);
};
