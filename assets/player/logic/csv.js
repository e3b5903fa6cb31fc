// Tables as CSV that spreadsheets open (RFC 4180, UTF-8 with a byte order mark).

const FORMULA = /^[=+\-@\t\r]/; // what a spreadsheet may run as a formula begins like this
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** A quoted cell that no spreadsheet takes for a formula. */
function cell(value) {
  const text = String(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** `rows` (arrays of values) as the text of a CSV file. */
export const csvOf = (rows) => `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}`;
