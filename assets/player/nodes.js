// The node table and the card of the pinned node. textContent only: token text may look like markup.

import { make } from "./dom.js";

export const COLUMNS = [
  ["token", (row) => row.full],
  ["id", (row) => row.token],
  ["depth", (row) => row.depth],
  ["verdict", (row) => row.status],
  ["blind", (row) => number(row.blind)],
  ["blind rank", (row) => row.blind_rank ?? "–"],
  ["aligned", (row) => number(row.aligned)],
  ["aligned rank", (row) => row.aligned_rank ?? "–"],
  ["log q", (row) => number(row.log_q)],
  ["log ρ", (row) => number(row.log_rho)],
  ["target p", (row) => row.probability],
  ["path", (row) => row.path],
];

export const number = (value) => (value === null ? "–" : value.toFixed(2).replace("-", "−"));

function tableRow(row) {
  const line = make("tr", undefined, row.status);
  line.dataset.node = row.node;
  COLUMNS.forEach(([, read], i) => {
    const cell = make(i ? "td" : "th", i ? String(read(row)) : undefined);
    if (!i) {
      cell.scope = "row";
      const button = make("button", read(row), "token");
      button.type = "button";
      cell.append(button);
    }
    line.append(cell);
  });
  return line;
}

/** Fill the table with the round's rows: the accepted path first, then by aligned rank. */
export function showTable(table, rows, caption) {
  const order = { root: 0, accepted: 1, bonus: 2, rejected: 3, beyond: 3 };
  const sorted = [...rows].sort(
    (a, b) => order[a.status] - order[b.status] || (a.aligned_rank ?? 0) - (b.aligned_rank ?? 0),
  );
  const head = make("tr");
  for (const [name] of COLUMNS) {
    const cell = make("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  const thead = make("thead"),
    tbody = make("tbody");
  thead.append(head);
  tbody.append(...sorted.map(tableRow));
  table.replaceChildren(make("caption", caption, "unseen"), thead, tbody);
}

/** Mark the pinned node and its path in the table. */
export function lightTable(table, path) {
  const pinned = path.at(-1);
  for (const line of table.querySelectorAll("tbody tr")) {
    const node = Number(line.dataset.node);
    line.classList.toggle("lit", path.includes(node));
    line.setAttribute("aria-selected", String(node === pinned));
  }
}

function fact(name, value, note = "") {
  const box = make("div", undefined, "fact");
  box.append(make("dt", name), make("dd", value));
  if (note) box.lastChild.append(make("small", note));
  return box;
}

/** What a path's scores are made of: a line per node, and both sums. */
function formula(path) {
  const box = make("details", undefined, "formula"),
    last = path.at(-1);
  box.append(make("summary", "The score, with these numbers"));
  for (const row of path) if (row.line) box.append(make("p", row.line));
  box.append(
    make(
      "p",
      `Sum over the path: prefix-blind ${number(last.blind)}, prefix-aligned ${number(last.aligned)}`,
    ),
  );
  return box;
}

/** The card of the last node of `path` (rows from the root down); with an empty path, the `hint`. */
export function showDetails(box, path, lambda, hint) {
  const row = path.at(-1);
  if (!row) return box.replaceChildren(make("p", hint, "hint"));
  const title = make("p", undefined, "node-title");
  title.append(
    make("span", row.full, `chip ${row.status}`),
    make("span", row.word, `verdict ${row.status}`),
  );
  const facts = make("dl", undefined, "facts");
  const rank = (place) => (place === null ? "" : ` rank ${place}`);
  facts.append(
    fact("token id", row.token),
    fact("depth", row.depth),
    fact("target probability", row.probability),
  );
  if (row.blind !== null) {
    facts.append(
      fact("path score, blind", number(row.blind), rank(row.blind_rank)),
      fact("path score, aligned", number(row.aligned), rank(row.aligned_rank)),
      fact("log q", number(row.log_q)),
      fact("log ρ", number(row.log_rho), ` λ ${lambda}`),
    );
  }
  const text = make("p", row.path ? `path: ${row.path}` : "", "path");
  box.replaceChildren(title, facts, text, ...(row.blind === null ? [] : [formula(path)]));
}

/** Paths that only the blind tree of the same budget has, best first. */
export function showMissing(box, round) {
  const { missing = [], only = [] } = round;
  box.hidden = !only.length;
  if (!only.length) return;
  const list = make("ul");
  for (const [path, rank] of missing) list.append(make("li", `${path} (blind rank ${rank})`));
  const title = `◇ ${only.length} of these nodes are not in the blind tree of the same budget, which holds other paths instead`;
  box.replaceChildren(make("summary", title), list);
}

/** One announcement for the pinned node. */
export function nodeSentence(row) {
  const ranks =
    row.blind_rank === null ? "" : ` Rank ${row.blind_rank} blind, ${row.aligned_rank} aligned.`;
  return `${row.full}, depth ${row.depth}: ${row.word}. Target probability ${row.probability}.${ranks}`;
}
