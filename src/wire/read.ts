import type { z } from 'zod';
import type { ErrorCode } from '../entities/errors.ts';
import type { FaultNotes } from '../entities/fault-notes.ts';

/**
 * Reads a value by its schema, and notes every fault with its place and its code.
 *
 * @param at  the place of the value in the request: `tools[0]`; '' for the request itself.
 * @returns the value without members that the schema does not know; undefined when there was a fault.
 */
export function readWire<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  at: string,
  faults: FaultNotes,
): z.output<Schema> | undefined {
  // A hostile body must not keep the service busy with faults that nobody reads.
  if (faults.isFull) return undefined;
  const read = schema.safeParse(given, { error: ruleOf, reportInput: true });
  if (read.success) return read.data;
  for (const issue of read.error.issues.flatMap(issuesWithin)) {
    const param = issue.path.reduce<string>((place, key) => {
      if (typeof key === 'number') return `${place}[${key}]`;
      return place === '' ? String(key) : `${place}.${String(key)}`;
    }, at);
    faults.add(param, `${param} ${issue.message}`, codeOf(issue));
  }
  return undefined;
}

/** Of a value that may be of several kinds: the faults of the kind that it is, where that shows. */
function issuesWithin(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const own = issue.errors.find((issues) => issues.some(({ code, path }) => code !== 'invalid_type' || path.length > 0));
  return own?.flatMap(issuesWithin).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue];
}

const nouns: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  array: 'an array',
};

/** What a value must be, where its schema has no words of its own for it. */
function ruleOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return `must be one of ${Array.isArray(issue.options) ? issue.options.join(', ') : 'the types that are known'}`;
    case 'too_big':
      return `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'items'}`;
    default:
      return 'is wrong';
  }
}

function codeOf(issue: z.core.$ZodIssue): ErrorCode {
  const { code } = issue;
  const isOfType = code === 'invalid_union' && issue.discriminator !== undefined;
  const input = isOfType ? (issue.input as Readonly<Record<string, unknown>>)[issue.discriminator] : issue.input;
  if (input === undefined || input === null) return 'MISSING_REQUIRED_PARAMETER';
  if (code === 'invalid_type') return typeof input === 'number' && issue.expected === 'int' ? 'INVALID_VALUE' : 'INVALID_TYPE';
  if (code === 'custom') return issue.params?.code ?? 'INVALID_VALUE';
  if (code === 'invalid_union' && !isOfType) return 'INVALID_TYPE';
  return (code === 'invalid_value' || isOfType) && typeof input !== 'string' ? 'INVALID_TYPE' : 'INVALID_VALUE';
}
