// Playback: a round after the other at a steady pace, never ahead of the data.

export const ROUND_TIME = 1400; // milliseconds a round stays on screen at speed 1

/** What playback does next: show the next round, wait for it, or stop. */
export function nextAction({ isLast, state }) {
  if (!isLast) return "step";
  return state === "running" ? "wait" : "stop";
}

export class Playback {
  #timer = null;

  /**
   * `position()` tells where the reader is: { isLast, state }. `on` is told what to do: `rewind`,
   * `step` and `wait`; and `change(isPlaying)` when playback starts or stops.
   */
  constructor(position, on) {
    this.position = position;
    this.on = on;
  }

  get isPlaying() {
    return this.#timer !== null;
  }

  /** Start, at the first round when a whole run has been seen to its end. */
  start(speed) {
    const { isLast, state } = this.position();
    if (isLast && state === "done") this.on.rewind();
    this.#run(speed);
    this.on.change(true);
  }

  #run(speed) {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#advance(), ROUND_TIME / speed);
  }

  #advance() {
    const action = nextAction(this.position());
    if (action === "stop") this.stop();
    else this.on[action]();
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.on.change(false);
  }

  toggle(speed) {
    if (this.isPlaying) this.stop();
    else this.start(speed);
  }

  /** Go on at another speed; without playback there is nothing to change. */
  changeSpeed(speed) {
    if (this.isPlaying) this.#run(speed);
  }
}
