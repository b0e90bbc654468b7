/**
 * A lower bound of the bytes that a value takes as JSON text, in one pass without writing it: what its texts, names and marks take when
 * nothing needs an escape and all is ASCII. Stops adding once `max` is passed.
 */
export function jsonBytesAtLeast(value: unknown, max: number): number {
  return measure(value, max, (text) => text.length + 2);
}

/** The bytes that a plain JSON value takes as JSON text in UTF-8. Stops adding once `max` is passed. */
export function jsonBytes(value: unknown, max: number): number {
  return measure(value, max, (text) => Buffer.byteLength(JSON.stringify(text)));
}

/** Bytes that one UTF-16 code unit takes at most: a control character is written as an escape. */
export const jsonBytesOfCharMax = 6;

function measure(root: unknown, max: number, textBytes: (text: string) => number): number {
  const rest: unknown[] = [root];
  let bytes = 0;
  while (rest.length > 0 && bytes <= max) {
    const value = rest.pop();
    if (typeof value === 'string') bytes += textBytes(value);
    else if (Array.isArray(value)) {
      bytes += value.length + 1;
      for (const item of value) rest.push(item);
    } else if (value instanceof Date) bytes += 26;
    else if (typeof value === 'object' && value !== null) {
      bytes += 1;
      for (const [name, member] of Object.entries(value)) {
        if (member === undefined) continue;
        bytes += textBytes(name) + 2;
        rest.push(member);
      }
    } else bytes += String(value).length;
  }
  return bytes;
}
