// Fast path: an operation that is compiled once and run many times. The plain path is `execute` of graphql-js.
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

/** Most plans of one operation; variables in `@skip` and `@include` can require many. */
const plansMax = 4;

export interface OperationArgs {
  readonly rootValue?: unknown;
  readonly contextValue: unknown;
  /** As in the request. */
  readonly variableValues: VariableValues;
  /** Undefined only where other limits bound the reply. */
  readonly budget: ReplyBudget | undefined;
}

/**
 * One operation of a valid document, prepared to run many times: its fields, resolvers, types and nodes are found once. The results
 * equal those of graphql-js's `execute`, including null propagation, errors and order of execution, as long as they fit the budget.
 * Every execution in the service goes through this class.
 */
export class CompiledOperation {
  readonly #schema: GraphQLSchema;
  readonly #node: OperationDefinitionNode;
  readonly #root: GraphQLObjectType;
  readonly #fragments: Fragments;
  /** The variables in `@skip` and `@include`. */
  readonly #switches: readonly string[];
  /** A plan for each combination of their values, the last used ones. */
  readonly #plans = new Map<string, ObjectPlan>();

  /** @throws Error when the schema has no such operation type. */
  constructor(schema: GraphQLSchema, document: DocumentNode, node: OperationDefinitionNode) {
    const root = schema.getRootType(node.operation);
    if (root === undefined || root === null) throw new Error(`the schema has no ${node.operation}`);
    this.#schema = schema;
    this.#node = node;
    this.#root = root;
    this.#fragments = fragmentsOf(document);
    this.#switches = switchesOf(document);
  }

  /** Like `execute` of graphql-js: never rejects; the result is without `data` when variables are invalid. */
  execute(args: OperationArgs): ExecutionResult | Promise<ExecutionResult> {
    const { coerced, errors } = this.coerce(args.variableValues);
    return errors !== undefined ? { errors } : this.executeCoerced({ ...args, variableValues: coerced });
  }

  /** Coerces the variables of a request; returns the errors of invalid ones. */
  coerce(variableValues: VariableValues): ReturnType<typeof coerceVariables> {
    return coerceVariables(this.#schema, this.#node.variableDefinitions ?? [], variableValues);
  }

  /**
   * The same with coerced variables. A subscription runs it for each of its events.
   *
   * @param keptArguments  one map for all runs with the same variables, so that arguments are read once.
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

/** The variables in `@skip` and `@include`. */
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
