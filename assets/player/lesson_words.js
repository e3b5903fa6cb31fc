// Texts of the lesson as elements: words with a meaning, formulas, explanations.

import { make, makeButton } from "./dom.js";
import { fill } from "./logic/format.js";
import { withWords } from "./logic/lesson.js";
import { explain } from "./tips.js";

/** What the note of a glossary entry says. */
const meaningOf = ({ word, symbol, term, meaning }) =>
  `${word}${symbol ? ` (${symbol})` : ""} · ${term}: ${meaning}`;

/** A `tag` with `text`, whose `{names}` are filled from `values`, its words explained. */
export function words(tag, text, values, glossary, className = "") {
  const element = make(tag, undefined, className);
  for (const part of withWords(fill(text, values), glossary)) {
    if (!part.entry) {
      element.append(part.text);
      continue;
    }
    const word = makeButton(part.text);
    explain(word, meaningOf(part.entry));
    element.append(word);
  }
  return element;
}

/** A formula, what each of its symbols means, and where it comes from. */
export function formulaBox({ text, symbols, cite }, ui, values, lines = []) {
  const box = make("section", undefined, "lesson-formula");
  const list = make("dl");
  for (const [symbol, meaning] of symbols)
    list.append(make("dt", symbol), make("dd", fill(meaning, values)));
  box.append(make("h4", ui.formula), make("p", text, "mono"));
  for (const line of lines) box.append(make("p", line, "mono more"));
  box.append(make("h4", ui.symbols), list, make("p", `${ui.cite}: ${cite}`, "more"));
  return box;
}

/** Tokens, each with the target's probability and what became of it. */
export function whyList(why, ui) {
  const box = make("div", undefined, "lesson-why");
  const list = make("ol");
  for (const [token, probability, status] of why) {
    const item = make("li", undefined, status);
    item.append(make("b", token), ` ${probability} · ${ui[status] ?? status}`);
    list.append(item);
  }
  box.append(make("p", ui.why), list);
  return box;
}

/** All words with their symbols and terms. */
export function glossaryList(glossary) {
  const list = make("dl", undefined, "glossary");
  for (const { word, symbol, term, meaning } of glossary) {
    const name = make("dt", word);
    name.append(make("small", [symbol, term].filter(Boolean).join(" · ")));
    list.append(name, make("dd", meaning));
  }
  return list;
}

/** What is often said, and what is true. */
export function mythList(myths, ui, glossary) {
  const list = make("dl", undefined, "myths");
  for (const [claim, truth] of myths) {
    list.append(make("dt", `${ui.myth}: “${claim}”`));
    list.append(words("dd", `${ui.truth}: ${truth}`, {}, glossary));
  }
  return list;
}
