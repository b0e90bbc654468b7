import { argumentNames, parseTemplate, soleArgument, type Template } from './template.ts';

/** `name=value` of a query or a form. The name is fixed text; only the value is filled. */
export interface Pair {
  readonly name: string;
  /** Undefined for a name without `=`. */
  readonly value: Template | undefined;
}

/** A body that is not JSON. `encode` keeps a value inside its place. */
export type TextBody =
  | { readonly kind: 'form'; readonly pairs: readonly Pair[] }
  | { readonly kind: 'text'; readonly value: Template; readonly encode: (text: string) => string };

type Fault = (message: string) => void;

/** Reads `a=1&b={b}`. An argument as a name is a fault: it could be the name of a member that the author fixed. */
export function readPairs(text: string, fault: Fault): readonly Pair[] {
  if (text === '') return [];
  return text.split('&').map((pair) => {
    const place = pair.indexOf('=');
    const name = place < 0 ? pair : pair.slice(0, place);
    if (argumentNames(parseTemplate(name)).length > 0) fault('must take arguments as values only: name={argument}');
    return { name, value: place < 0 ? undefined : readValue(pair.slice(place + 1)) };
  });
}

/** JSON in a value is usually percent-encoded. */
function readValue(text: string): Template {
  const bodyTemplate = parseTemplate(decodedText(text));
  return bodyTemplate[0]?.kind === 'json' ? bodyTemplate : parseTemplate(text);
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Decodes like a lenient server, which leaves bad escapes as they are. Each byte becomes a character: only ASCII matters here. */
export function decodedLeniently(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/**
 * Reads a text body by its content type. With a type of unknown syntax one argument may be the whole body: inside other text an
 * argument could end a member and begin the next.
 */
export function readTextBody(text: string, contentType: string, fault: Fault): TextBody {
  const value = parseTemplate(text);
  const isWhole = soleArgument(value) !== undefined;
  if (/x-www-form-urlencoded/i.test(contentType) && !isWhole) return { kind: 'form', pairs: readPairs(text, fault) };
  if (/[/+]xml|html/i.test(contentType)) return { kind: 'text', value, encode: markupText };
  const isFree = isWhole || argumentNames(value).length === 0 || /^\s*text\/(?:plain|markdown)\b/i.test(contentType);
  if (!isFree) fault('may take arguments among other text in JSON, forms, XML, HTML and text/plain only');
  return { kind: 'text', value, encode: (own) => own };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function markupText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
