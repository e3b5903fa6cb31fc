// Questions about a whole run, whose answers the server counts.

import { ask } from "./ask.js";
import { make } from "./dom.js";
import { isRight } from "./logic/answers.js";

/** A form for one question; `number` is undefined where the run does not tell it. */
function challenge({ text, hint, answer }, number, page) {
  const { ui } = page.texts;
  const [form, field, label] = [make("form"), make("input"), make("label", text)];
  const verdict = make("span", "");
  verdict.setAttribute("role", "status");
  field.inputMode = "decimal";
  field.size = 6;
  label.append(field);
  form.append(label, make("button", ui.check), verdict);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (number === undefined) {
      verdict.textContent = ui.unknown;
      return;
    }
    const isCorrect = isRight(field.value, number);
    verdict.textContent = isCorrect ? ui.right : `${ui.wrong} ${ui.hint}: ${hint}`;
    page.answered(`${page.key}/${answer}`, isCorrect);
  });
  return form;
}

/** All challenges about the run of `page`, once its numbers are here. */
export function challengeList(page) {
  const box = make("div", undefined, "lesson-challenges");
  ask(page.address("lesson_run"), page.asked).then(({ problem, answers }) => {
    if (problem) return box.replaceChildren(make("p", problem, "remark"));
    const { challenges } = page.texts;
    box.replaceChildren(...challenges.map((one) => challenge(one, answers[one.answer], page)));
  });
  return box;
}
