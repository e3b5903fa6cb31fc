// "Build it yourself": a tree grown by hand out of a round's candidates, then judged by the target.

import { ask } from "./ask.js";
import { make, makeButton } from "./dom.js";
import { fill } from "./logic/format.js";
import { addsTo, inOrder } from "./logic/lesson_tree.js";
import { whyList } from "./lesson_words.js";

export class Builder {
  /** `lesson` as for a question. */
  constructor(lesson) {
    this.lesson = lesson;
    this.box = make("div", undefined, "lesson-build");
    this.restart();
  }

  async restart() {
    this.paths = []; // lists of ranks, in the order in which they were added
    this.at = []; // the node below which the next one hangs
    this.answer = await this.ask({ paths: [] });
    this.show();
  }

  ask(question) {
    return ask(this.lesson.address("lesson_build"), { ...this.lesson.asked, ...question });
  }

  get left() {
    return this.answer.budget - this.paths.length;
  }

  /** Hang the candidate of that rank below the chosen node. */
  add(rank) {
    const path = addsTo(this.paths, this.at, rank);
    if (!path || !this.left) return;
    this.paths.push(path);
    this.show();
    this.box.querySelector(".lesson-offer button:not(:disabled)")?.focus();
  }

  go(path) {
    this.at = path;
    this.show();
    this.box.querySelector('.lesson-grown [aria-pressed="true"]')?.focus();
  }

  async verify() {
    const found = await this.ask({ paths: this.paths, verify: true });
    if (found.problem) return this.box.append(make("p", found.problem, "remark"));
    const { ui } = this.lesson;
    this.show(new Set(found.accepted));
    const told = make("div", undefined, "verdict settled");
    told.setAttribute("role", "status");
    told.append(make("b", fill(ui.verdict, found.verdict)), whyList(found.why, ui));
    this.box.append(told);
  }

  label(path) {
    return path.length ? this.answer.columns[path.length - 1][path.at(-1)].labels[0] : null;
  }

  /** The tree, one node a line, indented by depth; `accepted` numbers from 1 by order of adding. */
  grown(accepted) {
    const { ui } = this.lesson;
    const list = make("ul", undefined, "lesson-grown");
    for (const path of [[], ...inOrder(this.paths)]) {
      const number = this.paths.findIndex((one) => one.join() === path.join()) + 1;
      const isAccepted = number > 0 && accepted?.has(number);
      const name = path.length ? `‘${this.label(path)}’` : ui.root;
      const button = makeButton(`${isAccepted ? "● " : ""}${name}`, () => this.go(path));
      button.setAttribute("aria-pressed", String(path.join() === this.at.join()));
      if (isAccepted) button.classList.add("accepted");
      const item = make("li");
      item.style.setProperty("--depth", path.length);
      item.append(button);
      list.append(item);
    }
    return list;
  }

  offer() {
    const { ui } = this.lesson;
    const box = make("div", undefined, "lesson-offer");
    const candidates = this.answer.columns[this.at.length];
    if (!candidates) return make("p", ui.full, "remark");
    const below = this.label(this.at);
    const place = fill(ui.candidates, { place: `+${this.at.length + 1}` });
    box.append(make("h4", below ? `${place} ← ‘${below}’` : place));
    candidates.forEach((candidate, rank) => {
      const button = makeButton(`${candidate.labels[0]} ${candidate.q}`, () => this.add(rank));
      button.disabled = !this.left || !addsTo(this.paths, this.at, rank);
      box.append(button);
    });
    return box;
  }

  show(accepted = null) {
    const { answer, left, box } = this;
    const { ui } = this.lesson;
    if (answer.problem) return box.replaceChildren(make("p", answer.problem, "remark"));
    const told = make("p", fill(ui.left, { left, budget: answer.budget }), "remark");
    told.setAttribute("role", "status");
    const bar = make("progress");
    Object.assign(bar, { max: answer.budget, value: left });
    bar.setAttribute("aria-label", ui.budget);
    const row = make("div", undefined, "lesson-row");
    const verify = makeButton(ui.verify, () => this.verify());
    verify.disabled = !this.paths.length;
    row.append(
      verify,
      makeButton(ui.again, () => this.restart()),
    );
    const stage = make("div", undefined, "lesson-stage");
    stage.append(this.grown(accepted), this.offer());
    box.replaceChildren(told, bar, stage, row);
  }
}
