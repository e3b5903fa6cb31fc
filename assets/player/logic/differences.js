// Places where runs or settings part, and the way from one to the next.

/**
 * The next or previous place (`step` 1 or -1) that is one of `differences`; undefined when there is
 * none. Places count from 1, `differences` from 0, as Python does.
 */
export function disagreement(differences, position, step) {
  const positions = differences.map((index) => index + 1);
  return step > 0
    ? positions.find((other) => other > position)
    : positions.findLast((other) => other < position);
}
