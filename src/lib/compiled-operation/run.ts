// Fast path: the state of one run of a compiled operation. The plain path is the execution context of graphql-js.
import {
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  locatedError,
  type OperationDefinitionNode,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql';
import { getArgumentValues } from 'graphql/execution/values.js';
import { jsonBytes, jsonBytesAtLeast, jsonBytesOfCharMax } from '../json-size.ts';
import type { Fragments } from '../selections.ts';

/** The path of a value in the reply; undefined: the whole reply. */
export type Path = ResponsePath | undefined;

/** A field of an object type, as an operation asks for it. */
export interface AskedField {
  readonly definition: GraphQLField<unknown, unknown>;
  readonly parentType: GraphQLObjectType;
  readonly nodes: readonly FieldNode[];
  readonly node: FieldNode;
}

/** Arguments of fields, read once for several runs with the same variables. Resolvers must not change them. */
export type KeptArguments = Map<unknown, Readonly<Record<string, unknown>>>;

/** The size limit of a reply as JSON text, and the error for a larger one. */
export interface ReplyBudget {
  readonly maxBytes: number;
  refusal(): Error;
}

/** Most nodes of an error: graphql-js looks up the position of each. */
const errorNodesMax = 20;
/** Approximate bytes of an error besides its message. */
const errorBytes = 200;

interface RunParts {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
  readonly operation: OperationDefinitionNode;
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  /** Coerced. */
  readonly variableValues: Readonly<Record<string, unknown>>;
  readonly keptArguments: KeptArguments | undefined;
  readonly budget: ReplyBudget | undefined;
}

const noArguments = Object.freeze({});

/** One execution of an operation: the state that all its fields share, and their errors. */
export class Run {
  readonly schema: GraphQLSchema;
  readonly context: unknown;
  readonly #parts: RunParts;
  readonly #errors: GraphQLError[] = [];
  /** Paths that an error made null: later errors below them are ignored. */
  readonly #nulled = new Set<Path>();
  readonly #maxBytes: number;
  /** Minimum bytes of the reply, counted while values are completed, before the text is made. */
  #spentBytes = 0;
  /** Set once the budget is exceeded: no further field is resolved, and this error is the whole result. */
  #refusal: GraphQLError | undefined;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#maxBytes = parts.budget?.maxBytes ?? Number.POSITIVE_INFINITY;
    this.schema = parts.schema;
    this.context = parts.contextValue;
  }

  /** Counts bytes of the reply. @throws GraphQLError once the budget is exceeded. */
  spend(bytes: number): void {
    this.#spentBytes += bytes;
    if (this.#spentBytes > this.#maxBytes) throw this.#refuse();
  }

  /** The same for a value whose size is not known. */
  spendOn(value: object): void {
    this.spend(jsonBytesAtLeast(value, this.#maxBytes - this.#spentBytes));
  }

  /** @throws GraphQLError once the budget is exceeded: later values would not be sent. */
  requireBudget(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  result(data: unknown): ExecutionResult {
    if (this.#refusal === undefined && !this.#fits(data)) this.#refuse();
    if (this.#refusal !== undefined) return { errors: [this.#refusal], data: null };
    const shown = data as Record<string, unknown> | null;
    return this.#errors.length === 0 ? { data: shown } : { errors: this.#errors, data: shown };
  }

  /** The result of an error that reached the root. */
  failed(error: unknown): ExecutionResult {
    this.#note(error as GraphQLError, undefined);
    return this.result(null);
  }

  /** Records an error at its path. @returns null where null is allowed. @throws GraphQLError where it is not. */
  fault(raw: unknown, nodes: readonly FieldNode[], path: Path, isNonNull: boolean): null {
    if (this.#refusal !== undefined) throw this.#refusal;
    const error = locatedError(raw, nodes.slice(0, errorNodesMax), responsePathAsArray(path));
    if (isNonNull) throw error;
    this.#note(error, path);
    return null;
  }

  argumentsOf(field: AskedField): Readonly<Record<string, unknown>> {
    if (field.definition.args.length === 0) return noArguments;
    const kept = this.#parts.keptArguments?.get(field);
    if (kept !== undefined) return kept;
    const args = getArgumentValues(field.definition, field.node, this.#parts.variableValues);
    this.#parts.keptArguments?.set(field, args);
    return args;
  }

  info(field: AskedField, path: ResponsePath): GraphQLResolveInfo {
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
    this.#spentBytes += error.message.length + errorBytes;
    if (this.#spentBytes > this.#maxBytes) this.#refuse();
  }

  #refuse(): GraphQLError {
    const cause = this.#parts.budget?.refusal() ?? new Error('The reply is too large');
    this.#refusal ??= new GraphQLError(cause.message, { originalError: cause });
    return this.#refusal;
  }

  /** Escapes and characters beyond ASCII take more bytes than counted: measured only where they could exceed the budget. */
  #fits(data: unknown): boolean {
    if (this.#spentBytes * jsonBytesOfCharMax <= this.#maxBytes) return true;
    return jsonBytes(data, this.#maxBytes) <= this.#maxBytes;
  }
}
