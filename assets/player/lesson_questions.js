// The lesson's questions: asked before the page tells, checked from the run's data, explained with
// the target's own probabilities.

import { ask } from "./ask.js";
import { make, makeButton } from "./dom.js";
import { slider } from "./lesson_knob.js";
import { fill } from "./logic/format.js";
import { isAnswer } from "./logic/lesson.js";
import { whyList, words } from "./lesson_words.js";

let made = 0; // questions on the page so far, for ids

export class QuestionBox {
  /**
   * `question` from the server with its `texts`; `on`: `answered(isRight)` for every answer and
   * `settled()` when the answer is known; `lesson` has ui, values, glossary and why.
   */
  constructor(question, texts, lesson, on) {
    Object.assign(this, { question, texts, lesson, on });
    this.isSettled = false;
    this.box = make("section", undefined, "lesson-question");
    this.verdict = make("div", undefined, "verdict");
    this.verdict.setAttribute("role", "status");
    const { ui, values, glossary } = lesson;
    const text = words("p", texts.ask, values, glossary);
    text.id = `lesson-question-${++made}`;
    this.box.setAttribute("role", "group");
    this.box.setAttribute("aria-labelledby", text.id);
    this.box.append(make("h4", ui.question), text, this.form(text.id), this.verdict);
  }

  form(label) {
    const { kind } = this.question;
    if (kind === "choice") return this.choices();
    if (kind === "node") return make("div");
    return kind === "slower" ? this.judge() : this.field(label);
  }

  choices() {
    const row = make("div", undefined, "lesson-row");
    for (const option of this.question.options) {
      const text = this.texts.options?.[option] ?? option;
      row.append(makeButton(text, () => this.answer(option)));
    }
    return row;
  }

  field(label) {
    const { ui } = this.lesson;
    const [form, field] = [make("form", undefined, "lesson-row"), make("input")];
    field.inputMode = "decimal";
    field.size = 6;
    field.setAttribute("aria-labelledby", label);
    form.append(field, make("button", ui.check));
    if (this.question.kind === "lam") form.append(makeButton(ui.none, () => this.answer("none")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer(field.value);
    });
    return form;
  }

  /** Any setting may be tried: the server replays the run and counts its measured costs. */
  judge() {
    const { ui, knobs, cost } = this.lesson;
    const row = make("div", undefined, "lesson-row");
    const settings = Object.fromEntries(knobs.map(({ name, value }) => [name, value]));
    for (const knob of knobs)
      row.append(
        slider(knob, ui[knob.name], (value) => Object.assign(settings, { [knob.name]: value })),
      );
    const told = make("p", "", "remark");
    const judge = makeButton(ui.judge, async () => {
      const answer = await ask(cost.address, { ...cost.question, settings });
      if (answer.problem) return told.replaceChildren(answer.problem);
      told.textContent = fill(ui.judged, answer);
      this.on.done?.();
      this.settle(answer.slower, answer.slower ? ui.slower : ui.faster);
    });
    row.append(judge, told);
    return row;
  }

  /** The reader's answer. The first one counts for the score. */
  answer(given) {
    const { ui } = this.lesson;
    const isRight = isAnswer(this.question, given);
    this.settle(isRight, isRight ? ui.right : ui.wrong);
    return isRight;
  }

  settle(isRight, said) {
    if (!this.isSettled) this.on.answered(isRight);
    const { ui, values } = this.lesson;
    if (isRight) return this.explain(said);
    if (this.isSettled) return;
    const more = makeButton(ui.show, () => this.explain(""));
    const hint = `${ui.hint}: ${fill(this.texts.hint, values)} `;
    this.verdict.replaceChildren(make("b", `${said} `), hint, more);
  }

  explain(said) {
    const { ui, values, glossary, why } = this.lesson;
    const parts = [words("p", this.texts.why, values, glossary)];
    if (said) parts.unshift(make("b", said));
    if (why.length) parts.push(whyList(why, ui));
    this.verdict.replaceChildren(...parts);
    this.verdict.classList.add("settled");
    this.isSettled = true;
    this.on.settled?.();
  }
}
