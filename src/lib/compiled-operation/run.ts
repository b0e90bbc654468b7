import {
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  locatedError,
  type OperationDefinitionNode,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql';
import { getArgumentValues } from 'graphql/execution/values.js';
import type { FieldPlan } from './plan.ts';

/** Where a value stands in the reply; undefined: it is the reply. */
export type Path = ResponsePath | undefined;

/** Arguments of fields, read once for several runs with the same variables. Resolvers must leave them as they are. */
export type KeptArguments = Map<unknown, Readonly<Record<string, unknown>>>;

interface RunParts {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly operation: OperationDefinitionNode;
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  /** Coerced. */
  readonly variableValues: Readonly<Record<string, unknown>>;
  readonly keptArguments: KeptArguments | undefined;
}

const noArguments = Object.freeze({});

/** One execution of an operation: what all its fields share, and the errors they made. */
export class Run {
  readonly schema: GraphQLSchema;
  readonly context: unknown;
  readonly #parts: RunParts;
  readonly #errors: GraphQLError[] = [];
  /** Places whose value became null by an error: what happens below them later is of no interest. */
  readonly #nulled = new Set<Path>();

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.schema = parts.schema;
    this.context = parts.contextValue;
  }

  result(data: unknown): ExecutionResult {
    const shown = data as Record<string, unknown> | null;
    return this.#errors.length === 0 ? { data: shown } : { errors: this.#errors, data: shown };
  }

  /** The result when an error came up to the root. */
  failed(error: unknown): ExecutionResult {
    this.#note(error as GraphQLError, undefined);
    return this.result(null);
  }

  /** Gives an error its place. @returns null where that may stand. @throws GraphQLError where it may not. */
  fault(raw: unknown, nodes: readonly FieldNode[], path: Path, isNonNull: boolean): null {
    const error = locatedError(raw, nodes as FieldNode[], responsePathAsArray(path));
    if (isNonNull) throw error;
    this.#note(error, path);
    return null;
  }

  argumentsOf(field: FieldPlan): Readonly<Record<string, unknown>> {
    if (field.definition.args.length === 0) return noArguments;
    const kept = this.#parts.keptArguments?.get(field);
    if (kept !== undefined) return kept;
    const args = getArgumentValues(field.definition, field.node, this.#parts.variableValues);
    this.#parts.keptArguments?.set(field, args);
    return args;
  }

  info(field: FieldPlan, path: ResponsePath): GraphQLResolveInfo {
    const { definition, nodes, parentType } = field;
    const { schema, fragments, rootValue, operation, variableValues } = this.#parts;
    return {
      fieldName: definition.name,
      fieldNodes: nodes,
      returnType: definition.type,
      parentType,
      path,
      schema,
      fragments,
      rootValue,
      operation,
      variableValues: variableValues as Record<string, unknown>,
    };
  }

  #note(error: GraphQLError, path: Path): void {
    if (this.#nulled.size > 0) {
      for (let place = path; place !== undefined; place = place.prev) if (this.#nulled.has(place)) return;
      if (this.#nulled.has(undefined)) return;
    }
    this.#nulled.add(path);
    this.#errors.push(error);
  }
}
