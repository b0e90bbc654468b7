/** A piece of a template: text as it stands, an argument `{name}`, or a secret `{{secret:KEY}}`. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'argument'; readonly path: readonly string[] }
  | { readonly kind: 'secret'; readonly key: string };
export type Template = readonly Piece[];

export interface Values {
  readonly args: Readonly<Record<string, unknown>>;
  /** @throws DomainError when there is no such secret. */
  readonly secret: (key: string) => string;
}

const placeholder = /\{\{secret:([A-Za-z][A-Za-z0-9_.-]{0,99})\}\}|\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)\}/g;

/** Reads a template. It is read once, before any value is known: what is filled in is never read for placeholders. */
export function parseTemplate(text: string): Template {
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

/**
 * Fills a template; `encode` is for what is filled in, never for the text of the template.
 *
 * @returns undefined when an argument that it names was not given.
 */
export function fillTemplate(template: Template, values: Values, encode: (text: string) => string): string | undefined {
  let filled = '';
  for (const piece of template) {
    if (piece.kind === 'text') filled += piece.text;
    else if (piece.kind === 'secret') filled += encode(values.secret(piece.key));
    else {
      const value = argumentOf(piece.path, values.args);
      if (value === undefined || value === null) return undefined;
      filled += encode(textOf(value));
    }
  }
  return filled;
}

/** The one argument that a template consists of: it keeps its type. */
export function soleArgument(template: Template): readonly string[] | undefined {
  const [first] = template;
  return template.length === 1 && first?.kind === 'argument' ? first.path : undefined;
}

/** Own members only. */
export function argumentOf(path: readonly string[], args: Readonly<Record<string, unknown>>): unknown {
  let value: unknown = args;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

export function argumentNames(template: Template): readonly string[] {
  return template.flatMap((piece) => (piece.kind === 'argument' ? [piece.path[0] ?? ''] : []));
}

export function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
