/**
 * Reads the flat answers of S3. They are lists of elements without attributes, and what is read from them (keys of our own, ids, times) has no
 * mark-up of its own.
 */

/** The text of the first element of that name; undefined when there is none. */
export function textOf(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}(?:\\s[^<>]*)?>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? undefined : decoded(found);
}

/** What stands in each element of that name. */
export function partsOf(xml: string, name: string): readonly string[] {
  const [, ...parts] = xml.split(`<${name}>`);
  return parts.flatMap((part) => {
    const end = part.indexOf(`</${name}>`);
    return end === -1 ? [] : [part.slice(0, end)];
  });
}

const entities: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' };

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return entities[name] ?? whole;
  });
}
