import {
  coerceInputValue,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { variablePlaces } from '../ground/errors/document-faults.ts';
import { type GraphFault, inputFault, joined, missingFault, typeAt } from '../ground/errors/input-faults.ts';

const faultsMax = 20;
const messageMaxChars = 1_000;

/**
 * Refuses the variables of an operation as `execute` of graphql-js would, which writes the whole value into each of fifty messages, so
 * eight megabytes of unknown members become four hundred. Here a message has the place of the value alone: the argument that takes the variable, and
 * the member within it.
 *
 * @param document  the operation and the fragments.
 * @throws GraphQLError with all faults.
 */
export function requireVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  definitions: readonly VariableDefinitionNode[],
  variableValues: Readonly<Record<string, unknown>>,
): void {
  const refusal = new VariablesRefusal(document);
  for (const node of definitions) {
    const name = node.variable.name.value;
    const type = typeFromAST(schema, node.type);
    if (!isInputType(type)) throw new Error(`$${name} has no input type: the document is not valid`);
    const value = Object.hasOwn(variableValues, name) ? variableValues[name] : undefined;
    if (value === undefined) {
      if (node.defaultValue === undefined && isNonNullType(type)) refusal.add(node, (path) => missingFault(path));
      continue;
    }
    try {
      coerceInputValue(value, type, (path, invalid, error) => {
        const below = path.join('.');
        refusal.add(node, (start) => {
          const place = below === '' ? start : joined(start, below);
          return inputFault({ path: place, type: typeAt(type, path), value: invalid, error });
        });
      });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      refusal.add(node, (path) => ({ path, code: 'INVALID_VALUE', message: `${path} is nested too deeply`, allowed: null }));
    }
  }
  refusal.throwIfAny();
}

class VariablesRefusal {
  readonly #document: DocumentNode;
  readonly #faults: GraphFault[] = [];
  readonly #nodes = new Set<VariableDefinitionNode>();
  #places: ReadonlyMap<string, string> | undefined;

  constructor(document: DocumentNode) {
    this.#document = document;
  }

  /** @param make  gets the place of the variable in the document. @throws GraphQLError when there are as many faults as are told. */
  add(node: VariableDefinitionNode, make: (path: string) => GraphFault): void {
    this.#places ??= variablePlaces(this.#document);
    const name = node.variable.name.value;
    const { path, message, ...fault } = make(this.#places.get(name) ?? name);
    this.#nodes.add(node);
    this.#faults.push({ ...fault, path: cut(path ?? ''), message: cut(message) });
    if (this.#faults.length >= faultsMax) this.throwIfAny();
  }

  throwIfAny(): void {
    const [first] = this.#faults;
    if (first === undefined) return;
    const extensions = { code: first.code, faults: this.#faults };
    throw new GraphQLError(first.message, { nodes: [...this.#nodes], extensions });
  }
}

function cut(text: string): string {
  return text.length > messageMaxChars ? `${text.slice(0, messageMaxChars)}…` : text;
}
