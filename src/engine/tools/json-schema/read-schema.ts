import { isObject } from '../../../lib/json/json.ts';
import { CheckLimitError, createBudget } from './check-budget.ts';
import { compileLinearPattern, PatternError } from './linear-pattern.ts';
import { resolveReference } from './references.ts';

/** A schema that is refused. `path` is the place in it, as `.properties.city.pattern`. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/**
 * `tool`: everything in it must be checkable, because a tool acts on arguments that a model wrote: no circles, no `$id`, no pattern that takes
 * more than linear time, and at most 1,000 schemas with the references written out. `answer`: the model is held to it by its provider too, so
 * it may lead back to itself, and what cannot be checked here says nothing.
 */
export type SchemaUse = 'tool' | 'answer';

const schemasMax = 1_000;
const depthMax = { tool: 48, answer: 400 } as const;

/**
 * Checks that a caller's JSON Schema is one, in the dialect that check.ts checks with: draft 2020-12 with the names that older drafts have for the
 * same. Keywords it does not know may say what they like.
 *
 * @throws SchemaError naming the place. Cost: one walk; below a second for what a request can hold.
 */
export function readSchema(schema: unknown, use: SchemaUse): void {
  try {
    new Reader(schema, use).read(schema, { path: '', depth: 0, references: ['#'] });
  } catch (error) {
    if (error instanceof CheckLimitError) throw new SchemaError('', 'has patterns that are too big in all');
    throw error;
  }
}

interface Place {
  readonly path: string;
  readonly depth: number;
  /** The references that led here. */
  readonly references: readonly string[];
}

class Reader {
  readonly #root: unknown;
  readonly #use: SchemaUse;
  readonly #budget = createBudget();
  #schemas = 0;

  constructor(root: unknown, use: SchemaUse) {
    this.#root = root;
    this.#use = use;
  }

  read(schema: unknown, { path, depth, references }: Place): void {
    if (typeof schema === 'boolean') return;
    if (!isObject(schema)) throw new SchemaError(path, 'must be a JSON Schema: an object');
    if (depth > depthMax[this.#use]) throw new SchemaError('', `must be at most ${depthMax[this.#use]} schemas deep`);
    this.#schemas += 1;
    if (this.#use === 'tool' && this.#schemas > schemasMax)
      throw new SchemaError('', `must hold at most ${schemasMax} schemas, references written out`);
    for (const [keyword, value] of Object.entries(schema)) {
      this.#readKeyword(keyword, value, { path: `${path}.${keyword}`, depth: depth + 1, references });
    }
  }

  #readKeyword(keyword: string, value: unknown, at: Place): void {
    const kind = Object.hasOwn(kinds, keyword) ? kinds[keyword] : undefined;
    if (kind === undefined || value === undefined) return;
    if (kind === 'schema') this.#readNested(keyword, value, at);
    else if (kind === 'schemas') this.#readList(value, at);
    else if (kind === 'map') this.#readMap(value, at, keyword === 'patternProperties');
    // Of a tool, the schemas in it count where they are referred to.
    else if (kind === 'definitions' && this.#use === 'answer') this.#readMap(value, at, false);
    else if (kind === 'reference') this.#readReference(value, at);
    else if (kind === 'pattern') this.#readPattern(value, at.path);
    else if (kind === 'elsewhere') this.#refuseElsewhere(value, at.path);
    else if (kind !== 'definitions' && !values[kind].isValid(value)) throw new SchemaError(at.path, values[kind].message);
  }

  #readNested(keyword: string, value: unknown, at: Place): void {
    // The older form has the first items in `items`.
    if (keyword === 'items' && Array.isArray(value)) this.#readList(value, at);
    else this.read(value, at);
  }

  #readList(value: unknown, { path, ...place }: Place): void {
    if (!Array.isArray(value) || value.length === 0) throw new SchemaError(path, 'must be an array of schemas');
    for (const [index, one] of value.entries()) this.read(one, { ...place, path: `${path}[${index}]` });
  }

  #readMap(value: unknown, { path, ...place }: Place, isByPattern: boolean): void {
    if (!isObject(value)) throw new SchemaError(path, 'must be an object of schemas');
    for (const [name, one] of Object.entries(value)) {
      if (isByPattern) this.#readPattern(name, path);
      this.read(one, { ...place, path: `${path}.${name}` });
    }
  }

  #readReference(reference: unknown, { path, depth, references }: Place): void {
    const target = typeof reference === 'string' ? resolveReference(this.#root, reference) : undefined;
    if (target === undefined) throw new SchemaError(path, 'must name a schema within this one, like "#/$defs/name"');
    if (this.#use === 'answer') return;
    const name = String(reference);
    if (references.includes(name)) throw new SchemaError(path, 'must not lead back to itself');
    this.read(target, { path, depth, references: [...references, name] });
  }

  #readPattern(source: unknown, path: string): void {
    if (typeof source !== 'string') throw new SchemaError(path, 'must be a regular expression');
    if (this.#use === 'answer') return;
    try {
      compileLinearPattern(source, this.#budget.spend);
    } catch (error) {
      if (error instanceof PatternError) throw new SchemaError(path, `is a pattern that ${error.message}`);
      throw error;
    }
  }

  #refuseElsewhere(value: unknown, path: string): void {
    if (this.#use === 'tool' && typeof value === 'string') throw new SchemaError(path, 'is not supported in a tool');
  }
}

const types: readonly unknown[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** Kinds of plain values. */
const values = {
  number: { message: 'must be a number', isValid: (value) => typeof value === 'number' },
  positive: { message: 'must be more than 0', isValid: (value) => typeof value === 'number' && value > 0 },
  count: { message: 'must be a whole number from 0', isValid: (value) => Number.isSafeInteger(value) && Number(value) >= 0 },
  text: { message: 'must be a text', isValid: (value) => typeof value === 'string' },
  flag: { message: 'must be true or false', isValid: (value) => typeof value === 'boolean' },
  literals: { message: 'must be an array', isValid: Array.isArray },
  names: { message: 'must be an array of names', isValid: isNames },
  namesByName: {
    message: 'must be an object of arrays of names',
    isValid: (value) => isObject(value) && Object.values(value).every(isNames),
  },
  type: {
    message: `must be one of ${types.join(', ')}, or several of them`,
    isValid(value) {
      const list: readonly unknown[] = Array.isArray(value) ? value : [value];
      return list.length > 0 && new Set(list).size === list.length && list.every((type) => types.includes(type));
    },
  },
} as const satisfies Record<string, { readonly message: string; isValid(value: unknown): boolean }>;

type Kind = keyof typeof values | 'schema' | 'schemas' | 'map' | 'definitions' | 'reference' | 'pattern' | 'elsewhere';

/** Every keyword that says something here. */
const kinds: Readonly<Record<string, Kind>> = {
  ...all('number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']),
  ...all('count', ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']),
  ...all('count', ['minContains', 'maxContains']),
  ...all('schema', [
    'items',
    'additionalItems',
    'contains',
    'additionalProperties',
    'propertyNames',
    'not',
    'if',
    'then',
    'else',
  ]),
  ...all('schemas', ['anyOf', 'oneOf', 'allOf', 'prefixItems']),
  ...all('map', ['properties', 'patternProperties', 'dependentSchemas']),
  ...all('definitions', ['$defs', 'definitions']),
  ...all('elsewhere', ['$dynamicRef', '$recursiveRef', '$id', 'id', '$anchor', '$dynamicAnchor']),
  ...{ type: 'type', enum: 'literals', required: 'names', dependentRequired: 'namesByName', multipleOf: 'positive' },
  ...{ uniqueItems: 'flag', format: 'text', pattern: 'pattern', $ref: 'reference' },
};

function all(kind: Kind, keywords: readonly string[]): Record<string, Kind> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, kind]));
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
