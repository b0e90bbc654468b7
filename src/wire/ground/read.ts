import { z } from 'zod';
import type { Allowed, ErrorCode } from '../../entities/ground/errors.ts';
import type { FaultNotes } from '../../entities/ground/fault-notes.ts';

/**
 * Reads a value by its schema, and notes every fault with its place and its code.
 *
 * @param at  the place of the value in the request: `tools[0]`; '' for the request itself.
 * @returns the value without members that the schema does not know; undefined when there was a fault.
 */
export function readWire<Schema extends z.ZodType>(
  schema: Schema,
  wireValue: unknown,
  at: string,
  faults: FaultNotes,
): z.output<Schema> | undefined {
  // A hostile body must not keep the service busy with faults that nobody reads.
  if (faults.isFull) return undefined;
  const read = schema.safeParse(wireValue, { error: describeRule, reportInput: true });
  if (read.success) return read.data;
  for (const issue of read.error.issues.flatMap(issuesWithin)) {
    if (faults.isFull) break;
    const param = issue.path.reduce<string>((place, key) => {
      if (typeof key === 'number') return `${place}[${key}]`;
      return place === '' ? String(key) : `${place}.${String(key)}`;
    }, at);
    faults.add(param, `${param} ${issue.message}`, toErrorCode(issue), allowedAt(schema, issue.path));
  }
  return undefined;
}

/** Of a value that may be of several kinds: the faults of the kind that it is, where that shows. */
function issuesWithin(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ ...issue, path: [...issue.path, key] }));
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
function describeRule(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return `must be one of ${Array.isArray(issue.options) ? issue.options.join(', ') : 'the types that are known'}`;
    case 'too_small':
      if (issue.minimum === 1) return 'must not be empty';
      return `must have at least ${issue.minimum} ${issue.origin === 'string' ? 'characters' : 'items'}`;
    case 'too_big':
      return `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'items'}`;
    case 'unrecognized_keys':
      return 'is no member that is taken here';
    default:
      return 'is wrong';
  }
}

const keywords = ['type', 'enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;

/** What the member of a schema allows, as far as that is a list of values or a range. */
function allowedAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): Allowed | undefined {
  const member = memberAt(schema, path);
  if (member === undefined) return undefined;
  const jsonSchema: Readonly<Record<string, unknown>> = z.toJSONSchema(member, { io: 'input', unrepresentable: 'any' });
  const bounds = keywords.flatMap((keyword) => {
    const value = jsonSchema[keyword];
    const isBound = typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
    return isBound || Array.isArray(value) || value === 'integer' ? [[keyword, value] as const] : [];
  });
  return bounds.every(([keyword]) => keyword === 'type') ? undefined : Object.fromEntries(bounds);
}

function memberAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return memberAt(schema.unwrap(), path);
  if (schema instanceof z.ZodUnion) {
    return path.length === 0
      ? undefined
      : schema.options.map((option) => memberAt(option, path)).find((candidate) => candidate !== undefined);
  }
  const [key, ...rest] = path;
  if (key === undefined) return schema;
  if (schema instanceof z.ZodObject) {
    // A caller may name a member `constructor`.
    const member: z.core.$ZodType | undefined = Object.hasOwn(schema.shape, key) ? schema.shape[String(key)] : undefined;
    return member === undefined ? undefined : memberAt(member, rest);
  }
  return schema instanceof z.ZodArray ? memberAt(schema.element, rest) : undefined;
}

function toErrorCode(issue: z.core.$ZodIssue): ErrorCode {
  const { code } = issue;
  const isOfType = code === 'invalid_union' && issue.discriminator !== undefined;
  const input = isOfType ? (issue.input as Readonly<Record<string, unknown>>)[issue.discriminator] : issue.input;
  if (input === undefined || input === null) return 'MISSING_REQUIRED_PARAMETER';
  if (code === 'invalid_type') return typeof input === 'number' && issue.expected === 'int' ? 'INVALID_VALUE' : 'INVALID_TYPE';
  if (code === 'custom') return issue.params?.code ?? 'INVALID_VALUE';
  if (code === 'invalid_union' && !isOfType) return 'INVALID_TYPE';
  return (code === 'invalid_value' || isOfType) && typeof input !== 'string' ? 'INVALID_TYPE' : 'INVALID_VALUE';
}
