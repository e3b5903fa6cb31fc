// The parts of the player that act on it: what they do when the reader uses them.

import { FilmPanel } from "./film_panel.js";
import { Playback } from "./logic/playback.js";
import { View } from "./view.js";

/** Everything that `player` shows of a round, in `root` with its elements `part`. */
export const viewOf = (player, root, part) =>
  new View(root, part, {
    pin: (node) => player.pin(node),
    go: (round) => player.jump(round),
    view: (name) => player.learn.notice(`view:${name}`),
    idle: () => player.prepareNext(),
  });

/** The film of the search that built the tree on screen; `asked(what)`: where it is asked for. */
export const filmOf = (player, part, asked) =>
  new FilmPanel(part, asked, { pick: (node) => player.pin(node), speed: () => player.speed });

/** Playback of the rounds. */
export const playbackOf = (player) =>
  new Playback(() => ({ isLast: player.isLast, state: player.run.head.state }), {
    rewind: () => player.go(0),
    step: () => {
      player.view.say(player.run.head.message);
      player.go(player.round + 1);
    },
    wait: () => player.view.say("Waiting for the next round…"),
    change: (isPlaying) => player.view.showPlaying(isPlaying),
  });
