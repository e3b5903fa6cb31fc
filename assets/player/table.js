// The table of a round's nodes. textContent only: token text may look like markup.

import { make, makeButton } from "./dom.js";
import { COLUMNS, inTableOrder } from "./logic/nodes.js";

/** The heading of a row: the token, as a button that pins it. */
function rowHeading(token) {
  const heading = make("th");
  const button = makeButton(token);
  button.className = "token";
  heading.scope = "row";
  heading.append(button);
  return heading;
}

function tableRow(row) {
  const tr = make("tr", undefined, row.status);
  const [token, ...values] = COLUMNS.map(([, read]) => read(row));
  tr.dataset.node = row.node;
  tr.append(rowHeading(token), ...values.map((value) => make("td", String(value))));
  return tr;
}

function columnHeadings() {
  const tr = make("tr");
  for (const [heading] of COLUMNS) {
    const th = make("th", heading);
    th.scope = "col";
    tr.append(th);
  }
  return tr;
}

/** Fill `table` with `rows` of texts, the first its headings; the first of a row is its heading. */
export function showRows(table, [headings, ...rows], caption) {
  const [head, body] = [make("thead"), make("tbody")];
  const line = (cells, scopeOf) => {
    const tr = make("tr");
    for (const [i, text] of cells.entries()) {
      const scope = scopeOf(i);
      const cell = make(scope ? "th" : "td", text);
      if (scope) cell.scope = scope;
      tr.append(cell);
    }
    return tr;
  };
  head.append(line(headings, () => "col"));
  body.append(...rows.map((row) => line(row, (i) => (i ? "" : "row"))));
  table.replaceChildren(make("caption", caption, "unseen"), head, body);
}

/** Fill the table with the round's rows. */
export function showTable(table, rows, caption) {
  const [head, body] = [make("thead"), make("tbody")];
  head.append(columnHeadings());
  body.append(...inTableOrder(rows).map(tableRow));
  table.replaceChildren(make("caption", caption, "unseen"), head, body);
}

/** Mark the pinned node, the last of `path`, and its path in the table. */
export function highlightTable(table, path) {
  const pinned = path.at(-1);
  for (const tr of table.querySelectorAll("tbody tr")) {
    const node = Number(tr.dataset.node);
    tr.classList.toggle("on-path", path.includes(node));
    tr.setAttribute("aria-selected", String(node === pinned));
  }
}
