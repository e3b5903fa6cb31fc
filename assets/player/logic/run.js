// The run on screen, as Python sends it: value = { key, head, rounds: [json, …], bars: [json, …],
// replays: [json, …], speedup, points: [json, …], record }, see ui/explore_payload.py. A run that
// grows, or of which the page itself carries the beginning only, keeps its key. A round is parsed
// when it is asked for.

import { positionsOf, withPoints } from "./figures.js";
import { RunGuard } from "./guard.js";

/** `round` as it was parsed, with its rows by name and by node, and where the nodes stand. */
export function withRows(round, columns) {
  round.rows = round.rows.map((values) =>
    Object.fromEntries(values.map((value, i) => [columns[i], value])),
  );
  round.byId = new Map(round.rows.map((row) => [row.node, row]));
  round.positions = positionsOf(round.tree);
  return round;
}

/** Add to `round` what is known when the run is over: a replay of its state by other scorers. */
function addReplay(round, json) {
  Object.assign(round.charts, JSON.parse(json).charts);
  round.isReplayed = true;
}

export class Run {
  #guard = new RunGuard();
  #rounds = []; // JSON
  #replays = []; // JSON, empty until the run is over
  #parsed = new Map();
  #base = ""; // the speed-up's figure without points, as JSON
  #points = []; // of the speed-up
  bars = []; // of the timeline: tokens of every round by how they came
  head = null;
  awaited = ""; // what happens until the next run has a round
  speedup = null; // a figure, another one whenever it has changed
  record = ""; // its JSON, or the address of its file
  key = null; // what the server knows the run by

  /**
   * Take the newest `value`. Returns "ignored" for a late or empty message, "awaited" when another
   * run was asked for that has no round yet (`awaited` says what happens), "replaced" when it has
   * begun, "updated" when the run on screen has news.
   */
  take(value) {
    if (!value?.head) return "ignored";
    const head = JSON.parse(value.head);
    const isEmpty = head.state === "running" && !value.rounds.length;
    const message = this.#guard.admit(value.key, head.badge, isEmpty);
    if (message === "late") return "ignored";
    if (message === "awaited") {
      this.awaited = head.message;
      return "awaited";
    }
    if (message === "other") this.#clear();
    if (value.rounds.length < this.loaded) return "ignored"; // runs only grow, so this one is late
    this.head = head;
    this.key = value.key;
    this.#rounds = [...value.rounds];
    this.#replays = value.replays;
    for (const json of value.bars.slice(this.bars.length)) this.bars.push(JSON.parse(json));
    this.#takeSpeedup(value);
    this.record = value.record || this.record;
    return message === "other" ? "replaced" : "updated";
  }

  /** Take the speed-up's figure and the points that are new. */
  #takeSpeedup({ speedup, points }) {
    if (speedup === this.#base && points.length === this.#points.length) return;
    for (const json of points.slice(this.#points.length)) this.#points.push(JSON.parse(json));
    this.#base = speedup;
    this.speedup = speedup ? withPoints(JSON.parse(speedup), this.#points) : null;
  }

  #clear() {
    this.#rounds = [];
    this.bars = [];
    this.#points = [];
    this.#base = "";
    this.speedup = null;
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

  /** Tokens that the blind tree would have committed in every round; none while it goes on. */
  get blind() {
    return this.head.blind ?? [];
  }

  get isReady() {
    return this.loaded > 0;
  }

  /** The parsed round `i`, with its replay once that is known. */
  round(i) {
    if (!this.#parsed.has(i))
      this.#parsed.set(i, withRows(JSON.parse(this.#rounds[i]), this.head.columns));
    const round = this.#parsed.get(i);
    if (!round.isReplayed && this.#replays[i]) addReplay(round, this.#replays[i]);
    return round;
  }
}
