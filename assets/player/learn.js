// Learn: a tour on the real controls, the field's words, predictions and challenges on the run that
// is loaded. All texts are in assets/learn/LANGUAGE.json.

import { make, makeButton } from "./dom.js";
import { isRight } from "./logic/answers.js";
import { fill } from "./logic/format.js";

const LANGUAGES = { en: "English", ko: "한국어" };
const FEWEST_GUESSES = 8; // a prediction offers at least the numbers up to this one

export class Learn {
  /** `player` runs the page; `box` is the panel, `opener` its button; `folder` holds the texts. */
  constructor(player, box, opener, folder) {
    Object.assign(this, { player, box, opener, folder });
    this.tab = "tour";
    this.page = 0; // of the tour
    this.finished = new Set(); // pages of the tour whose task was done
    opener.addEventListener("click", () => this.toggle());
    this.setLanguage(navigator.language.startsWith("ko") ? "ko" : "en");
  }

  async setLanguage(language) {
    this.language = language;
    this.texts = await (await fetch(`${this.folder}/${language}.json`)).json();
    this.opener.textContent = this.texts.open;
    if (!this.box.hidden) this.show();
  }

  toggle() {
    this.box.hidden = !this.box.hidden;
    this.opener.setAttribute("aria-expanded", String(!this.box.hidden));
    if (this.box.hidden) this.spotlight(null);
    else this.show();
  }

  /** Something was done on the page: the task of a page of the tour may be done. */
  notice(event) {
    if (this.box.hidden || this.tab !== "tour" || !this.texts) return;
    if (this.texts.tour[this.page]?.done !== event) return;
    this.finished.add(this.page);
    this.show();
  }

  /** Put a ring around the control that the tour talks about. */
  spotlight(selector) {
    for (const control of document.querySelectorAll("#player .spot"))
      control.classList.remove("spot");
    if (selector) document.querySelector(`#player ${selector}`)?.classList.add("spot");
  }

  show() {
    this.spotlight(null);
    this.box.lang = this.language;
    const body = {
      tour: () => this.tour(),
      glossary: () => this.glossary(),
      predict: () => this.predict(),
      challenges: () => this.texts.challenges.map((challenge) => this.challenge(challenge)),
    };
    this.box.replaceChildren(this.head(), ...body[this.tab]());
  }

  head() {
    const bar = make("div", undefined, "learn-head");
    for (const [name, text] of Object.entries(this.texts.tabs)) {
      const tab = makeButton(text, () => {
        this.tab = name;
        this.show();
      });
      tab.setAttribute("aria-pressed", String(name === this.tab));
      bar.append(tab);
    }
    const close = makeButton(this.texts.close, () => this.toggle());
    bar.append(this.languageChoice(), close);
    return bar;
  }

  languageChoice() {
    const choice = make("select");
    choice.setAttribute("aria-label", "Language / 언어");
    for (const [code, name] of Object.entries(LANGUAGES))
      choice.append(new Option(name, code, false, code === this.language));
    choice.addEventListener("change", () => this.setLanguage(choice.value));
    return choice;
  }

  tour() {
    const { tour, next, back, done, finished } = this.texts;
    const page = tour[this.page];
    const backward = makeButton(back, () => this.turnPage(-1));
    if (!page) return [make("p", finished), backward];
    this.spotlight(page.spot);
    const isDone = this.finished.has(this.page);
    const forward = makeButton(next, () => this.turnPage(1));
    if (isDone) forward.classList.add("ready");
    const row = make("div", undefined, "learn-row");
    row.append(backward, make("span", `${this.page + 1} / ${tour.length}`), forward);
    const task = make("p", isDone ? `✓ ${done}` : page.do, isDone ? "task complete" : "task");
    task.setAttribute("role", "status");
    return [make("h4", page.title), make("p", page.text), task, row];
  }

  turnPage(step) {
    this.page = Math.max(0, Math.min(this.page + step, this.texts.tour.length));
    this.show();
  }

  glossary() {
    const list = make("dl", undefined, "glossary");
    for (const [word, meaning] of this.texts.glossary)
      list.append(make("dt", word), make("dd", meaning));
    return [list];
  }

  /** Guess how many drafted tokens of the next round are accepted, then see it. */
  predict() {
    const { player } = this;
    const { predict } = this.texts;
    const next = player.round + 1;
    if (next >= player.run.loaded) return [make("p", predict.end)];
    const { rows } = player.run.round(next);
    const count = rows.filter((row) => row.status === "accepted").length;
    const row = make("div", undefined, "learn-row guesses");
    const answer = make("p");
    answer.setAttribute("role", "status");
    const check = (guess) => {
      player.jump(next);
      answer.textContent = fill(guess === count ? predict.right : predict.wrong, { guess, count });
      row.replaceChildren(makeButton(this.texts.next, () => this.show()));
    };
    for (let guess = 0; guess <= Math.max(FEWEST_GUESSES, count); guess++)
      row.append(makeButton(String(guess), () => check(guess)));
    return [make("p", fill(predict.ask, { round: next + 1 })), row, answer];
  }

  /** A question with a number as answer, checked on the loaded run. */
  challenge({ answer, text }) {
    const [form, field, label] = [make("form"), make("input"), make("label", text)];
    const verdict = make("span", "");
    verdict.setAttribute("role", "status");
    field.inputMode = "decimal";
    field.size = 6;
    label.append(field);
    form.append(label, make("button", this.texts.check), verdict);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      verdict.textContent = this.verdict(field.value, this.player.run.head.answers?.[answer]);
    });
    return form;
  }

  /** What Learn says to a reader's answer; `number` is undefined when the run does not tell it. */
  verdict(text, number) {
    const { unknown, right, wrong } = this.texts;
    if (number === undefined) return unknown;
    return isRight(text, number) ? right : wrong;
  }
}
