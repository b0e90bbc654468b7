import { GraphQLError, Kind, type ValueNode, valueFromASTUntyped } from 'graphql';
import { builder, type UploadedFile } from '../builder/builder.ts';

const jsonDepthMax = 64;
const jsonValuesMax = 200_000;

builder.scalarType('DateTime', {
  description:
    'A moment in ISO 8601, written in UTC with milliseconds: `2026-01-31T09:30:00.000Z`. An offset is accepted and converted.',
  serialize: (value) => value.toISOString(),
  parseValue: parseDateTime,
  parseLiteral: (node) => {
    if (node.kind !== Kind.STRING) throw new GraphQLError('DateTime must be a string in ISO 8601', { nodes: node });
    return parseDateTime(node.value);
  },
});

builder.scalarType('Count', {
  description: 'A whole number from 0 to 2^53 - 1: tokens soon exceed the 32 bits of Int.',
  serialize: (value) => value,
  parseValue: parseCount,
  parseLiteral: (node) => {
    if (node.kind !== Kind.INT) throw new GraphQLError('Count must be a whole number', { nodes: node });
    return parseCount(Number(node.value));
  },
  extensions: { openapi: { type: 'integer', format: 'int64', minimum: 0 } },
});

builder.scalarType('JSON', {
  description: `Any JSON value, where the contract says object: at most ${jsonDepthMax} levels deep and ${jsonValuesMax} values.`,
  serialize: (value) => value,
  parseValue: boundedJson,
  parseLiteral: (node: ValueNode, variables) => boundedJson(valueFromASTUntyped(node, variables)),
  extensions: { asJson: boundedJson },
});

/** JSON of a known form. The domain checks the form: its errors name the member. */
const jsonScalars = {
  JsonSchema: 'A JSON Schema, as a JSON object.',
  PlainValue: 'One plain value: a string, a number, true or false.',
  JsonObject: 'A JSON object with members of any name.',
} as const;
for (const [name, description] of Object.entries(jsonScalars)) {
  builder.scalarType(name as keyof typeof jsonScalars, {
    description,
    serialize: (value) => value,
    parseValue: boundedJson,
    parseLiteral: (node: ValueNode, variables) => boundedJson(valueFromASTUntyped(node, variables)),
    extensions: { asJson: boundedJson, openapi: {} },
  });
}

builder.scalarType('File', {
  description: 'A file sent with the request, as the GraphQL multipart request specification describes.',
  serialize: () => {
    throw new GraphQLError('File is an input only');
  },
  parseValue: (value) => {
    if (isUploadedFile(value)) return value;
    throw new GraphQLError('File must be a part of a multipart/form-data request');
  },
  parseLiteral: (node) => {
    throw new GraphQLError('File must be a variable', { nodes: node });
  },
});

function isUploadedFile(value: unknown): value is UploadedFile {
  return typeof value === 'object' && value !== null && 'stream' in value && typeof value.stream === 'function';
}

const dateTimePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

function parseDateTime(value: unknown): Date {
  if (typeof value !== 'string' || !dateTimePattern.test(value)) {
    throw new GraphQLError('DateTime must be ISO 8601 with a time zone, like 2026-01-31T09:30:00.000Z');
  }
  const date = new Date(value);
  // `new Date` turns 30 February into a day of March; a day that does not exist is the caller's mistake.
  const dayOfMonth = new Date(`${value.slice(0, 10)}T00:00:00Z`).getUTCDate();
  if (Number.isNaN(date.getTime()) || dayOfMonth !== Number(value.slice(8, 10))) {
    throw new GraphQLError('DateTime names a moment that does not exist');
  }
  return date;
}

function parseCount(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new GraphQLError('Count must be a whole number from 0 to 9007199254740991');
}

/** Returns the value it gets. Walks without recursion, so no nesting of a caller can exhaust the stack. */
export function boundedJson(root: unknown): unknown {
  let level: unknown[] = [root];
  let seenCount = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > jsonDepthMax) throw new GraphQLError(`JSON must be at most ${jsonDepthMax} levels deep`);
    seenCount += level.length;
    if (seenCount > jsonValuesMax) throw new GraphQLError(`JSON must hold at most ${jsonValuesMax} values`);
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'string') requireStorable(value);
      else if (Array.isArray(value)) for (const item of value) next.push(item);
      else if (typeof value === 'object' && value !== null) {
        for (const [key, member] of Object.entries(value)) {
          requireStorable(key);
          next.push(member);
        }
      }
    }
    level = next;
  }
  return root;
}

/** PostgreSQL's jsonb allows neither the NUL character nor half a surrogate pair. */
function requireStorable(text: string): void {
  if (text.includes('\u0000') || !text.isWellFormed()) {
    throw new GraphQLError('JSON must hold well-formed text without NUL characters');
  }
}
