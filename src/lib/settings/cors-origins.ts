/** What browsers of which origins may read: any, or those of the set. */
export type CorsOrigins = '*' | ReadonlySet<string>;

export const corsOriginsGrammar = 'origins such as https://app.example.com, separated by commas, or * alone for every origin';

/**
 * Reads a list of web origins.
 *
 * @returns undefined for no text: no other origin is allowed.
 * @throws Error that names the first entry that is not an origin.
 */
export function parseCorsOrigins(text: string | undefined): CorsOrigins | undefined {
  const entries = (text ?? '').split(',').map((entry) => entry.trim());
  const originTexts = entries.filter((entry) => entry !== '');
  if (originTexts.length === 0) return undefined;
  if (originTexts.includes('*')) {
    if (originTexts.length === 1) return '*';
    throw new Error(`"*" allows every origin and stands alone; expected ${corsOriginsGrammar}`);
  }
  return new Set(originTexts.map(readOrigin));
}

/** Browsers send origins in lower case and without the port that the scheme has by default. */
function readOrigin(entry: string): string {
  const isWritten = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*\\]+$/i.test(entry);
  const url = isWritten && URL.canParse(entry) ? new URL(entry) : undefined;
  if (url === undefined) {
    throw new Error(`"${entry}" is no origin: write scheme, host and port only; expected ${corsOriginsGrammar}`);
  }
  // Apps in a frame of their own have schemes of their own (capacitor://localhost), whose `origin` is "null" here.
  return url.origin === 'null' ? entry.toLowerCase() : url.origin;
}
