export type Json = Readonly<Record<string, unknown>>;

const nothing: Json = {};

/** The value as an object; an empty one when it is none: upstreams leave out and null what they like. */
export function record(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : nothing;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
}
