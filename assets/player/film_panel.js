// The film of the search in the panel of the tree, for the phase "build" of the round on screen: it
// is asked for, and its scripts are loaded, when it is first to be seen.

import { ask } from "./ask.js";
import { say } from "./dom.js";
import { Newest } from "./logic/what_if.js";

const KEPT = 8; // rounds whose films are kept

class FilmPanel {
  /**
   * `part`: the elements film, filmAbsent and treePanel; `address(what)`: where to ask; `on`: as
   * for a film.
   */
  constructor(part, address, on) {
    Object.assign(this, { part, on });
    this.key = null; // of the run on screen
    this.index = null; // of the round whose film is to be seen; null: none is
    this.known = new Map(); // round -> its film, or { problem }
    this.film = null; // on the page
    this.newest = new Newest(
      (question) => ask(address("film"), question),
      (answer, { round }) => this.take(answer, round),
    );
  }

  /** The run `key` is on screen, or has news. Only a finished one can be replayed. */
  offer(key, head) {
    this.absent = head.own ? "" : head.absent;
    if (key === this.key) return;
    this.key = key;
    this.known.clear();
    this.newest.forget();
    this.hide();
  }

  /** Show the film of round `index`: the one on the page is drawn as the page is now. */
  show(index) {
    if (this.index === index) {
      this.film?.draw();
      return;
    }
    this.hide();
    this.index = index;
    if (this.absent) say(this.part.filmAbsent, `No film of the search: ${this.absent}`);
    else if (this.known.has(index)) this.play();
    else this.newest.want({ key: this.key, round: index });
  }

  hide() {
    this.index = null;
    this.film?.stop();
    this.film = null;
    this.part.film.hidden = true;
    this.part.treePanel.classList.remove("filming");
    say(this.part.filmAbsent);
  }

  take(answer, round) {
    this.known.set(round, answer);
    for (const old of [...this.known.keys()].slice(0, -KEPT)) this.known.delete(old);
    if (round === this.index) this.play();
  }

  async play() {
    const { part, index, known } = this;
    const data = known.get(index);
    if (data.problem) {
      known.delete(index); // it may be asked for again
      return say(part.filmAbsent, data.problem);
    }
    const { Film } = await import("./film.js");
    if (index !== this.index || this.film) return; // the reader has gone on
    part.film.hidden = false;
    part.treePanel.classList.add("filming");
    this.film = new Film(part.film, data, this.on);
    this.film.begin();
  }
}

/** The film of the search that built the tree on `player`'s screen. */
export const filmOf = (player, part, address) =>
  new FilmPanel(part, address, { pick: (node) => player.pin(node), speed: () => player.speed });
