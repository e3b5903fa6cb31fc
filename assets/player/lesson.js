// The page "Learn": chapters about one recorded run. Texts are in assets/learn/LANGUAGE.json, every
// number in them comes from the run (ui/lesson.py).

import { ask } from "./ask.js";
import { loadPlotly } from "./charts.js";
import { follow, onPageChange, partsIn } from "./component.js";
import { make, makeButton, say } from "./dom.js";
import { challengeList } from "./lesson_challenges.js";
import { Builder } from "./lesson_build.js";
import { chapterPage } from "./lesson_chapter.js";
import { makeHandout } from "./lesson_handout.js";
import { glossaryList, mythList } from "./lesson_words.js";
import { fill } from "./logic/format.js";
import { countOf, lessonIn, lessonLink, readScore, withAnswer, withDone } from "./logic/lesson.js";

const KEPT = "presto-lesson"; // where the device keeps the score
const OWN_KEYS = /^(Arrow.*| |Home|End|,|\.)$/; // the player listens for these on the whole page

/** Scroll the button of the place that is shown into view, sideways only. */
function scrollTo(list) {
  const here = list.querySelector("[aria-current]");
  if (here) list.scrollLeft = here.offsetLeft - (list.clientWidth - here.clientWidth) / 2;
}

class Lesson {
  constructor({ element, props, watch, asked, served, plotly, learn }) {
    Object.assign(this, partsIn(element), { address: asked, folder: served(learn) });
    this.plotly = served(plotly);
    this.wanted = lessonIn(window.location.search);
    this.place = null; // a chapter (from 1), or the name of a page
    this.score = readScore(window.localStorage.getItem(KEPT));
    this.answers = new Map(); // chapter and run -> the server's answer
    document.body.classList.toggle(
      "lesson-embedded",
      this.wanted.isEmbedded && this.wanted.page !== null,
    );
    this.listen();
    onPageChange(this.root, () => this.redraw());
    follow({ props, watch }, (value) => this.receive(value));
  }

  listen() {
    const { root, part } = this;
    root.addEventListener("keydown", (event) => {
      if (OWN_KEYS.test(event.key)) event.stopPropagation();
    });
    part.run.addEventListener("change", () => {
      Object.assign(this, { key: part.run.value, round: null });
      this.show();
    });
    part.language.addEventListener("change", () => this.setLanguage(part.language.value));
    part.forget.addEventListener("click", () => {
      this.keep({ answers: {}, done: [] });
      this.show();
    });
    part.print.addEventListener("click", () => this.print());
    part.link.addEventListener("click", () => this.copyLink());
  }

  receive(value) {
    if (!value?.languages || this.value) return;
    this.value = value;
    const { run, round, language, chapter, page } = this.wanted;
    const { part } = this;
    part.run.replaceChildren(...value.runs.map(([title, key]) => new Option(title, key)));
    const found = value.runs.find(([title]) => title === run) ?? value.runs[0];
    this.key = found?.[1];
    this.round = found?.[0] === run ? round : null;
    part.run.value = this.key;
    const codes = Object.entries(value.languages);
    part.language.replaceChildren(...codes.map(([code, name]) => new Option(name, code)));
    const isPage = page in { build: 1, challenges: 1, words: 1, myths: 1 };
    const last = value.chapters.length;
    this.place = isPage ? page : Math.min(Math.max(1, chapter ?? 1), last);
    const wish = language ?? navigator.language.slice(0, 2);
    this.setLanguage(wish in value.languages ? wish : "en");
  }

  async setLanguage(language) {
    this.language = language;
    this.part.language.value = language;
    const texts = await (await fetch(`${this.folder}/${language}.json`)).json();
    if (language !== this.language) return;
    this.texts = texts;
    this.root.lang = language;
    this.show();
  }

  // ---- what is asked ----------------------------------------------------------------------------

  /** What names the run and round to the server. */
  get asked() {
    return this.round === null ? { key: this.key } : { key: this.key, round: this.round };
  }

  async answerOf(chapter) {
    const question = { ...this.asked, chapter };
    const name = JSON.stringify(question);
    const { first } = this.value;
    if (first && chapter === first.chapter && this.key === first.key && this.round === null)
      return first;
    if (!this.answers.has(name)) {
      const answer = await ask(this.address("lesson"), question);
      if (answer.problem) return answer;
      this.answers.set(name, answer);
    }
    return this.answers.get(name);
  }

  // ---- showing ----------------------------------------------------------------------------------

  go(place) {
    this.place = place;
    this.show();
    this.part.page.querySelector("h3")?.focus();
  }

  show() {
    if (!this.texts) return;
    const { part, texts } = this;
    const { ui } = texts;
    part.runName.textContent = ui.run;
    part.forget.textContent = ui.forget;
    part.link.textContent = ui.link;
    part.print.textContent = ui.print;
    this.picture?.stop?.();
    this.picture = null;
    say(part.message);
    this.showScore();
    this.showNavigation();
    if (typeof this.place === "number") this.showChapter();
    else this.showPage();
  }

  showScore() {
    this.part.score.textContent = fill(this.texts.ui.score, countOf(this.score));
  }

  showNavigation() {
    const { texts, score } = this;
    const list = (items) => {
      const box = make("ol");
      for (const [place, title, isDone] of items) {
        const button = makeButton(`${isDone ? "✓ " : ""}${title}`, () => this.go(place));
        if (place === this.place) button.setAttribute("aria-current", "page");
        const item = make("li");
        item.append(button);
        box.append(item);
      }
      return box;
    };
    const chapters = texts.chapters.map(({ id, title }, i) => {
      return [i + 1, `${i + 1}. ${title}`, score.done.includes(id)];
    });
    const pages = Object.entries(texts.pages).map(([name, { title }]) => [name, title, false]);
    this.part.nav.setAttribute("aria-label", texts.ui.chapters);
    const lists = [list(chapters), list(pages)];
    this.part.nav.replaceChildren(...lists);
    for (const box of lists) scrollTo(box);
  }

  async showChapter() {
    const { place, texts, key } = this;
    const chapter = texts.chapters[place - 1];
    const answer = await this.answerOf(chapter.id);
    if (place !== this.place || texts !== this.texts || key !== this.key) return;
    if (answer.problem) {
      this.part.page.replaceChildren(make("h3", `${place}. ${chapter.title}`));
      return say(this.part.message, answer.problem);
    }
    const { box, picture } = chapterPage(this, chapter, answer);
    this.picture = picture;
    this.part.page.replaceChildren(...box);
    loadPlotly(this.plotly).then(() => this.redraw());
    this.redraw();
  }

  showPage() {
    const { place, texts } = this;
    const { title, text } = texts.pages[place];
    const heading = make("h3", title);
    heading.tabIndex = -1;
    const bodies = {
      build: () => new Builder({ ui: texts.ui, address: this.address, asked: this.asked }).box,
      challenges: () => challengeList(this),
      words: () => glossaryList(texts.glossary),
      myths: () => mythList(texts.myths, texts.ui, texts.glossary),
    };
    this.part.page.replaceChildren(heading, make("p", text), bodies[place]());
  }

  redraw() {
    if (this.root.clientWidth) this.picture?.draw();
  }

  // ---- what the device keeps --------------------------------------------------------------------

  keep(score) {
    this.score = score;
    window.localStorage.setItem(KEPT, JSON.stringify(score));
    if (!this.texts) return;
    this.showScore();
    this.showNavigation();
  }

  answered = (id, isRight) => this.keep(withAnswer(this.score, id, isRight));

  finished = (chapter) => this.keep(withDone(this.score, chapter));

  get title() {
    return this.value.runs.find(([, key]) => key === this.key)?.[0] ?? "";
  }

  async copyLink() {
    const { origin, pathname } = window.location;
    const place = { run: this.title, round: this.round, language: this.language };
    const link = lessonLink(origin + pathname, this.place, place);
    try {
      await navigator.clipboard.writeText(link);
      say(this.part.message, this.texts.ui.copied);
    } catch {
      say(this.part.message, link);
    }
  }

  async print() {
    await makeHandout(this.part.handout, this.texts, this);
    document.body.classList.add("printing-handout");
    window.print();
    document.body.classList.remove("printing-handout");
  }
}

/** Start the lesson in `element` of a gr.HTML component. */
export const mount = (settings) => new Lesson(settings);
