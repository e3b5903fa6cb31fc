// Learn: a tour on the real controls, the words of the field, predictions and challenges on the run that is loaded.
// All texts are in assets/learn/LANGUAGE.json.

import { make } from "./dom.js";

const LANGUAGES = ["en", "ko"];
const TOLERANCE = 0.051; // answers asked for with one decimal

function button(text, act) {
  const element = make("button", text);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export class Learn {
  /** `player` runs the page; `box` is the panel, `opener` its button; `folder` holds the texts. */
  constructor(player, box, opener, folder) {
    Object.assign(this, { player, box, opener, folder });
    this.tab = "tour";
    this.page = 0; // of the tour
    this.finished = new Set(); // pages of the tour that were completed by doing
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
    if (this.box.hidden) this.light(null);
    else this.show();
  }

  /** Something was done on the page: a page of the tour may be complete. */
  notice(event) {
    if (this.box.hidden || this.tab !== "tour" || !this.texts) return;
    if (this.texts.tour[this.page]?.done !== event) return;
    this.finished.add(this.page);
    this.show();
  }

  /** Put a ring around the control that the tour talks about. */
  light(selector) {
    for (const lit of document.querySelectorAll("#player .spot")) lit.classList.remove("spot");
    if (selector) document.querySelector(`#player ${selector}`)?.classList.add("spot");
  }

  show() {
    this.light(null);
    this.box.lang = this.language;
    const body = {
      tour: () => this.tour(),
      glossary: () => this.glossary(),
      predict: () => this.predict(),
      challenges: () => this.challenges(),
    };
    this.box.replaceChildren(this.head(), ...body[this.tab]());
  }

  head() {
    const bar = make("div", undefined, "learn-head");
    for (const [name, text] of Object.entries(this.texts.tabs)) {
      const tab = button(text, () => {
        this.tab = name;
        this.show();
      });
      tab.setAttribute("aria-pressed", String(name === this.tab));
      bar.append(tab);
    }
    const language = make("select");
    language.setAttribute("aria-label", "Language / 언어");
    language.append(
      ...LANGUAGES.map(
        (code) =>
          new Option(code === "ko" ? "한국어" : "English", code, false, code === this.language),
      ),
    );
    language.addEventListener("change", () => this.setLanguage(language.value));
    bar.append(
      language,
      button(this.texts.close, () => this.toggle()),
    );
    return bar;
  }

  tour() {
    const { tour, next, back, done, finished } = this.texts,
      page = tour[this.page];
    if (!page) return [make("p", finished), button(back, () => this.turn(-1))];
    this.light(page.spot);
    const complete = this.finished.has(this.page),
      row = make("div", undefined, "learn-row");
    const forward = button(next, () => this.turn(1));
    if (complete) forward.classList.add("ready");
    row.append(
      button(back, () => this.turn(-1)),
      make("span", `${this.page + 1} / ${tour.length}`),
      forward,
    );
    const task = make("p", complete ? `✓ ${done}` : page.do, complete ? "task complete" : "task");
    task.setAttribute("role", "status");
    return [make("h4", page.title), make("p", page.text), task, row];
  }

  turn(step) {
    this.page = Math.max(0, Math.min(this.page + step, this.texts.tour.length));
    this.show();
  }

  glossary() {
    const list = make("dl", undefined, "words");
    for (const [word, meaning] of this.texts.glossary)
      list.append(make("dt", word), make("dd", meaning));
    return [list];
  }

  /** Guess how many drafted tokens of the next round are accepted, then see it. */
  predict() {
    const { predict } = this.texts,
      next = this.player.round + 1;
    if (!this.player.ready || next >= this.player.raw.length) return [make("p", predict.end)];
    const count = this.player.get(next).rows.filter((row) => row.status === "accepted").length;
    const row = make("div", undefined, "learn-row guesses"),
      answer = make("p");
    answer.setAttribute("role", "status");
    for (let guess = 0; guess <= Math.max(8, count); guess++)
      row.append(
        button(String(guess), () => {
          this.player.jump(next);
          answer.textContent = fill(guess === count ? predict.right : predict.wrong, {
            guess,
            count,
          });
          row.replaceChildren(button(this.texts.next, () => this.show()));
        }),
      );
    return [make("p", fill(predict.ask, { round: next + 1 })), row, answer];
  }

  challenges() {
    return this.texts.challenges.map(({ answer, text }) => {
      const form = make("form"),
        field = make("input"),
        verdict = make("span", "");
      verdict.setAttribute("role", "status");
      field.inputMode = "decimal";
      field.size = 6;
      const label = make("label", text);
      label.append(field);
      const submit = make("button", this.texts.check);
      form.append(label, submit, verdict);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        const right = this.player.head.answers?.[answer],
          given = Number(field.value.replace(",", "."));
        if (right === undefined) verdict.textContent = this.texts.unknown;
        else
          verdict.textContent =
            field.value.trim() && Math.abs(given - right) < TOLERANCE
              ? this.texts.right
              : this.texts.wrong;
      });
      return form;
    });
  }
}
