// Files to take away: the run, the node table, the tree as a picture.

import { csvOf } from "./logic/csv.js";
import { tableOf } from "./logic/nodes.js";

const LATER = 10_000; // milliseconds after which the browser has surely begun to save

function save(name, href) {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

function saveText(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  save(name, url);
  setTimeout(() => URL.revokeObjectURL(url), LATER);
}

/** The whole run as the server recorded it: `record` is its JSON, or the address of its file. */
export function saveRun(record, served) {
  if (record.startsWith("{")) saveText("presto-run.json", "application/json", record);
  else save(record.split("/").at(-1), served(record));
}

/** The table of a chart. */
export function saveRows(rows, name) {
  saveText(`presto-${name}.csv`, "text/csv", csvOf(rows));
}

/** The node table of round `index`. */
export function saveTable(rows, index) {
  saveRows(tableOf(rows), `round-${index + 1}`);
}

/** The cells of a sweep. */
export function saveSweep(table) {
  saveText("presto-sweep.csv", "text/csv", csvOf(table));
}

/** The tree of round `index` as it is drawn in `box`, as `svg` or `png`. */
export function savePicture(box, format, index) {
  const { clientWidth: width, clientHeight: height } = box;
  const scale = format === "png" ? 2 : 1;
  const filename = `presto-round-${index + 1}`;
  return window.Plotly.downloadImage(box, { format, filename, width, height, scale });
}
