// Runs follow each other on the page, and a message of a run that was replaced may come late.

/** Knows which run is on screen, which one is awaited, and which were there before. */
export class RunGuard {
  #current = null;
  #replaced = new Set();
  #isAwaited = false;

  /**
   * What a message of the run `key` is: "late" when that live run was replaced by another (a
   * recorded one may be chosen again), "awaited" when its run goes on and has nothing to show yet
   * (`isEmpty`) while another one is on screen, "other" when its run takes the place of the one on
   * screen, "same" when it belongs to that one.
   */
  admit(key, badge, isEmpty = false) {
    if (key === this.#current && !this.#isAwaited) return "same";
    if (key !== this.#current) {
      if (badge === "live" && this.#replaced.has(key)) return "late";
      this.#isAwaited = this.#current !== null;
      this.#replaced.add(this.#current);
      this.#current = key;
    }
    if (isEmpty && this.#isAwaited) return "awaited";
    this.#isAwaited = false;
    return "other";
  }
}
