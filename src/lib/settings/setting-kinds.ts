import { z } from 'zod';

/**
 * Kinds of settings. Each says in words what it allows: `must be …` in a refusal, and a column of docs/configuration.md. The words stand in the
 * metadata of the schema, as `allowed`.
 */

/** Timers of Node end at once beyond this: 24.8 days. */
const timerMsMax = 2_147_483_647;
const daysMax = 36_500;

/** A whole number from `min` to `max`; without `max`, up to the largest that a double holds exactly. */
export function whole(fallback: number, min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `${min}` : `${min} to ${max}`;
  return z.coerce
    .number()
    .int()
    .min(min)
    .max(max)
    .default(fallback)
    .meta({ allowed: `a whole number from ${range}` });
}

export function optionalPort() {
  return z.coerce.number().int().min(1).max(65_535).optional().meta({ allowed: 'a whole number from 1 to 65535' });
}

export const count = (fallback: number) => whole(fallback, 1);
export const rate = (fallback: number) => whole(fallback, 0);
/** Milliseconds of a timer. */
export const timeMs = (fallback: number, max: number = timerMsMax) => whole(fallback, 1, max);
/** A number from 0 to 1. */
export function part(fallback: number) {
  return z.coerce.number().min(0).max(1).default(fallback).meta({ allowed: 'a number from 0 to 1' });
}

export const days = (fallback: number) => whole(fallback, 1, daysMax);

export function chooseOne<const T extends readonly [string, ...string[]]>(values: T, fallback: NoInfer<T[number]>) {
  return z
    .enum(values)
    .default(fallback as never)
    .meta({ allowed: `one of ${values.join(', ')}` });
}

const trimmedString = () => z.string().trim();

export function text(fallback: string, description: string) {
  return z.string().default(fallback).meta({ allowed: description });
}

export function optionalText(description = 'a text') {
  return trimmedString().optional().meta({ allowed: description });
}

/** An address of one of the schemes that names a host. */
export function optionalUrl(schemes: readonly string[], example: string) {
  return address(schemes)
    .optional()
    .meta({ allowed: `an address such as ${example}` });
}

export function url(schemes: readonly string[], fallback: string) {
  return address(schemes)
    .default(fallback)
    .meta({ allowed: `an address such as ${fallback}` });
}

function address(schemes: readonly string[]) {
  return trimmedString().refine(
    (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol) && new URL(text).hostname !== '',
  );
}

/** An address of a PostgreSQL server. With the folder of a socket as `?host=`, its place for a host may be empty. */
export function optionalDatabaseUrl() {
  const pattern = /^(postgres(?:ql)?:\/\/(?:[^/@\s]*@)?)(?=\/)/;
  const isGood = (url: string) => /^postgres(?:ql)?:\/\/\S+$/.test(url) && URL.canParse(url.replace(pattern, '$1localhost'));
  return trimmedString()
    .refine(isGood)
    .optional()
    .meta({ allowed: 'an address such as postgres://user:password@host:5432/database, its signs percent-encoded' });
}

/** Refuses a text that its reader throws at, with the reader's message. */
export function readBy(read: (text: string) => unknown, description: string) {
  return trimmedString()
    .superRefine((text, context) => {
      try {
        read(text);
      } catch (error) {
        context.addIssue({
          code: 'custom',
          params: { says: error instanceof Error ? error.message : String(error) },
          message: '',
        });
      }
    })
    .optional()
    .meta({ allowed: description });
}

export function match(fallback: string, pattern: RegExp, description: string) {
  return trimmedString().regex(pattern).default(fallback).meta({ allowed: description });
}

export function optionalMatch(pattern: RegExp, description: string) {
  return trimmedString().regex(pattern).optional().meta({ allowed: description });
}

/** What a setting allows, in words that follow "must be". */
export function describeAllowed(schema: z.ZodType): string {
  const description = schema.meta()?.allowed;
  if (typeof description !== 'string') throw new Error('a setting does not say what it allows');
  return description;
}
