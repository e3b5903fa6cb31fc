// The card of the pinned node. textContent only: token text may look like markup.

import { make, makeFact } from "./dom.js";
import { fill } from "./logic/format.js";

/** What a path's scores are made of: a sentence per node, and both sums; all as Python wrote it. */
function formula(rows, sum) {
  const box = make("details", undefined, "formula");
  box.append(make("summary", "The score, with these numbers"));
  for (const { formula: text } of rows) if (text) box.append(make("p", text));
  box.append(make("p", fill(sum, rows.at(-1))));
  return box;
}

const alignedScores = (row, lambda) => [
  makeFact("path score, aligned", row.aligned, ` rank ${row.aligned_rank}`),
  makeFact("log q", row.log_q),
  makeFact("log ρ", row.log_rho, ` λ ${lambda}`),
];

function scores(row, lambda) {
  return [
    makeFact("path score, blind", row.blind, ` rank ${row.blind_rank}`),
    ...(row.aligned === null ? [] : alignedScores(row, lambda)),
  ];
}

function facts(row, lambda) {
  const list = make("dl", undefined, "facts");
  list.append(
    makeFact("token id", row.token),
    makeFact("depth", row.depth),
    makeFact("target probability", row.probability),
    ...(row.blind === null ? [] : scores(row, lambda)),
  );
  return list;
}

/** The card of the last of `rows`, a path from the root down; without rows the `hint`. */
export function showCard(box, rows, { lambda, sum }, hint) {
  const row = rows.at(-1);
  if (!row) return box.replaceChildren(make("p", hint, "hint"));
  const title = make("p", undefined, "node-title");
  title.append(
    make("span", row.full, `chip ${row.status}`),
    make("span", row.word, `verdict ${row.status}`),
  );
  const path = make("p", row.path ? `path: ${row.path}` : "", "path");
  const details = row.formula ? [formula(rows, sum)] : [];
  box.replaceChildren(title, facts(row, lambda), path, ...details);
}
