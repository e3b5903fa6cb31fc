// The rows of a round's nodes, as the table, its file and the announcements show them.

import { orDash } from "./format.js";

/** Columns of the node table: heading and the value of a row. */
export const COLUMNS = [
  ["token", (row) => row.full],
  ["id", (row) => row.token],
  ["depth", (row) => row.depth],
  ["verdict", (row) => row.status],
  ["blind", (row) => orDash(row.blind)],
  ["blind rank", (row) => orDash(row.blind_rank)],
  ["aligned", (row) => orDash(row.aligned)],
  ["aligned rank", (row) => orDash(row.aligned_rank)],
  ["log q", (row) => orDash(row.log_q)],
  ["log ρ", (row) => orDash(row.log_rho)],
  ["target p", (row) => row.probability],
  ["path", (row) => row.path],
];

/** Headings and values of all `rows`, for a file. */
export const tableOf = (rows) => [
  COLUMNS.map(([heading]) => heading),
  ...rows.map((row) => COLUMNS.map(([, read]) => read(row))),
];

/** A copy of `rows` by the places of their statuses, and by aligned rank where these are equal. */
const sortedBy = (places, rows) =>
  [...rows].sort(
    (a, b) => places[a.status] - places[b.status] || (a.aligned_rank ?? 0) - (b.aligned_rank ?? 0),
  );

/** `rows` in the table's order: accepted path and bonus first, then the others by aligned rank. */
export const inTableOrder = (rows) =>
  sortedBy({ root: 0, accepted: 1, bonus: 2, rejected: 3, beyond: 3 }, rows);

/** `rows` in the order in which they get a label while there is space. */
export const inLabelOrder = (rows) =>
  sortedBy({ accepted: 0, bonus: 1, root: 2, rejected: 3, beyond: 4 }, rows);

/** The announcement for a pinned node. */
export function nodeSentence(row) {
  const aligned = row.aligned_rank === null ? "" : `, ${row.aligned_rank} aligned`;
  const ranks = row.blind_rank === null ? "" : ` Rank ${row.blind_rank} blind${aligned}.`;
  const what = `${row.full}, depth ${row.depth}: ${row.word}.`;
  return `${what} Target probability ${row.probability}.${ranks}`;
}
