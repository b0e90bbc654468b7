/** What OTEL_EXPORTER_OTLP_HEADERS allows, in words. */
export const headerListGrammar = 'headers such as api-key=secret,x-team=a, with percent-encoded values';

/** Headers that the exporter sets itself. */
const ownHeaders = new Set(['content-type', 'content-length', 'host', 'transfer-encoding', 'connection']);

/**
 * Reads the list of headers that OpenTelemetry's settings have: `name=value` pairs with commas, values percent-encoded.
 *
 * @throws Error that says what is wrong, without the value: it is a secret, as a rule.
 */
export function parseHeaderList(text: string | undefined): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [index, pair] of (text ?? '').split(',').entries()) {
    if (pair.trim() === '') continue;
    const split = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, split)).trim().toLowerCase();
    const place = `OTEL_EXPORTER_OTLP_HEADERS, pair ${index + 1}`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new Error(`${place}: must be name=value, with a name that a header may have`);
    if (ownHeaders.has(name)) throw new Error(`${place}: the exporter sets the header ${name} itself`);
    headers[name] = decoded(pair.slice(split + 1).trim(), `${place} (${name})`);
  }
  return headers;
}

function decoded(value: string, place: string): string {
  let text: string;
  try {
    text = decodeURIComponent(value);
  } catch {
    throw new Error(`${place}: the value is not percent-encoded text; write % as %25`);
  }
  if (!/^[\t\x20-\x7e]*$/.test(text)) throw new Error(`${place}: the value must be printable ASCII`);
  return text;
}
