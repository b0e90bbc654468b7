/**
 * A part of a template: plain text, an argument `{name}`, a secret `{{secret:KEY}}`, or a JSON text inside a member. The values of
 * such JSON are filled one by one, so that an argument cannot add a member.
 */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'argument'; readonly path: readonly string[] }
  | { readonly kind: 'secret'; readonly key: string }
  | { readonly kind: 'json'; readonly value: unknown };
export type Template = readonly Piece[];

export interface Values {
  readonly args: Readonly<Record<string, unknown>>;
  /** @throws DomainError for an unknown secret. */
  readonly secret: (key: string) => string;
}

const placeholder = /\{\{secret:([A-Za-z][A-Za-z0-9_.-]{0,99})\}\}|\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)\}/g;

/** Parses a template, once and before any value is known: filled-in values are never searched for placeholders. */
export function parseTemplate(text: string): Template {
  const json = jsonIn(text);
  if (json !== undefined) return [{ kind: 'json', value: json }];
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(placeholder)) {
    const [whole, key, path] = match;
    if (match.index > end) pieces.push({ kind: 'text', text: text.slice(end, match.index) });
    pieces.push(key === undefined ? { kind: 'argument', path: (path ?? '').split('.') } : { kind: 'secret', key });
    end = match.index + whole.length;
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) });
  return pieces;
}

/** The JSON value of a text with placeholders; undefined for other texts, and for JSON without placeholders. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || text.search(placeholder) < 0) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Encodes a value for the place where it is filled in. */
export type Encode = (text: string, kind: 'argument' | 'secret') => string;

/**
 * Fills a template; `encode` applies to values, never to the template's own text.
 *
 * @returns undefined when an argument of the template is missing.
 */
export function fillTemplate(template: Template, values: Values, encode: Encode): string | undefined {
  let output = '';
  for (const piece of template) {
    if (piece.kind === 'text') output += piece.text;
    else if (piece.kind === 'secret') output += encode(values.secret(piece.key), 'secret');
    else if (piece.kind === 'json') output += encode(JSON.stringify(fillJson(piece.value, values)), 'argument');
    else {
      const value = findArgument(piece.path, values.args);
      if (value === undefined || value === null) return undefined;
      output += encode(toText(value), 'argument');
    }
  }
  return output;
}

/**
 * Fills the texts of a JSON value. A text that consists of one argument becomes the argument's value with its type, and is left out
 * when the argument is missing.
 */
export function fillJson(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const template = parseTemplate(value);
    const path = soleArgument(template);
    return path === undefined ? fillTemplate(template, values, (text) => text) : findArgument(path, values.args);
  }
  if (Array.isArray(value)) return value.map((one) => fillJson(one, values)).filter((one) => one !== undefined);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const filledItem = fillJson(one, values);
      return filledItem === undefined ? [] : [[name, filledItem]];
    }),
  );
}

/** The single argument that a template consists of: it keeps its type. */
export function soleArgument(template: Template): readonly string[] | undefined {
  const [first] = template;
  return template.length === 1 && first?.kind === 'argument' ? first.path : undefined;
}

/** Own members only. */
export function findArgument(path: readonly string[], args: Readonly<Record<string, unknown>>): unknown {
  let value: unknown = args;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** The arguments of a template, by the first part of their paths. */
export function argumentNames(template: Template): readonly string[] {
  return template.flatMap((piece) => {
    if (piece.kind === 'argument') return [piece.path[0] ?? ''];
    return piece.kind === 'json' ? argumentNamesIn(piece.value) : [];
  });
}

/** The arguments that the texts of a JSON value name. */
export function argumentNamesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return argumentNames(parseTemplate(value));
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(argumentNamesIn) : [];
}

export function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
