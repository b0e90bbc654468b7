/** What is raised to mean a power or a note; ordinals (`1st`) and units (`m2`) are read without a sign. */
const power = /^(?:[+−–-]?\d[\d.,]{0,20}|[nkxmij](?:[+−-]\d{1,3})?)$/;
const unitBefore = /(?:^|[^\p{L}])(?:[cdkmµn]?m|ft|in|yd|mi|s)$/u;
const wordBefore = /[\p{L}\p{N})\]]$/u;
const digitBefore = /\p{N}$/u;

/**
 * A raised text as it is written in a line: `10^6` and not `106`, `price^1` and not `price1`.
 *
 * @param before  what stands before it; its end is enough.
 */
export function raisedText(before: string, text: string): string {
  const words = text.trim();
  if (!power.test(words) || !wordBefore.test(before)) return text;
  if (/^[23]$/.test(words) && unitBefore.test(before)) return text;
  return `^${text}`;
}

/** A lowered text as it is written in a line: `10_2` and not `102`; `H2O` stays. */
export function loweredText(before: string, text: string): string {
  return digitBefore.test(before) && /^\d/.test(text.trim()) ? `_${text}` : text;
}

/** A line that ends with the raised half of a fraction and its stroke: `3^1/` is `3 1/`. */
export function withFraction(line: string): string {
  return line.replace(/\^(\d{1,3}[/⁄])$/, ' $1');
}
