import { type ComplexityResult, complexityFromQuery } from '@pothos/plugin-complexity';
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { runOperations } from '../../domain/access/policy.ts';
import { keyEnded, watchKey, watchRevocation } from '../../domain/accounts/api-keys.ts';
import type { Deps } from '../../domain/deps.ts';
import { DomainError } from '../../entities/errors.ts';
import { CallContext } from '../../http/context.ts';
import type { Admissions } from '../../http/limits.ts';
import { boundedResult, ReplyBudget } from '../../http/reply/budget.ts';
import { fieldsOf, fragmentsOf } from '../../lib/selections.ts';
import type { Settings } from '../../settings.ts';
import type { ComplexityContext } from '../builder/complexity.ts';
import type { GraphContext } from '../builder/context.ts';
import { type Call, callerOf, type ServerContext, type WatchKey } from './call.ts';
import { documentError } from './document-limits.ts';
import { SubscriptionResults } from './subscription-results.ts';
import { variableFaults } from './variables.ts';

interface Prepared {
  readonly call: Call;
  readonly context: CallContext;
  /** Whether one of the root fields holds a model run (domain/access/policy.ts). */
  readonly holdsRun: boolean;
}

interface Refused {
  readonly errors: readonly GraphQLError[];
}

/** Runs the operations of valid documents by graphql-js: within the limits of their cost and their reply, and when their caller may. */
export class Operations {
  readonly #deps: Deps;
  readonly #admissions: Admissions;
  readonly #watchKey: WatchKey;
  readonly #watchRevocation: WatchKey;
  /** Subscriptions without an end of their own. */
  readonly #endless = new Set<CallContext>();

  /** @param watch  replaces both watchers in a test. */
  constructor(deps: Deps, admissions: Admissions, watch: WatchKey | undefined) {
    this.#deps = deps;
    this.#admissions = admissions;
    this.#watchKey = watch ?? ((caller, onEnd) => watchKey(deps, caller, onEnd));
    this.#watchRevocation = watch ?? ((caller, onEnd) => watchRevocation(deps, caller, onEnd));
  }

  /** Ends every subscription without an end of its own, with an error that says why. One that shows a run goes on to the end of the run. */
  stop(reason: DomainError): void {
    for (const context of this.#endless) context.abort(reason);
  }

  /**
   * Runs a query or a mutation: one that holds a run takes a place among the runs, any other waits for its caller's turn.
   *
   * @throws DomainError when there is no place, when the turn does not come, and when the key is revoked meanwhile.
   */
  readonly execute = async (args: ExecutionArgs): Promise<ExecutionResult> => {
    const prepared = this.#prepare(args);
    if ('errors' in prepared) return refused(args, prepared);
    const { call, context, holdsRun } = prepared;
    // While the reader of its reserved stream is slow, no more results are made for it.
    await call.reserved?.outlet.drained;
    const leave = call.reserved?.join(context);
    const work = async () => boundedResult(await execute({ ...args, contextValue: context }), context.replyBudget);
    try {
      if (!holdsRun) return await this.#admissions.requests.run(callerOf(call), () => context.signal, work);
      return await this.#hold(context, work);
    } finally {
      leave?.();
    }
  };

  /** Begins a subscription. @throws DomainError when the caller has its share of runs or of subscriptions. */
  readonly subscribe = async (args: ExecutionArgs): Promise<ExecutionResult | SubscriptionResults> => {
    const prepared = this.#prepare(args);
    if ('errors' in prepared) return refused(args, prepared);
    const { call, context, holdsRun } = prepared;
    requireStreamTaken(call);
    const caller = callerOf(call);
    const { runs, subscriptions, requests } = this.#admissions;
    const pool = holdsRun ? runs : subscriptions;
    pool.enter(caller);
    const stopWatching = this.#watchKey(caller, () => context.abort(keyEnded()));
    const leave = call.reserved?.join(context);
    if (!holdsRun) this.#endless.add(context);
    const onEnd = () => {
      this.#endless.delete(context);
      stopWatching();
      leave?.();
      pool.leave(caller);
    };
    try {
      const open = async () => createSourceEventStream({ ...args, contextValue: context });
      const source = await (holdsRun ? open() : requests.run(caller, () => context.signal, open));
      if (Symbol.asyncIterator in source) {
        const resultOf = (rootValue: unknown) => this.#resultOf({ ...args, rootValue }, context);
        return new SubscriptionResults(source, context, resultOf, call, onEnd);
      }
      onEnd();
      // graphql-sse takes nothing without data for a result.
      return call.isStreamPath ? { ...source, data: null } : source;
    } catch (error) {
      onEnd();
      throw error;
    }
  };

  /** Checks the variables and the cost. @returns what is wrong with them, or what the operation needs. */
  #prepare({ schema, document, operationName, variableValues, contextValue }: ExecutionArgs): Refused | Prepared {
    const { call } = contextValue as ServerContext;
    const node = getOperationAST(document, operationName);
    if (node === null || node === undefined) throw documentError('OPERATION_RESOLUTION_FAILURE', 'There is no such operation');
    const variables = variableValues ?? {};
    const errors = variableFaults(schema, node.variableDefinitions ?? [], variables);
    if (errors.length > 0) return { errors };
    const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
    const alone = { ...document, definitions: [node, ...fragments] };
    const ctx: ComplexityContext = { listMax: this.#deps.settings.LIST_MAX };
    const weight = complexityFromQuery(alone, { schema, variables, ctx });
    const error = weightFault(weight, this.#deps.settings);
    if (error !== undefined) return { errors: [error] };
    call.rootFields = rootFieldsOf(schema, document, node);
    const root = `${node.operation[0]?.toUpperCase()}${node.operation.slice(1)}`;
    const context = new CallContext(this.#deps, callerOf(call), call.rootFields, call.requestId, call.res);
    // Made now: an operation on a reserved stream outlives the reply to the request that starts it.
    void context.signal;
    return { call, context, holdsRun: call.rootFields.some((name) => runOperations.has(`${root}.${name}`)) };
  }

  async #hold(context: CallContext, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
    const { runs } = this.#admissions;
    const stopWatching = this.#watchRevocation(context.caller, () => context.abort(keyEnded()));
    try {
      runs.enter(context.caller);
      try {
        const result = await work();
        if (context.endedBy !== undefined) throw context.endedBy;
        return result;
      } finally {
        runs.leave(context.caller);
      }
    } finally {
      stopWatching();
    }
  }

  /** Each event has a context of its own, because data loaders keep what they loaded as long as their context lives. */
  async #resultOf(args: ExecutionArgs, { deps, caller, requestId, address, signal }: CallContext): Promise<ExecutionResult> {
    const replyBudget = new ReplyBudget(deps.settings.REPLY_MAX_BYTES);
    const contextValue: GraphContext = { deps, caller, requestId, address, signal, replyBudget };
    return boundedResult(await execute({ ...args, contextValue }), replyBudget);
  }
}

/** graphql-sse would not say why. */
function refused({ contextValue }: ExecutionArgs, result: Refused): Refused {
  const { call } = contextValue as ServerContext;
  if (call.isStreamPath) call.refusal = result.errors;
  return result;
}

/** Pothos calls the number of fields, fragments unfolded, the breadth. */
function weightFault({ complexity, breadth }: ComplexityResult, settings: Settings): GraphQLError | undefined {
  const { GRAPHQL_FIELDS_MAX: fieldsMax, GRAPHQL_COST_MAX: costMax } = settings;
  if (breadth > fieldsMax) {
    const message = `The operation unfolds to ${breadth} fields; at most ${fieldsMax} are allowed. Spread fewer fragments`;
    return documentError('GRAPHQL_TOO_MANY_FIELDS', message);
  }
  const cost = Math.ceil(complexity);
  if (cost <= costMax) return undefined;
  const message = `The operation may make a reply of cost ${cost}; at most ${costMax} is allowed. Ask for shorter lists, or for fewer fields`;
  return documentError('GRAPHQL_TOO_COSTLY', message);
}

function rootFieldsOf(
  schema: ExecutionArgs['schema'],
  document: ExecutionArgs['document'],
  { operation, selectionSet }: OperationDefinitionNode,
): readonly string[] {
  const type = schema.getRootType(operation);
  if (type === undefined || type === null) return [];
  const fields = fieldsOf(schema, fragmentsOf(document), [{ selectionSet, type }]);
  return [...new Set(fields.map(({ node }) => node.name.value))];
}

/** @throws DomainError NOT_ACCEPTABLE for a subscription whose client takes no stream: Yoga would tell it when the source is open. */
function requireStreamTaken({ isStreamPath, req }: Call): void {
  const { accept = '*/*' } = req.headers;
  if (isStreamPath || accept.includes('text/event-stream') || accept.includes('*/*')) return;
  const message = 'A subscription is answered with a stream: send the header "Accept: text/event-stream"';
  throw new DomainError('NOT_ACCEPTABLE', message);
}
