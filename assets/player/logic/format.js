// Text around values that Python sent.

/** `text` with every `{name}` replaced by its value; a name without a value stays as it is. */
export const fill = (text, values) =>
  text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

/** A share of 1 as a whole percentage. */
export const percent = (share) => `${Math.round(100 * share)} %`;

/** A value, or a dash where there is none. */
export const orDash = (value) => value ?? "–";
