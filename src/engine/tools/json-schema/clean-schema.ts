import { isObject } from '../../../lib/json.ts';
import { compileLinearPattern } from './linear-pattern.ts';
import { PatternError } from './pattern-syntax.ts';
import { resolveReference } from './references.ts';

type Schema = Readonly<Record<string, unknown>>;
export type CleanSchema = Schema | boolean;

/** A schema that is refused. `path` is the place in it, as `.properties.city.pattern`. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** Schemas after every reference is written out: what checking one text against it costs at most, for each of its values. */
const nodesMax = 1_000;
const depthMax = 24;

const numbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const counts = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const;
const subschemas = ['additionalProperties', 'items', 'not', 'if', 'then', 'else', 'propertyNames', 'contains'] as const;
const schemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;
const schemaMaps = ['properties', 'patternProperties'] as const;
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const formats = ['date', 'date-time', 'time', 'email', 'uri', 'uuid', 'ipv4', 'ipv6', 'hostname'];
const elsewhere = ['$dynamicRef', '$recursiveRef', '$id', 'id', '$anchor', '$dynamicAnchor'];

/**
 * Rebuilds a caller's JSON Schema from the keywords that are checked here, with local references written out. Nothing else of it remains:
 * no remote reference, no recursion, no pattern that takes more than linear time, no keyword that a library might act on.
 *
 * @throws SchemaError naming the place.
 */
export function cleanSchema(schema: unknown): CleanSchema {
  return new Cleaner(schema).clean(schema, '', ['#']);
}

class Cleaner {
  private readonly root: unknown;
  private nodes = 0;

  constructor(root: unknown) {
    this.root = root;
  }

  clean(given: unknown, path: string, references: readonly string[]): CleanSchema {
    if (typeof given === 'boolean') return given;
    if (!isObject(given)) throw new SchemaError(path, 'must be a JSON Schema: an object');
    this.nodes += 1;
    if (this.nodes > nodesMax) throw new SchemaError('', `must hold at most ${nodesMax} schemas, references written out`);
    if (path.split('.').length > depthMax * 2) throw new SchemaError('', `must be at most ${depthMax} schemas deep`);
    const strange = elsewhere.find((keyword) => typeof given[keyword] === 'string');
    if (strange !== undefined) throw new SchemaError(`${path}.${strange}`, 'is not supported in a tool');
    const own = { ...this.scalars(given, path), ...this.nested(given, path, references) };
    if (given.$ref === undefined) return own;
    const target = this.resolve(given.$ref, path, references);
    return { allOf: [target, own] };
  }

  private resolve(reference: unknown, path: string, references: readonly string[]): CleanSchema {
    const at = `${path}.$ref`;
    if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) {
      throw new SchemaError(at, 'must refer to this schema itself: "#/$defs/…"');
    }
    if (references.includes(reference)) throw new SchemaError(at, 'must not lead back to itself');
    const target = resolveReference(this.root, reference);
    if (target === undefined) throw new SchemaError(at, 'refers to nothing');
    return this.clean(target, path, [...references, reference]);
  }

  private scalars(given: Schema, path: string): Record<string, unknown> {
    const clean: Record<string, unknown> = {};
    if (given.type !== undefined) clean.type = readTypes(given.type, `${path}.type`);
    if (given.nullable === true && typeof clean.type === 'string') clean.type = [clean.type, 'null'];
    if (Array.isArray(given.enum) && given.enum.length > 0) clean.enum = given.enum;
    if (given.const !== undefined) clean.const = given.const;
    for (const name of numbers) if (typeof given[name] === 'number') clean[name] = given[name];
    if (typeof clean.multipleOf === 'number' && clean.multipleOf <= 0) {
      throw new SchemaError(`${path}.multipleOf`, 'must be more than 0');
    }
    for (const name of counts) {
      const value = given[name];
      if (value === undefined) continue;
      if (!Number.isSafeInteger(value) || Number(value) < 0)
        throw new SchemaError(`${path}.${name}`, 'must be a whole number from 0');
      clean[name] = value;
    }
    if (typeof given.format === 'string' && formats.includes(given.format)) clean.format = given.format;
    if (given.pattern !== undefined) clean.pattern = readPattern(given.pattern, `${path}.pattern`);
    if (given.required !== undefined) clean.required = readNames(given.required, `${path}.required`);
    return clean;
  }

  private nested(given: Schema, path: string, references: readonly string[]): Record<string, unknown> {
    const clean: Record<string, unknown> = {};
    for (const name of subschemas) {
      if (given[name] === undefined || Array.isArray(given[name])) continue;
      clean[name] = this.clean(given[name], `${path}.${name}`, references);
    }
    for (const name of schemaLists) {
      const list = name === 'prefixItems' && Array.isArray(given.items) ? given.items : given[name];
      if (list === undefined) continue;
      if (!Array.isArray(list) || list.length === 0) throw new SchemaError(`${path}.${name}`, 'must be an array of schemas');
      clean[name] = list.map((one, index) => this.clean(one, `${path}.${name}[${index}]`, references));
    }
    for (const name of schemaMaps) {
      const map = given[name];
      if (map === undefined) continue;
      if (!isObject(map)) throw new SchemaError(`${path}.${name}`, 'must be an object of schemas');
      clean[name] = Object.fromEntries(
        Object.entries(map).map(([key, one]) => {
          if (name === 'patternProperties') readPattern(key, `${path}.${name}`);
          return [key, this.clean(one, `${path}.${name}.${key}`, references)];
        }),
      );
    }
    return clean;
  }
}

function readTypes(given: unknown, path: string): unknown {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const isKnown = list.length > 0 && new Set(list).size === list.length && list.every((type) => types.includes(type as string));
  if (!isKnown) throw new SchemaError(path, `must be one of ${types.join(', ')}, or several of them`);
  return given;
}

function readPattern(given: unknown, path: string): string {
  if (typeof given !== 'string') throw new SchemaError(path, 'must be a regular expression');
  try {
    compileLinearPattern(given);
    return given;
  } catch (error) {
    if (error instanceof PatternError) throw new SchemaError(path, `is a pattern that ${error.message}`);
    throw error;
  }
}

function readNames(given: unknown, path: string): readonly string[] {
  if (!Array.isArray(given) || !given.every((name) => typeof name === 'string'))
    throw new SchemaError(path, 'must be an array of names');
  return [...new Set(given)];
}
