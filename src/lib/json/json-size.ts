/**
 * A lower bound of a value's bytes as JSON text, in one pass without writing it: as if nothing needed an escape and all were ASCII.
 * Stops once `max` is exceeded.
 */
export function jsonBytesAtLeast(value: unknown, max: number): number {
  return measure(value, max, (text) => text.length + 2);
}

/** The bytes of a plain JSON value as JSON text in UTF-8. Stops once `max` is exceeded. */
export function jsonBytes(value: unknown, max: number): number {
  return measure(value, max, (text) => Buffer.byteLength(JSON.stringify(text)));
}

/** Most bytes of one UTF-16 code unit: a control character becomes an escape. */
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
