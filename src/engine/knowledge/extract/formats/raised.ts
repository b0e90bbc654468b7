/** What is raised to mean a power or a note; ordinals (`1st`) and units (`m2`) are read without a sign. */
const power = /^(?:[+−–-]?\d[\d.,]{0,20}|[nkxmij](?:[+−-]\d{1,3})?)$/;
const unitBefore = /(?:^|[^\p{L}])(?:[cdkmµn]?m|ft|in|yd|mi|s)$/u;
const wordBefore = /[\p{L}\p{N})\]]$/u;
const digitBefore = /\p{N}$/u;
/** Of what stands before, so much tells how it is written. */
const endChars = 8;

/**
 * A raised text as it is written in a line: `10^6` and not `106`, `price^1` and not `price1`.
 *
 * @param before  what stands before it; its end is enough.
 */
export function raisedText(before: string, text: string): string {
  const words = text.trim();
  const end = before.slice(-endChars);
  if (!power.test(words) || !wordBefore.test(end)) return text;
  if (/^[23]$/.test(words) && unitBefore.test(end)) return text;
  return `^${text}`;
}

/** A lowered text as it is written in a line: `10_2` and not `102`; `H2O` stays. */
export function loweredText(before: string, text: string): string {
  return digitBefore.test(before.slice(-1)) && /^\d/.test(text.trim()) ? `_${text}` : text;
}

/** A line that ends with the raised half of a fraction and its stroke: `3^1/` is `3 1/`. */
export function withFraction(line: string): string {
  const half = /\^\d{1,3}[/⁄]$/.exec(line.slice(-5))?.[0];
  return half === undefined ? line : `${line.slice(0, -half.length)} ${half.slice(1)}`;
}

/** A line with a raised or lowered text at its end. @param goesOn  whether it goes on with such a text before it, which came in several runs. */
export function withScript(line: string, text: string, isRaised: boolean, goesOn: boolean): string {
  const before = isRaised ? line : withFraction(line);
  if (goesOn) return before + text;
  return before + (isRaised ? raisedText(before, text) : loweredText(before, text));
}

/** A line with struck words at its end, in marks. @param goesOn  whether it ends with such words, which came in several runs: they share the marks. */
export function withStruck(line: string, text: string, goesOn: boolean): string {
  return `${goesOn ? line.slice(0, -1) : `${line}~`}${text}~`;
}
