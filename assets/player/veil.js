// While a run loads, what was on screen stays under a veil, which says what happens and for how
// long.

import { say } from "./dom.js";

export class Veil {
  #since = 0; // when the wait began, in milliseconds
  #timer = 0;

  /** Of the page's parts: where the veil lies, what it says, and where the page says it too. */
  constructor({ veil, veilWords, veilClock, message }) {
    Object.assign(this, { box: veil, words: veilWords, clock: veilClock, message });
  }

  /** Draw the veil, or keep it, with a sentence about what happens now. */
  show(message) {
    this.words.textContent = message;
    say(this.message, message);
    if (this.#timer) return;
    this.#since = performance.now();
    this.#timer = setInterval(() => this.#tick(), 1000);
    this.#tick();
    this.box.hidden = false;
  }

  lift() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.box.hidden = true;
  }

  #tick() {
    this.clock.textContent = `${Math.round((performance.now() - this.#since) / 1000)} s`;
  }
}
