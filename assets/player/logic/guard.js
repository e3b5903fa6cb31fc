// Runs follow each other on the page, and a message of a run that was replaced may come late.

/** Knows which run is on screen and which were there before it. */
export class RunGuard {
  #current = null;
  #replaced = new Set();

  /**
   * What a message of the run `key` is: "late" when that live run was replaced by another (a
   * recorded one may be chosen again), "other" when its run takes the place of the one on screen,
   * "same" when it belongs to that one.
   */
  admit(key, badge) {
    if (key === this.#current) return "same";
    if (badge === "live" && this.#replaced.has(key)) return "late";
    this.#replaced.add(this.#current);
    this.#current = key;
    return "other";
  }
}
