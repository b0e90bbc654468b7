import {
  coerceInputValue,
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { printPathArray } from 'graphql/jsutils/printPathArray.js';

export type VariableValues = Readonly<Record<string, unknown>>;
export type CoercedVariables =
  | { readonly coerced: VariableValues; readonly errors?: undefined }
  | { readonly errors: readonly GraphQLError[]; readonly coerced?: undefined };

const errorsMax = 50;
const messageMaxChars = 1_000;
/** Limits of a wrong value's text in an error. */
const shownMaxValues = 50;
const shownMaxChars = 500;

/**
 * Coerces the variables of an operation, like `getVariableValues` of graphql-js, with bounded errors: graphql-js writes the whole
 * value into each of fifty messages, so eight megabytes of unknown members become four hundred.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: VariableValues,
): CoercedVariables {
  const errors: GraphQLError[] = [];
  const coerced: Record<string, unknown> = Object.create(null);
  try {
    for (const definition of definitions) coerceVariable(schema, definition, given, coerced, (error) => addError(errors, error));
  } catch (error) {
    if (error instanceof RangeError) errors.push(new GraphQLError('The variables are nested too deeply'));
    else if (error !== enough) throw error;
  }
  return errors.length > 0 ? { errors } : { coerced: { ...coerced } };
}

const enough = Symbol('enough errors');

function addError(errors: GraphQLError[], error: GraphQLError): void {
  if (errors.length < errorsMax) {
    errors.push(error);
    return;
  }
  errors.push(new GraphQLError('Too many errors processing variables, error limit reached. Execution aborted.'));
  throw enough;
}

function coerceVariable(
  schema: GraphQLSchema,
  definition: VariableDefinitionNode,
  given: VariableValues,
  coerced: Record<string, unknown>,
  onError: (error: GraphQLError) => void,
): void {
  const name = definition.variable.name.value;
  const type = typeFromAST(schema, definition.type);
  if (!isInputType(type)) throw new Error(`$${name} has no input type: the document is not valid`);
  const refuse = (text: string, originalError?: GraphQLError) =>
    onError(new GraphQLError(cut(`Variable "$${name}" ${text}`), { nodes: definition, originalError: originalError ?? null }));
  if (!Object.hasOwn(given, name)) {
    if (definition.defaultValue !== undefined) coerced[name] = valueFromAST(definition.defaultValue, type);
    else if (isNonNullType(type)) refuse(`of required type "${String(type)}" was not provided.`);
    return;
  }
  const value = given[name];
  if (value === null && isNonNullType(type)) {
    refuse(`of non-null type "${String(type)}" must not be null.`);
    return;
  }
  // An object with fifty unknown members is reported fifty times: make its text once.
  let last: { readonly value: unknown; readonly text: string } | undefined;
  coerced[name] = coerceInputValue(value, type, (path, invalid, error) => {
    if (last === undefined || last.value !== invalid) last = { value: invalid, text: shown(invalid) };
    const place = path.length === 0 ? '' : ` at "${name}${printPathArray(path)}"`;
    // The place comes before the message of graphql-js, which may repeat a long value.
    refuse(`got invalid value ${last.text}${place}; ${error.message}`, error);
  });
}

function shown(value: unknown): string {
  return isShort(value)
    ? inspect(value)
    : Array.isArray(value)
      ? '[…]'
      : typeof value === 'object'
        ? '{…}'
        : 'of too many characters';
}

/** Whether a value is small enough for an error message. Looks at a bounded part of it. */
function isShort(value: unknown): boolean {
  const rest: unknown[] = [value];
  let chars = 0;
  for (let seen = 0; rest.length > 0; seen += 1) {
    const next = rest.pop();
    if (typeof next === 'string') chars += next.length;
    else if (Array.isArray(next)) rest.push(...next.slice(0, shownMaxValues + 1));
    else if (typeof next === 'object' && next !== null) {
      for (const name in next) {
        chars += name.length;
        rest.push(Reflect.get(next, name));
        if (rest.length > shownMaxValues) return false;
      }
    }
    if (chars > shownMaxChars || rest.length + seen > shownMaxValues) return false;
  }
  return true;
}

function cut(message: string): string {
  return message.length > messageMaxChars ? `${message.slice(0, messageMaxChars)}…` : message;
}
