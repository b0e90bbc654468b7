/** Text as PostgreSQL takes it: the NUL character and halves of surrogate pairs become U+FFFD. */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\u0000') ? wellFormed.replaceAll('\u0000', '\ufffd') : wellFormed;
}

/** On one line: every run of white space becomes one space, none at the ends. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The first `lengthMax` UTF-16 code units, never half a surrogate pair, with an ellipsis where something was cut. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const last = text.charCodeAt(lengthMax - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHalf ? lengthMax - 1 : lengthMax).trimEnd()}…`;
}
