/** The text of a JSON string literal, quotes included. A literal without escapes is cut: a third of the time that a parser takes. */
export function readLiteral(json: string): string {
  return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1);
}

/** Longer texts are written faster by the engine's own code. */
const shortMax = 32;

/** A text as a JSON string literal, quotes included. */
export function writeLiteral(text: string): string {
  if (text === '') return '""';
  if (text.length > shortMax) return JSON.stringify(text);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // Control characters, quotes, back slashes, and halves of characters are escaped.
    if (code < 32 || code === 34 || code === 92 || code >= 0xd800) return JSON.stringify(text);
  }
  return `"${text}"`;
}

/**
 * A text as a JSON string literal, of which only cuts can need escapes: it is joined of parts of literals without any. Halves of characters at its ends are
 * escaped.
 */
export function quoteUnescaped(text: string): string {
  if (text === '') return '""';
  return text.charCodeAt(0) < 0xd800 && text.charCodeAt(text.length - 1) < 0xd800 ? `"${text}"` : JSON.stringify(text);
}
