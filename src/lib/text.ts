/** Text that PostgreSQL takes: the NUL character and halves of surrogate pairs become U+FFFD. */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\u0000') ? wellFormed.replaceAll('\u0000', '\ufffd') : wellFormed;
}

/** Replaces every run of white space by one space and trims the ends. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The first `lengthMax` UTF-16 code units, without half a surrogate pair, with an ellipsis if something was cut. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const last = text.charCodeAt(lengthMax - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHalf ? lengthMax - 1 : lengthMax).trimEnd()}…`;
}
