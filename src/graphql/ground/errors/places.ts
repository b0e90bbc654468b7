import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'graphql';
import { DomainError, type Fault } from '../../../entities/ground/errors.ts';
import { camelCase } from '../../../http/input/names.ts';
import type { GraphContext } from '../builder/context.ts';
import { documentPath } from '../builder/flat-inputs.ts';
import { dotted, type GraphFault } from './input-faults.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Resolver = GraphQLFieldResolver<unknown, GraphContext>;

/** The field whose resolver threw, and what it was given. */
interface Place {
  readonly definitions: readonly GraphQLArgument[];
  readonly given: Arguments;
}
const places = new WeakMap<Error, Place>();

/** Makes every field with arguments note itself in the errors that it throws, so that their faults can name places of the document. */
export function notePlaces(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.args.length === 0) continue;
      if (field.resolve !== undefined) field.resolve = noting(field, field.resolve);
      if (field.subscribe !== undefined) field.subscribe = noting(field, field.subscribe);
    }
  }
}

function noting({ args: definitions }: GraphQLField<unknown, GraphContext>, inner: Resolver): Resolver {
  const note = (error: unknown, givenArguments: Arguments): never => {
    if (error instanceof DomainError) places.set(error, { definitions, given: givenArguments });
    throw error;
  };
  return (source, args: Arguments, context, info) => {
    try {
      const result: unknown = inner(source, args, context, info);
      return result instanceof Promise ? result.catch((error: unknown) => note(error, args)) : result;
    } catch (error) {
      return note(error, args);
    }
  };
}

/** The faults of an error of the domain, in the words of the document. Empty when the error is about no member. */
export function domainFaults(error: DomainError): readonly GraphFault[] {
  const { code, message, detail } = error;
  const { param, allowed: allowedValues, faults } = detail;
  const own: Fault | undefined =
    param === undefined
      ? undefined
      : { code, message, param, ...(allowedValues === undefined ? {} : { allowed: allowedValues }) };
  const place = places.get(error);
  return (faults ?? (own === undefined ? [] : [own])).map((fault) => {
    const path = place === undefined ? null : findPath(place, fault.param);
    return { path, code: fault.code, message: inWordsOfGraphql(renamed(fault, path)), allowed: fault.allowed ?? null };
  });
}

/** A message begins with the name of its member. */
function renamed({ message, param }: Pick<Fault, 'message' | 'param'>, path: string | null): string {
  if (path === null || param === '' || !message.startsWith(param) || /^[\w.[]/.test(message.slice(param.length))) return message;
  return `${path}${message.slice(param.length)}`;
}

/** Operations of REST that messages of the domain recommend, and the same operations here. */
export const operationsOfRoutes: Readonly<Record<string, string>> = {
  'GET /api/v1/ai-categories': 'agentCategories',
  'GET /api/v1/models': 'models',
  'GET /api/v1/connections': 'connections',
  'POST /api/v1/connections/authorize': 'authorizeConnection',
  'POST /api/v1/connections/mcp-servers': 'storeMcpServer',
};

/** A message of the domain, with the names that this API has. */
export function inWordsOfGraphql(message: string): string {
  return message.replaceAll(/\b[A-Z]+ \/api\/v1\/[a-z/-]+/g, (route) => operationsOfRoutes[route] ?? route);
}

/**
 * The place that the domain calls `tools[0].url`: `input.tools.0.url`. The domain names arguments, and members of the input without the input.
 *
 * @returns null when the field has no such place.
 */
function findPath({ definitions, given: givenArguments }: Place, name: string): string | null {
  const param = name === 'aiId' ? 'agentId' : name;
  const [head, ...rest] = documentPath({ args: definitions }, givenArguments, param).map(String);
  const keys = dotted(param).split('.');
  const own = definitions.find((argument) => argument.name === head);
  if (own !== undefined) {
    const path = below(own.type, rest);
    // An argument that the domain names itself holds the value, whatever it calls the place within.
    if (path !== undefined || keys[0] === head || param === '') return [own.name, ...(path ?? [])].join('.');
  }
  for (const { name, type } of definitions.filter((argument) => isInputObjectType(getNullableType(argument.type)))) {
    const path = below(type, keys);
    if (path !== undefined) return [name, ...path].join('.');
  }
  // The id of the thing that the field is about: `fileId` where the argument is `id`.
  const isId = keys.length === 1 && keys[0]?.endsWith('Id') === true;
  return isId && definitions.some(({ name }) => name === 'id') ? 'id' : null;
}

/**
 * Follows members and list places from a type on.
 *
 * @returns the path, as far as the schema has it. Undefined when it knows not even the first.
 */
function below(type: GraphQLInputType, keys: readonly string[]): readonly string[] | undefined {
  const [key, ...rest] = keys;
  if (key === undefined) return [];
  const nullable = getNullableType(type);
  if (isListType(nullable)) return /^\d+$/.test(key) ? [key, ...(below(nullable.ofType, rest) ?? [])] : undefined;
  // What a scalar holds has names of its own.
  if (!isInputObjectType(nullable)) return keys;
  const fields = nullable.getFields();
  const field = [fields[key], fields[camelCase(key)]].find((one) => one !== undefined);
  return field === undefined ? undefined : [field.name, ...(below(field.type, rest) ?? [])];
}
