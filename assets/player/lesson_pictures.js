// The picture of a chapter: what the reader looks at and does.

import { ask } from "./ask.js";
import { draw, loadPlotly, themed } from "./charts.js";
import { make } from "./dom.js";
import { lanes, lookAt, pickBest, rounds, writer } from "./lesson_steps.js";
import { knobTree, LessonTree } from "./lesson_tree.js";

/** A figure in a box, drawn as soon as it can be. */
function plotBox(figure, title, lesson) {
  const [box, chart] = [make("figure", undefined, "lesson-plot"), make("div", undefined, "chart")];
  chart.setAttribute("role", "figure");
  box.append(make("figcaption", title), chart);
  const show = async () => {
    await loadPlotly(lesson.plotly);
    if (chart.clientWidth) draw(chart, themed(figure, lesson.head.dark), title);
  };
  return { box, draw: show };
}

function columnsPicture(picture, lesson, on) {
  if (picture.mode === "best") return { box: pickBest(picture, lesson, on), draw() {} };
  const box = make("div");
  const plot = plotBox(picture.plot, lesson.ui.columns, lesson);
  box.append(plot.box, lookAt(picture, lesson, on));
  return { box, draw: plot.draw };
}

function filmPicture({ at }, lesson, on) {
  const box = make("div");
  let film = null;
  const start = async () => {
    const data = await ask(lesson.address("film"), lesson.asked);
    if (data.problem) return box.replaceChildren(make("p", data.problem, "remark"));
    const { Film } = await import("./film.js");
    const isEnd = at === "end";
    film = new Film(box, data, {
      pick: () => isEnd && on.done(),
      step: (step, last) => !isEnd && step === last && on.done(),
      speed: () => 1,
    });
    if (isEnd) film.show(film.last);
    lesson.film = film;
  };
  start();
  return { box, draw: () => film?.draw(), stop: () => film?.stop() };
}

function verdictPicture(picture, lesson, on) {
  const box = make("div");
  const tree = new LessonTree(lesson, (node) => {
    on.answer(node);
    on.done();
  });
  tree.predict();
  on.settled(() => tree.reveal());
  tree.want({});
  box.append(tree.box, lanes(picture.lanes, lesson.ui));
  return { box, draw: () => tree.draw() };
}

function costPicture({ plots }, lesson) {
  const box = make("div", undefined, "lesson-plots");
  const drawn = Object.entries(plots).map(([name, figure]) =>
    plotBox(figure, lesson.ui.plots[name], lesson),
  );
  box.append(...drawn.map((plot) => plot.box));
  return { box, draw: () => Promise.all(drawn.map((plot) => plot.draw())) };
}

const KINDS = {
  writer: (picture, lesson, on) => ({ box: writer(picture, lesson, on), draw() {} }),
  rounds: (picture, lesson, on) => ({ box: rounds(picture, lesson, on), draw() {} }),
  columns: columnsPicture,
  knob: knobTree,
  film: filmPicture,
  verdict: verdictPicture,
  costs: costPicture,
};

/**
 * The picture as `{ box, draw }`. `on`: `done()` when the chapter's task was done, `settled(act)`
 * to act when its first question is settled, `answer(node)` for a node that was chosen.
 */
export const pictureOf = (picture, lesson, on) => KINDS[picture.kind](picture, lesson, on);
