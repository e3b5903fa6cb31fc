// Links that restore a view: written into the page's address, read from it, and when to follow one.

const WHOLE = /^\d{1,6}$/;

/**
 * What the query `search` of an address asks for: the run or prompt, the round (from 1) and node of
 * a shared view and what its panel "What if" says, null where it names none; and whether the player
 * is embedded in another page.
 */
export function parseQuery(search) {
  const query = new URLSearchParams(search);
  const whole = (name) => (WHOLE.test(query.get(name) ?? "") ? Number(query.get(name)) : null);
  return {
    run: query.get("run"),
    prompt: query.get("prompt"),
    round: whole("round"),
    node: whole("node"),
    whatIf: query.get("whatif"),
    isEmbedded: query.get("embed") === "1",
  };
}

/**
 * The address of round `round` (from 0) and of a drafted `node`, if one is pinned; `page` is the
 * page's own address, `run` are the query parameters that bring the run back, `whatIf` what its
 * panel says, if that is open.
 */
export function linkTo(page, run, round, node, whatIf = null) {
  const query = new URLSearchParams({ ...run, round: round + 1 });
  if (node !== null && node >= 0) query.set("node", node);
  if (whatIf !== null) query.set("whatif", whatIf);
  return `${page}?${query}`;
}

/**
 * Whether the view that was `wanted` (see `parseQuery`) can be shown: it is one of the run with
 * this `head`, which has come so far or will not come further.
 */
export function isReached({ run, prompt, round }, { link, state }, loaded) {
  if (round === null || !loaded) return false;
  const isItsRun = run === null ? prompt === link.prompt : run === link.run;
  return isItsRun && (loaded >= round || state === "done");
}
