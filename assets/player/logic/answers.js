// Answers to the challenges of Learn.

const TOLERANCE = 0.051; // answers are asked for with one decimal

/** Whether `text`, with a decimal point or comma, is the number that was asked for. */
export function isRight(text, number) {
  const given = Number(text.replace(",", "."));
  return text.trim() !== "" && Math.abs(given - number) < TOLERANCE;
}
