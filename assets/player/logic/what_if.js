// What the panel "What if" asks the server, and when.

const PAIR = /^([a-z_]+):([\w.]+)$/;

/** The settings among `values` that differ from the run's `own`. */
export const changesOf = (values, own) =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== own[name]));

/** `changes` for an address: "lam:0.4,budget:64"; empty for a run's own settings. */
export const toText = (changes) =>
  Object.entries(changes)
    .map(([name, value]) => `${name}:${value}`)
    .join(",");

/** The value that `text` names for a control, null where the control cannot have it. */
function readValue(text, { options, low, high, step }) {
  if (options) return options.includes(text) ? text : null;
  if (step === undefined) return { true: true, false: false }[text] ?? null;
  const number = Number(text);
  const isFit = number >= low && number <= high && (step < 1 || Number.isInteger(number));
  return isFit ? number : null;
}

/** What `toText` wrote, without what no control can have. */
export function fromText(text, controls) {
  const found = {};
  for (const part of text.split(",")) {
    const [, name, written] = part.match(PAIR) ?? [];
    const control = controls.find((one) => one.name === name);
    const value = control ? readValue(written, control) : null;
    if (value !== null) found[name] = value;
  }
  return found;
}

/** A typed or dragged number as the nearest that a control can have; null for no number. */
export function fitted(text, { low, high, step }) {
  const number = Number(text);
  if (String(text).trim() === "" || Number.isNaN(number)) return null;
  const decimals = step < 1 ? 2 : 0;
  return Math.min(high, Math.max(low, Number(number.toFixed(decimals))));
}

/**
 * Asks one question at a time, the newest: one that comes while an answer is on its way waits, in
 * place of any that waited before.
 */
export class Newest {
  #busy = false;
  #next = null;
  #isForgotten = false; // whether the answer on its way is to be shown no more

  /** `ask(question)` resolves to its answer, which is given to `show(answer, question)`. */
  constructor(ask, show) {
    this.ask = ask;
    this.show = show;
  }

  async want(question) {
    this.#next = question;
    if (this.#busy) return;
    this.#busy = true;
    try {
      while (this.#next !== null) await this.#answer();
    } finally {
      this.#busy = false;
    }
  }

  async #answer() {
    const asked = this.#next;
    this.#next = null;
    const answer = await this.ask(asked);
    const isForgotten = this.#isForgotten;
    this.#isForgotten = false;
    if (!isForgotten) this.show(answer, asked);
  }

  /** Nothing that was asked so far is to be shown any more. */
  forget() {
    this.#next = null;
    this.#isForgotten = this.#busy;
  }
}

/** The lines of a stream of bytes, each as soon as it is whole, as values of JSON. */
export async function* valuesOf(stream) {
  const decoder = new TextDecoder();
  let rest = "";
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}
