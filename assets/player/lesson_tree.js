// The draft tree in the lesson: grown anew by a control, or without its verdict until the reader
// has predicted where the accepted path ends.

import { ask } from "./ask.js";
import { make } from "./dom.js";
import { slider } from "./lesson_knob.js";
import { fill } from "./logic/format.js";
import { neighbour, pathTo } from "./logic/path.js";
import { withRows } from "./logic/run.js";
import { Newest } from "./logic/what_if.js";
import { TreeView } from "./treeview.js";

/** The elements that a tree is shown in. */
function stage() {
  const cursor = make("div", undefined, "cursor");
  const [tree, preview] = [make("div", undefined, "chart"), make("canvas")];
  const more = make("p", "", "more");
  tree.dataset.part = "tree";
  tree.setAttribute("role", "figure");
  preview.dataset.part = "preview";
  preview.setAttribute("aria-hidden", "true");
  cursor.append(tree, preview);
  return { cursor, tree, preview, more };
}

export class LessonTree {
  /** `lesson` as for a question, with `head` (colours, columns, fan) and `round(question)`. */
  constructor(lesson, pick = () => {}) {
    this.lesson = lesson;
    this.part = stage();
    this.box = make("div");
    this.box.append(this.part.cursor, this.part.more);
    this.view = new TreeView(this.part, (node) => this.choose(node), "");
    this.pick = pick;
    this.node = null;
    this.newest = new Newest(
      (settings) => ask(lesson.address("round"), { ...lesson.asked, settings }),
      (answer, settings) => this.take(answer, settings),
    );
  }

  /** Ask for the tree under `settings`. */
  want(settings) {
    this.newest.want(settings);
  }

  take(answer, settings) {
    if (answer.problem) {
      this.part.more.textContent = answer.problem;
      return;
    }
    this.round = withRows(answer, this.lesson.head.columns);
    this.told?.(answer, settings);
    this.draw();
  }

  draw() {
    if (!this.round || !this.part.cursor.clientWidth) return;
    const label = this.isHidden ? this.lesson.ui.tree : this.lesson.ui.tree_shown;
    this.view.show(this.round, this.lesson.head, label, pathTo(this.node, this.round.byId));
    if (window.Plotly) this.view.draw();
  }

  /** Let the reader choose a node, by pointer or keyboard, while the verdict is hidden. */
  predict() {
    const { cursor } = this.part;
    this.isHidden = true;
    this.view.phase = "build";
    cursor.tabIndex = 0;
    cursor.setAttribute("role", "group");
    cursor.setAttribute("aria-label", this.lesson.ui.tree);
    this.said = make("p", "", "remark");
    this.said.setAttribute("role", "status");
    this.box.append(this.said);
    cursor.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    const { rows, byId, positions } = this.round ?? { rows: [] };
    const drafted = rows.filter(({ status }) => !this.isHidden || status !== "bonus");
    if (!drafted.length) return;
    if (event.key === "Enter") return this.choose(this.node, true);
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const here = byId.get(this.node);
    const next = here ? neighbour(event.key, here, drafted, positions) : drafted[0];
    if (next) this.point(next.node);
  }

  point(node) {
    this.node = node;
    const row = this.round.byId.get(node);
    if (this.said)
      this.said.textContent = fill(this.lesson.ui.chosen, { token: row.path || row.full });
    this.view.highlight(pathTo(node, this.round.byId));
  }

  choose(node) {
    if (node === null || !this.said || !this.round.byId.has(node)) return;
    this.point(node);
    this.pick(node);
  }

  /** Show the verdict. */
  reveal() {
    this.isHidden = false;
    this.view.phase = "commit";
    this.draw();
  }
}

/** A tree under a control, which says what the round would commit. */
export function knobTree({ knob, table }, lesson, on) {
  const { ui, values } = lesson;
  const [box, told] = [make("div"), make("p", "", "remark")];
  told.setAttribute("role", "status");
  const tree = new LessonTree(lesson);
  const name = ui[knob.name];
  tree.told = ({ committed }, settings) => {
    const value = settings[knob.name];
    const own = values.committed;
    told.textContent = fill(ui.outcome, { name, value, committed, own });
  };
  const least = knob.name === "lam" ? 0 : Math.floor(knob.value / 2);
  const change = (value) => {
    tree.want({ [knob.name]: value });
    if (value <= least) on.done();
  };
  box.append(slider(knob, name, change), told, tree.box);
  if (table) on.settled(() => box.append(scoreTable(table, ui)));
  tree.want({ [knob.name]: knob.value });
  return { box, draw: () => tree.draw() };
}

/** The accepted path: both parts of each score and both ranks. */
function scoreTable(rows, ui) {
  const [table, head, body] = [make("table"), make("thead"), make("tbody")];
  const line = make("tr");
  for (const name of [ui.token, ui.log_q, ui.log_rho, ui.blind, ui.aligned]) {
    const cell = make("th", name);
    cell.scope = "col";
    line.append(cell);
  }
  head.append(line);
  for (const cells of rows) {
    const row = make("tr");
    row.append(...cells.map((cell) => make("td", cell)));
    body.append(row);
  }
  table.append(head, body);
  const scroll = make("div", undefined, "scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", ui.tree_shown);
  scroll.append(table);
  return scroll;
}
