// The run on screen, as Python sends it: value = { key, head, rounds: [json, …], rivals: [json, …],
// speedup, record }, see viz/payload.py. A run that grows, or of which the page itself carries the
// beginning only, keeps its key. A round is parsed when it is asked for.

import { positionsOf } from "./figures.js";
import { RunGuard } from "./guard.js";

function parseRound(json, columns) {
  const round = JSON.parse(json);
  round.rows = round.rows.map((values) =>
    Object.fromEntries(values.map((value, i) => [columns[i], value])),
  );
  round.byId = new Map(round.rows.map((row) => [row.node, row]));
  round.positions = positionsOf(round.tree);
  return round;
}

/** Add to `round` what other scorers would have had accepted at its state. */
function addAlternatives(round, json) {
  const { rivals: alternatives, remark, only, missing } = JSON.parse(json);
  Object.assign(round, { alternatives, only, missing });
  round.remarks.alternatives = remark;
}

export class Run {
  #guard = new RunGuard();
  #rounds = []; // JSON
  #alternatives = []; // JSON, empty until the run is over
  #parsed = new Map();
  head = null;
  speedup = null; // a figure
  record = ""; // its JSON, or the address of its file

  /**
   * Take the newest `value`. Returns "ignored" for a late or empty message, "replaced" when another
   * run has begun, "updated" when the run on screen has news.
   */
  take(value) {
    if (!value?.head) return "ignored";
    const head = JSON.parse(value.head);
    const message = this.#guard.admit(value.key, head.badge);
    if (message === "late") return "ignored";
    if (message === "other") this.#clear();
    if (value.rounds.length < this.loaded) return "ignored"; // runs only grow, so this one is late
    this.head = head;
    this.#rounds = [...value.rounds];
    this.#alternatives = value.rivals ?? [];
    this.speedup = value.speedup ? JSON.parse(value.speedup) : null;
    this.record = value.record || this.record;
    return message === "other" ? "replaced" : "updated";
  }

  #clear() {
    this.#rounds = [];
    this.#parsed.clear();
    this.record = "";
  }

  /** How many rounds are here; of a run that is still loading these are not all. */
  get loaded() {
    return this.#rounds.length;
  }

  /** How many rounds the run has so far. */
  get count() {
    return this.head.rounds;
  }

  get isReady() {
    return this.loaded > 0;
  }

  /** The parsed round `i`, with its alternatives once they are known. */
  round(i) {
    if (!this.#parsed.has(i)) this.#parsed.set(i, parseRound(this.#rounds[i], this.head.columns));
    const round = this.#parsed.get(i);
    if (!round.alternatives && this.#alternatives[i]) addAlternatives(round, this.#alternatives[i]);
    return round;
  }
}
