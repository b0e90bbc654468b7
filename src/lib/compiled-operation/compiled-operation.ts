import {
  type DirectiveNode,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { type Fragments, fragmentsOf } from '../selections.ts';
import { executeFields, executeSerially } from './execute.ts';
import type { ObjectPlan } from './plan.ts';
import { Planner } from './planner.ts';
import { type KeptArguments, type ReplyBudget, Run } from './run.ts';
import { coerceVariables, type VariableValues } from './variables.ts';

export type { KeptArguments, ReplyBudget };

/** Plans kept of one operation: variables behind `@skip` and `@include` can ask for many. */
const plansMax = 4;

export interface OperationArgs {
  readonly rootValue?: unknown;
  readonly contextValue: unknown;
  /** As the request has them. */
  readonly variableValues: VariableValues;
  /** Undefined only where the reply is bounded by what the caller of this code asks for. */
  readonly budget: ReplyBudget | undefined;
}

/**
 * One operation of a valid document, made ready to run many times: which fields stand where, with which resolvers, types and nodes, is found
 * out once. The results are those of graphql-js's `execute`, null propagation, errors and their order of work included, as long as they fit
 * the budget: all execution goes through here, so nothing passes by it.
 */
export class CompiledOperation {
  readonly #schema: GraphQLSchema;
  readonly #node: OperationDefinitionNode;
  readonly #root: GraphQLObjectType;
  readonly #fragments: Fragments;
  /** Variables that decide which fields are asked for. */
  readonly #switches: readonly string[];
  /** A plan for each way the switches can stand, those used last. */
  readonly #plans = new Map<string, ObjectPlan>();

  /** @throws Error when the schema has no such operation: the document is not valid. */
  constructor(schema: GraphQLSchema, document: DocumentNode, node: OperationDefinitionNode) {
    const root = schema.getRootType(node.operation);
    if (root === undefined || root === null) throw new Error(`the schema has no ${node.operation}`);
    this.#schema = schema;
    this.#node = node;
    this.#root = root;
    this.#fragments = fragmentsOf(document);
    this.#switches = switchesOf(document);
  }

  /** As `execute` of graphql-js: never rejects; without `data` when the variables were refused before anything ran. */
  execute(args: OperationArgs): ExecutionResult | Promise<ExecutionResult> {
    const { coerced, errors } = this.coerce(args.variableValues);
    return errors !== undefined ? { errors } : this.executeCoerced({ ...args, variableValues: coerced });
  }

  /** The variables of a request as resolvers get them, or what is wrong with them. */
  coerce(variableValues: VariableValues): ReturnType<typeof coerceVariables> {
    return coerceVariables(this.#schema, this.#node.variableDefinitions ?? [], variableValues);
  }

  /**
   * The same with variables that were coerced before. A subscription runs on one of its events.
   *
   * @param keptArguments  one map for all runs with these variables spares them reading arguments again.
   */
  executeCoerced(
    { rootValue, contextValue, variableValues, budget }: OperationArgs,
    keptArguments?: KeptArguments,
  ): ExecutionResult | Promise<ExecutionResult> {
    const plan = this.#planFor(variableValues);
    const operation = this.#node;
    const statics = { schema: this.#schema, fragments: this.#fragments, operation };
    const run = new Run({ ...statics, rootValue, contextValue, variableValues, keptArguments, budget });
    try {
      const data =
        operation.operation === 'mutation'
          ? executeSerially(run, plan, rootValue)
          : executeFields(run, plan, rootValue, undefined);
      if (!(data instanceof Promise)) return run.result(data);
      return data.then(
        (settled) => run.result(settled),
        (error: unknown) => run.failed(error),
      );
    } catch (error) {
      return run.failed(error);
    }
  }

  #planFor(variables: VariableValues): ObjectPlan {
    let key = '';
    for (const name of this.#switches) key += variables[name] === true ? '1' : '0';
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const plan = new Planner(this.#schema, this.#fragments, variables).root(this.#root, this.#node.selectionSet);
    for (const oldest of this.#plans.keys()) {
      if (this.#plans.size < plansMax) break;
      this.#plans.delete(oldest);
    }
    this.#plans.set(key, plan);
    return plan;
  }
}

/** The variables behind `@skip` and `@include`. */
function switchesOf(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: (node) => {
      const variable = switchOf(node);
      if (variable !== undefined) names.add(variable);
    },
  });
  return [...names];
}

function switchOf({ name, arguments: given = [] }: DirectiveNode): string | undefined {
  if (name.value !== 'skip' && name.value !== 'include') return undefined;
  const value = given[0]?.value;
  return value?.kind === Kind.VARIABLE ? value.name.value : undefined;
}
