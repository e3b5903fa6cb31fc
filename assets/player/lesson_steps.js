// Pictures of the lesson that the reader steps through: tokens one by one, guesses and checks,
// candidates by position, two lanes that write the same text.

import { make, makeButton } from "./dom.js";
import { fill } from "./logic/format.js";
import { makeChip } from "./text.js";

/** Plain decoding, one token a press. */
export function writer({ steps }, { ui, values }, on) {
  const [box, text, clock] = [make("div"), make("div", undefined, "text"), make("p", "", "remark")];
  clock.setAttribute("role", "status");
  let [count, ms] = [0, 0];
  const button = makeButton(ui.pass, () => {
    const [token, cost] = steps[count];
    text.append(makeChip(token, "accepted", count, count));
    count += 1;
    ms += Number(cost);
    clock.textContent = fill(ui.written, { count, ms });
    button.disabled = count === steps.length;
    if (count >= Number(values.goal)) on.done();
  });
  box.append(text, button, clock);
  return box;
}

/** The tokens of a guess, with what the target made of each once it was checked. */
function guessOf({ draft }, isChecked) {
  const list = make("ol", undefined, "lesson-guess");
  for (const [token, probability, isKept] of draft) {
    const item = make("li", `‘${token}’`, isChecked ? (isKept ? "accepted" : "rejected") : "");
    if (isChecked) item.append(make("small", `${isKept ? "●" : "×"} ${probability}`));
    list.append(item);
  }
  return list;
}

/** Rounds of one path each. The round that is asked about tells only when that is settled. */
export function rounds({ steps, asked }, { ui }, on) {
  const [box, list] = [make("div"), make("div", undefined, "lesson-rounds")];
  list.setAttribute("role", "log");
  let [count, reveal] = [0, () => {}];
  const show = (index, isChecked) => {
    const step = steps[index];
    const item = make("section");
    const said = isChecked ? fill(ui.kept, { ...step, drafted: step.draft.length }) : ui.hidden;
    item.append(make("h4", fill(ui.guess, { round: index + 1 })));
    item.append(guessOf(step, isChecked), make("p", said, "remark"));
    return item;
  };
  const button = makeButton(ui.next_round, () => {
    const index = count++;
    const item = show(index, index !== asked || reveal === null);
    list.append(item);
    if (index === asked && reveal !== null) {
      reveal = () => item.replaceWith(show(index, true));
    }
    button.disabled = count === steps.length;
    if (button.disabled) on.done();
  });
  on.settled(() => {
    reveal?.();
    reveal = null;
  });
  box.append(button, list);
  return box;
}

/** The candidates of every position as buttons; `pick(position, rank, candidate)`. */
export function candidateGrid(columns, pick, ui) {
  const grid = make("div", undefined, "lesson-columns");
  grid.setAttribute("role", "group");
  grid.setAttribute("aria-label", ui.columns);
  columns.forEach((candidates, position) => {
    const column = make("div");
    column.append(make("b", `+${position + 1}`));
    candidates.forEach((candidate, rank) => {
      const button = makeButton(candidate.labels[0], () => pick(position, rank, candidate, button));
      button.setAttribute("aria-label", `+${position + 1}: ${candidate.labels[0]}, ${candidate.q}`);
      button.style.setProperty("--share", `${Math.round(55 * candidate.share)}%`);
      column.append(button);
    });
    grid.append(column);
  });
  return grid;
}

/** Look at candidates: each says its probability. */
export function lookAt({ columns }, { ui, values }, on) {
  const [box, told, seen] = [make("div"), make("p", "", "remark"), new Set()];
  told.setAttribute("role", "status");
  const look = (position, _, { labels, q, log_q }) => {
    const place = `+${position + 1}`;
    told.textContent = fill(ui.looked, { label: `‘${labels[0]}’`, place, q, log_q });
    seen.add(position);
    if (seen.size >= Number(values.goal)) on.done();
  };
  box.append(candidateGrid(columns, look, ui), told);
  return box;
}

/** Take a token at every position, and read beside it what the target wrote. */
export function pickBest({ columns }, { ui, values }, on) {
  const box = make("div");
  const chosen = columns.map(() => null); // ranks
  const [mine, theirs] = [make("p", "", "lesson-text"), make("p", "", "lesson-text")];
  mine.setAttribute("role", "status");
  const pick = (position, rank, _, button) => {
    chosen[position] = rank;
    for (const other of button.parentElement.querySelectorAll("button"))
      other.setAttribute("aria-pressed", String(other === button));
    const tokens = chosen.map((at, i) => (at === null ? "·" : columns[i][at].labels[0]));
    mine.textContent = `${ui.picked}: ${tokens.join(" ")}`;
    if (!chosen.every((at) => at === 0)) return;
    mine.textContent = `${ui.picked}: ${values.guess}`;
    on.done();
  };
  on.settled(() => {
    theirs.textContent = `${ui.wrote}: ${values.wrote}`;
  });
  box.append(candidateGrid(columns, pick, ui), mine, theirs);
  return box;
}

/** Two lanes of one text: a press brings the next round of each. */
export function lanes([ours, plain], ui) {
  const box = make("div", undefined, "lesson-lanes");
  const texts = [ui.lane_presto, ui.lane_ar].map((name) => {
    const text = make("div", undefined, "text");
    text.dir = "auto";
    box.append(make("h4", name), text);
    return text;
  });
  let count = 0;
  const button = makeButton(ui.next_both, () => {
    [ours, plain].forEach((lane, i) => {
      for (const [text, kind] of lane[count] ?? [])
        texts[i].append(makeChip(text, i ? "accepted" : kind, count, count));
    });
    count += 1;
    button.disabled = count >= plain.length;
  });
  box.prepend(button);
  return box;
}
