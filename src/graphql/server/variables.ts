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
 * Refuses the variables of an operation as `execute` of graphql-js would, which writes the whole value into each of fifty messages, so
 * eight megabytes of unknown members become four hundred. Here a message has the place of the value alone.
 *
 * @throws AggregateError of GraphQLErrors.
 */
export function requireVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Readonly<Record<string, unknown>>,
): void {
  const faults: GraphQLError[] = [];
  for (const nodes of definitions) {
    const name = nodes.variable.name.value;
    const type = typeFromAST(schema, nodes.type);
    if (!isInputType(type)) throw new Error(`$${name} has no input type: the document is not valid`);
    const add = (text: string, originalError: GraphQLError | null = null) => {
      const message = `Variable "$${name}" ${text}`;
      const cut = message.length > messageMaxChars ? `${message.slice(0, messageMaxChars)}…` : message;
      if (faults.push(new GraphQLError(cut, { nodes, originalError })) >= faultsMax) throw new AggregateError(faults);
    };
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined) {
      if (nodes.defaultValue === undefined && isNonNullType(type)) add(`of required type "${String(type)}" was not provided.`);
    } else if (value === null && isNonNullType(type)) add(`of non-null type "${String(type)}" must not be null.`);
    else {
      try {
        coerceInputValue(value, type, (path, _value, error) => {
          add(`got an invalid value${path.length === 0 ? '' : ` at "${name}${printPathArray(path)}"`}; ${error.message}`, error);
        });
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        faults.push(new GraphQLError('The variables are nested too deeply'));
      }
    }
  }
  if (faults.length > 0) throw new AggregateError(faults);
}
