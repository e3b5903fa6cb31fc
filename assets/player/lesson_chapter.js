// One chapter: its text, picture, task, formula and questions.

import { make, makeButton } from "./dom.js";
import { pictureOf } from "./lesson_pictures.js";
import { QuestionBox } from "./lesson_questions.js";
import { formulaBox, words } from "./lesson_words.js";

/** The task, and what ticks it off. */
function taskOf(text, page, chapter, glossary, values) {
  const { ui } = page.texts;
  const box = make("p", undefined, "task");
  const show = (isDone) => {
    box.classList.toggle("complete", isDone);
    const said = words("span", text, values, glossary);
    box.replaceChildren(make("b", isDone ? `✓ ${ui.done}: ` : `${ui.todo}: `), said);
  };
  show(false);
  let isDone = false;
  const done = () => {
    if (isDone) return;
    isDone = true;
    show(true);
    page.finished(chapter.id);
  };
  return { box, done };
}

/** Where the same is to be seen on the page Explore. */
function elsewhere(chapter, page, answer) {
  const { ui } = page.texts;
  const line = make("p", `${ui.where}: ${chapter.where} `, "more");
  const link = make("a", ui.open);
  const query = new URLSearchParams({ run: answer.run, round: answer.round });
  link.href = `${window.location.pathname}?${query}`;
  line.append(link);
  return line;
}

function turning(page) {
  const { ui, chapters } = page.texts;
  const row = make("div", undefined, "lesson-row lesson-turn");
  const back = makeButton(`◀ ${ui.back}`, () => page.go(page.place - 1));
  const next = makeButton(`${ui.next} ▶`, () => page.go(page.place + 1));
  back.disabled = page.place === 1;
  next.disabled = page.place === chapters.length;
  row.append(back, next);
  return row;
}

/** The chapter's elements and its picture; `page` is the lesson, `answer` the server's. */
export function chapterPage(page, chapter, answer) {
  const { ui, glossary } = page.texts;
  const { values, why, picture: told } = answer;
  const lesson = {
    ...{ ui, glossary, values, why, head: page.value, address: page.address },
    ...{ plotly: page.plotly, knobs: told.knobs },
    asked: { key: answer.key, round: answer.round - 1 },
    cost: { address: page.address("lesson_cost"), question: page.asked },
  };
  const heading = make("h3", `${page.place}. ${chapter.title}`);
  heading.tabIndex = -1;
  const task = taskOf(chapter.do, page, chapter, glossary, values);
  const settling = [];
  const asked = answer.questions.map((question, i) => {
    const on = {
      answered: (isRight) =>
        page.answered(`${answer.key}/${answer.round}/${chapter.id}/${i}`, isRight),
      settled: () => {
        for (const act of i === 0 ? settling : []) act();
      },
      done: task.done,
    };
    // The path explains where the tree is verified; other answers are explained by their sentence.
    const own = { ...lesson, why: i === 0 ? why : [] };
    return new QuestionBox(question, chapter.questions[i], own, on);
  });
  const picture = pictureOf(told, lesson, {
    done: task.done,
    settled: (act) => settling.push(act),
    answer: (node) => asked[0].answer(node),
  });
  const stage = make("div", undefined, "lesson-picture");
  stage.append(picture.box);
  const texts = chapter.text.map((text) => words("p", text, values, glossary));
  const formula = chapter.formula ? [formulaBox(chapter.formula, ui, values, told.lines)] : [];
  const box = [heading, ...texts, task.box, stage, ...asked.map((one) => one.box), ...formula];
  return { box: [...box, elsewhere(chapter, page, answer), turning(page)], picture };
}
