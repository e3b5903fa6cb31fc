// Links that restore a view, and files to take away: the run, the node table, the tree as a picture.

import { COLUMNS } from "./nodes.js";

/** What the address asks for: run or prompt, 1-based round and node of a shared view, and whether it is embedded. */
export function asked() {
  const query = new URLSearchParams(window.location.search);
  const whole = (name) =>
    /^\d{1,6}$/.test(query.get(name) ?? "") ? Number(query.get(name)) : null;
  const [run, prompt] = [query.get("run"), query.get("prompt")];
  return {
    run,
    prompt,
    round: whole("round"),
    node: whole("node"),
    embed: query.get("embed") === "1",
  };
}

/** The address of the round and node on screen; `run` are the query parameters that bring the run back. */
export function linkTo(run, round, node) {
  const query = new URLSearchParams({ ...run, round: round + 1 });
  if (node !== null && node >= 0) query.set("node", node);
  return `${window.location.origin}${window.location.pathname}?${query}`;
}

/** Copy `text`; where the browser forbids it, let the reader copy it from a box. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return "Link copied.";
  } catch {
    window.prompt("Copy this link:", text);
    return "";
  }
}

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
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The whole run as the server recorded it: `record` is its JSON, or the address of its file. */
export function saveRun(record, served) {
  if (record.startsWith("{")) saveText("presto-run.json", "application/json", record);
  else save(record.split("/").at(-1), served(record));
}

const LARGEST = 16 << 20; // bytes of a run's JSON, as in ui/files.py

/** The JSON of a run saved as .json or .json.gz; a file that is too large or not compressed as it says is refused. */
export async function readRun(file) {
  const stream = file.name.endsWith(".gz")
    ? file.stream().pipeThrough(new DecompressionStream("gzip"))
    : file.stream();
  const parts = [],
    decoder = new TextDecoder();
  let size = 0;
  try {
    for (const reader = stream.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) return parts.join("") + decoder.decode();
      size += value.length;
      if (size > LARGEST) break;
      parts.push(decoder.decode(value, { stream: true }));
    }
  } catch {
    throw new Error(`${file.name} cannot be read: is it a run saved as .json or .json.gz?`);
  }
  throw new Error(
    `${file.name} holds more than ${LARGEST >> 20} MB, which is more than this page opens.`,
  );
}

/** A cell that no spreadsheet takes for a formula. */
const cell = (value) => {
  const text = String(value);
  const safe =
    /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text.replace("−", "-"))) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
};

/** The node table of a round. */
export function saveTable(rows, round) {
  const lines = [
    COLUMNS.map(([name]) => name),
    ...rows.map((row) => COLUMNS.map(([, read]) => read(row))),
  ];
  saveText(
    `presto-round-${round + 1}.csv`,
    "text/csv",
    `\ufeff${lines.map((line) => line.map(cell).join(",")).join("\r\n")}`,
  );
}

/** The tree as drawn, as `svg` or `png`. */
export function savePicture(box, format, round) {
  const size = {
    width: box.clientWidth,
    height: box.clientHeight,
    scale: format === "png" ? 2 : 1,
  };
  return window.Plotly.downloadImage(box, {
    format,
    filename: `presto-round-${round + 1}`,
    ...size,
  });
}
