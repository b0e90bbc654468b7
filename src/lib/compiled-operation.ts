import {
  type DirectiveNode,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { executeFields, executeSerially } from './compiled-operation/execute.ts';
import { type ObjectPlan, Planner } from './compiled-operation/plan.ts';
import { type KeptArguments, Run } from './compiled-operation/run.ts';

export type { KeptArguments };

/** More variables than this behind `@skip` and `@include` would make too many plans of one document. */
const switchesMax = 4;

export interface OperationArgs {
  readonly rootValue?: unknown;
  readonly contextValue: unknown;
  /** As the request has them. */
  readonly variableValues: Readonly<Record<string, unknown>>;
}

/**
 * One operation of a valid document, made ready to run many times: which fields stand where, with which resolvers, types and nodes, is found
 * out once. The results are those of graphql-js's `execute`, null propagation, errors and their order of work included; what is asked rarely
 * (introspection) is handed to it.
 */
export class CompiledOperation {
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;
  readonly #node: OperationDefinitionNode;
  readonly #root: GraphQLObjectType | undefined;
  readonly #fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** Variables that decide which fields are asked for; undefined when graphql-js is to run all of it. */
  readonly #switches: readonly string[] | undefined;
  /** A plan for each way the switches can stand. */
  readonly #plans = new Map<string, ObjectPlan>();

  constructor(schema: GraphQLSchema, document: DocumentNode, node: OperationDefinitionNode) {
    this.#schema = schema;
    this.#document = document;
    this.#node = node;
    this.#root = schema.getRootType(node.operation) ?? undefined;
    this.#fragments = fragmentsOf(document);
    this.#switches = switchesOf(document);
  }

  /** As `execute` of graphql-js: never rejects; without `data` when the variables were refused before anything ran. */
  execute({ rootValue, contextValue, variableValues }: OperationArgs): ExecutionResult | Promise<ExecutionResult> {
    const { coerced, errors } = getVariableValues(this.#schema, this.#node.variableDefinitions ?? [], variableValues, {
      maxErrors: 50,
    });
    if (errors !== undefined) return { errors };
    const result = this.executeCoerced({ rootValue, contextValue, variableValues: coerced });
    if (result !== undefined) return result;
    return execute({
      schema: this.#schema,
      document: this.#document,
      rootValue,
      contextValue,
      variableValues,
      ...(this.#node.name === undefined ? {} : { operationName: this.#node.name.value }),
    });
  }

  /**
   * The same with variables that were coerced before. A subscription runs on one of its events.
   *
   * @param keptArguments  one map for all runs with these variables spares them reading arguments again.
   * @returns undefined, with nothing run, when graphql-js has to run it.
   */
  executeCoerced(
    { rootValue, contextValue, variableValues }: OperationArgs,
    keptArguments?: KeptArguments,
  ): ExecutionResult | Promise<ExecutionResult> | undefined {
    const plan = this.#planFor(variableValues);
    if (plan === undefined) return undefined;
    const operation = this.#node;
    const statics = { schema: this.#schema, fragments: this.#fragments, operation };
    const run = new Run({ ...statics, rootValue, contextValue, variableValues, keptArguments });
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

  #planFor(variables: Readonly<Record<string, unknown>>): ObjectPlan | undefined {
    if (this.#switches === undefined || this.#root === undefined) return undefined;
    let key = '';
    for (const name of this.#switches) {
      const value = variables[name];
      if (typeof value !== 'boolean') return undefined;
      key += value ? '1' : '0';
    }
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const planner = new Planner(this.#schema, this.#fragments, variables);
    const plan = planner.root(this.#root, this.#node.selectionSet);
    this.#plans.set(key, plan);
    return plan;
  }
}

function fragmentsOf(document: DocumentNode): Readonly<Record<string, FragmentDefinitionNode>> {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const node of document.definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node;
  return fragments;
}

/** The variables behind `@skip` and `@include`, or undefined for a document that no plan is made of. */
function switchesOf(document: DocumentNode): readonly string[] | undefined {
  const names = new Set<string>();
  let isOrdinary = true;
  visit(document, {
    Field: ({ name, alias }) => {
      // The result is a plain object, where this name would set the prototype.
      if (name.value === '__schema' || name.value === '__type' || alias?.value === '__proto__') isOrdinary = false;
    },
    Directive: (node) => {
      const variable = switchOf(node);
      if (variable !== undefined) names.add(variable);
    },
  });
  return isOrdinary && names.size <= switchesMax ? [...names] : undefined;
}

function switchOf({ name, arguments: given = [] }: DirectiveNode): string | undefined {
  if (name.value !== 'skip' && name.value !== 'include') return undefined;
  const value = given[0]?.value;
  return value?.kind === Kind.VARIABLE ? value.name.value : undefined;
}
