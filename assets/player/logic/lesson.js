// The page "Learn" without the page: what its address asks for, which words have a meaning,
// whether an answer is right, and the score that the device keeps.

const WHOLE = /^\d{1,6}$/;
const LATIN = /[A-Za-z]/;
const NEAR = 1e-6;

/** What the query `search` asks of the lesson; numbers from 1, null where none is named. */
export function lessonIn(search) {
  const query = new URLSearchParams(search);
  const whole = (name) => (WHOLE.test(query.get(name) ?? "") ? Number(query.get(name)) : null);
  return {
    page: query.get("learn"),
    chapter: whole("learn"),
    run: query.get("run"),
    round: whole("round"),
    language: query.get("lang"),
    isEmbedded: query.get("embed") === "1",
  };
}

/** The address that opens the lesson at `place`, a chapter (from 1) or the name of a page. */
export function lessonLink(page, place, { run, round, language }, isEmbedded = false) {
  const query = new URLSearchParams({ learn: place, run, lang: language });
  if (round !== null) query.set("round", round);
  if (isEmbedded) query.set("embed", 1);
  return `${page}?${query}`;
}

/** Whether the letters around `text[start:end]` let it be a word of its own. */
function isWhole(text, start, end) {
  const isLatin = (at) => LATIN.test(text[at] ?? "");
  return !(isLatin(start) && isLatin(start - 1)) && !(isLatin(end - 1) && isLatin(end));
}

/** The next place in `text` from `from` at which a form of `entries` stands, the longest first. */
function nextWord(text, from, entries) {
  const low = text.toLowerCase();
  let best = null;
  for (const entry of entries)
    for (const form of entry.forms) {
      let at = low.indexOf(form.toLowerCase(), from);
      while (at >= 0 && !isWhole(text, at, at + form.length))
        at = low.indexOf(form.toLowerCase(), at + 1);
      const isBetter =
        best === null || at < best.at || (at === best.at && form.length > best.length);
      if (at >= 0 && isBetter) best = { at, length: form.length, entry };
    }
  return best;
}

/** `text` as parts: `{ text }`, and `{ text, entry }` where a word of the glossary first occurs. */
export function withWords(text, glossary) {
  const parts = [];
  let [rest, from] = [glossary, 0];
  for (let found = nextWord(text, 0, rest); found; found = nextWord(text, from, rest)) {
    const { at, length, entry } = found;
    if (at > from) parts.push({ text: text.slice(from, at) });
    parts.push({ text: text.slice(at, at + length), entry });
    from = at + length;
    rest = rest.filter((one) => one !== entry);
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}

/** Whether `given` answers `question`: of a λ any that does it, "none" where none does. */
export function isAnswer({ kind, answer }, given) {
  if (kind === "choice" || kind === "node") return given === answer;
  if (given === "none") return kind === "lam" && !answer.length;
  const text = String(given).trim().replace(",", ".");
  const number = Number(text);
  if (text === "" || Number.isNaN(number)) return false;
  if (kind === "lam") return answer.some((one) => Math.abs(one - number) < NEAR);
  return Math.abs(number - answer) < NEAR;
}

/** The score `{ answers, done }` after an answer to the question `id`: its first one counts. */
export const withAnswer = (score, id, isRight) =>
  id in score.answers ? score : { ...score, answers: { ...score.answers, [id]: isRight } };

/** The score after the task of a chapter was done. */
export const withDone = (score, chapter) =>
  score.done.includes(chapter) ? score : { ...score, done: [...score.done, chapter] };

/** How many questions were tried, and how many of them right at the first try. */
export const countOf = ({ answers }) => ({
  tried: Object.keys(answers).length,
  right: Object.values(answers).filter(Boolean).length,
});

/** A score that the device kept as `text`; an empty one where it is none. */
export function readScore(text) {
  try {
    const { answers, done } = JSON.parse(text);
    if (Array.isArray(done) && typeof answers === "object" && answers) return { answers, done };
  } catch {}
  return { answers: {}, done: [] };
}
