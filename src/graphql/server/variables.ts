import {
  coerceInputValue,
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { printPathArray } from 'graphql/jsutils/printPathArray.js';

const faultsMax = 20;
const messageMaxChars = 1_000;

/**
 * What is wrong with the variables of an operation: the faults that `execute` of graphql-js would tell, which writes the whole value into
 * each of fifty messages, so eight megabytes of unknown members become four hundred. Here a message has the place of the value alone.
 */
export function variableFaults(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  const faults: GraphQLError[] = [];
  const add = (definition: VariableDefinitionNode, text: string, originalError: GraphQLError | null = null) => {
    const message = `Variable "$${definition.variable.name.value}" ${text}`;
    const cut = message.length > messageMaxChars ? `${message.slice(0, messageMaxChars)}…` : message;
    faults.push(new GraphQLError(cut, { nodes: definition, originalError }));
    if (faults.length >= faultsMax) throw enough;
  };
  try {
    for (const definition of definitions) check(schema, definition, given, (text, cause) => add(definition, text, cause));
  } catch (error) {
    if (error instanceof RangeError) faults.push(new GraphQLError('The variables are nested too deeply'));
    else if (error !== enough) throw error;
  }
  return faults;
}

const enough = Symbol('enough faults');

function check(
  schema: GraphQLSchema,
  { variable, type: typeNode, defaultValue }: VariableDefinitionNode,
  given: Readonly<Record<string, unknown>>,
  add: (text: string, cause?: GraphQLError) => void,
): void {
  const name = variable.name.value;
  const type = typeFromAST(schema, typeNode);
  if (!isInputType(type)) throw new Error(`$${name} has no input type: the document is not valid`);
  if (!Object.hasOwn(given, name)) {
    if (defaultValue === undefined && isNonNullType(type)) add(`of required type "${String(type)}" was not provided.`);
  } else if (given[name] === null && isNonNullType(type)) {
    add(`of non-null type "${String(type)}" must not be null.`);
  } else {
    coerceInputValue(given[name], type, (path, _value, error) => {
      add(`got an invalid value${path.length === 0 ? '' : ` at "${name}${printPathArray(path)}"`}; ${error.message}`, error);
    });
  }
}
