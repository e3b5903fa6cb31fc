// Random examples for property tests, the same in every run.

/** Numbers in [0, 1) from a seed (mulberry32). */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws from `seed`: a whole number below a bound, one of several things, several of a thing. */
function draws(seed) {
  const number = generator(seed);
  const below = (bound) => Math.floor(number() * bound);
  const oneOf = (things) => things[below(things.length)];
  const several = (most, make) => Array.from({ length: below(most + 1) }, make);
  const text = (most, alphabet) => several(most, () => oneOf(alphabet)).join("");
  return { number, below, oneOf, several, text };
}

/** Call `check` with the draws of `count` seeds; an error names the seed that it came from. */
export function forAll(count, check) {
  for (let seed = 1; seed <= count; seed++)
    try {
      check(draws(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
    }
}
