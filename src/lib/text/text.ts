/** Text that PostgreSQL takes: the NUL character and halves of surrogate pairs become U+FFFD. */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\u0000') ? wellFormed.replaceAll('\u0000', '\ufffd') : wellFormed;
}

/** JSON that PostgreSQL takes: every text and name in it is storable. Members that are undefined are left out, as in JSON. */
export function storableJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (text === undefined) return undefined;
  // Nothing else is written as an escape with four digits.
  if (!/\\u[0-9a-f]{4}/i.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_name, member: unknown) => {
    if (typeof member === 'string') return storableText(member);
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const names = Object.keys(member);
    if (names.every((name) => name === storableText(name))) return member;
    return Object.fromEntries(Object.entries(member).map(([name, value]) => [storableText(name), value]));
  });
}

/** A name that people may be shown: one line, without control characters and marks that turn the direction of writing. */
export function printableName(text: string, lengthMax: number): string {
  return cutText(oneLine(storableText(text).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ')), lengthMax);
}

const unseenMarks = /[\u00ad\u2060\ufeff]|(?<![\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}\p{M}])\u200b/gu;

/**
 * Without marks of no width that say where a word may be divided, and would divide it for a search: soft hyphens, word joiners, and spaces of no width.
 * Those spaces stay in scripts that have no others between words.
 */
export function withoutUnseenMarks(text: string): string {
  return text.replace(unseenMarks, '');
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

/** The beginning of a text that has at most `bytesMax` bytes in UTF-8, with an ellipsis if something was cut. */
export function cutBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  const bytes = Buffer.from(text);
  let end = bytesMax - Buffer.byteLength('…');
  // Never ends inside of a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}…`;
}

/** The characters that percent signs stand for in a part of an address; the part as it is where they stand for none. */
export function decodePercents(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A name such as `maxTokens` as `max_tokens`. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
