// The candidates of a film: the node just taken and those that wait, each score as a sum; and the
// frontier of a beam by depth. textContent only: token text may look like markup.

import { make } from "./dom.js";

const rowOf = (cells, className) => {
  const tr = make("tr", undefined, className);
  const [token, ...values] = cells;
  const heading = make("th", token);
  heading.scope = "row";
  tr.append(heading, ...values.map((value) => make("td", value)));
  return tr;
};

const cellsOf = ({ token, depth, above, parts }) => [token, `+${depth}`, ...parts, above || "–"];

export class FilmTable {
  constructor({ heads, rows, queue, levels }) {
    Object.assign(this, { rows, levels });
    this.box = make("div", undefined, "scroll film-queue");
    Object.assign(this.box, { tabIndex: 0 });
    this.box.setAttribute("role", "region");
    this.box.setAttribute("aria-label", "Candidates of the search");
    const [table, head, tr] = [make("table"), make("thead"), make("tr")];
    for (const title of ["token", "at", ...heads, "below"]) {
      const th = make("th", title);
      th.scope = "col";
      tr.append(th);
    }
    head.append(tr);
    this.caption = make("caption");
    this.body = make("tbody");
    table.append(this.caption, head, this.body);
    this.box.append(table);
    this.queue = queue;
    this.frontier = make("div", undefined, "film-levels");
    this.frontier.hidden = !levels.length;
    this.drawn = null; // how many levels of the frontier are on the page
  }

  /** The candidates after `step`. */
  show(step) {
    const { rows, body } = this;
    const taken = step.row === null ? [] : [rowOf(cellsOf(rows[step.row]), "taken")];
    const waiting = step.queue.map((row) => rowOf(cellsOf(rows[row]), ""));
    body.replaceChildren(...taken, ...waiting);
    const shown = step.queue.length < step.waiting ? `the next ${step.queue.length} of ` : "";
    const shaded = taken.length ? ". Shaded: just taken" : "";
    this.caption.textContent = `${this.queue}: ${shown}${step.waiting}${shaded}`;
    if (this.drawn !== step.levels) this.showLevels(step.levels);
    for (const line of this.frontier.querySelectorAll("[data-row]"))
      line.classList.toggle("is-taken", this.isTaken(Number(line.dataset.row), step.taken));
  }

  isTaken(row, taken) {
    const { node } = this.rows[row];
    return node !== null && node <= taken;
  }

  /** The frontier of every depth that is open, the newest lit. */
  showLevels(count) {
    this.drawn = count;
    const lines = this.levels.slice(0, count).map(({ depth, rows, more }) => {
      const line = make("p", undefined, depth === count ? "level now" : "level");
      line.append(make("b", `+${depth} `));
      for (const row of rows) {
        const chip = make("span", this.rows[row].token, "candidate");
        chip.dataset.row = row;
        line.append(chip, " ");
      }
      if (!rows.length) line.append(make("small", "none"));
      if (more) line.append(make("small", `+${more} more`));
      return line;
    });
    this.frontier.replaceChildren(make("p", "Frontier by depth, best first", "title"), ...lines);
  }
}
