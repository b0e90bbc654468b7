import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute, getOperationAST, Kind } from 'graphql';
import type { Deps } from '../../domain/deps.ts';
import { runOperations } from '../../domain/ground/access/policy.ts';
import { keyEnded, watchKey, watchRevocation, watchRights } from '../../domain/people/api-keys.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isSession } from '../../entities/people/session.ts';
import { requirePreflightHeader } from '../../http/authenticate/session-cookie.ts';
import { CallContext } from '../../http/context.ts';
import type { Admissions } from '../../http/limits.ts';
import { boundedResult, ReplyBudget } from '../../http/reply/budget.ts';
import { countFurther } from '../../http/reply/rate-headers.ts';
import { collectFields, collectFragments } from '../../lib/selections.ts';
import type { GraphContext } from '../ground/builder/context.ts';
import { isOfArgument, presentResult } from '../ground/errors/present.ts';
import { type Call, requireCaller, type ServerContext, type WatchKey } from './call.ts';
import { noteArguments, requireCheap } from './cost.ts';
import { documentError } from './document-limits.ts';
import { readEventArgs } from './events.ts';
import { streamResults } from './results.ts';
import { requireVariables } from './variables.ts';

/** An operation counts as one request of the rate limits for each such part of its cost: most pages of a front end are one, the largest three. */
const costOfRequest = 2_500;

/** One result, or a stream of them. */
type Results = ExecutionResult | AsyncIterable<ExecutionResult>;

interface Prepared {
  readonly call: Call;
  readonly context: CallContext;
  /** Whether one of the root fields holds a model run (domain/ground/access/policy.ts). */
  readonly holdsRun: boolean;
}

/** Runs the operations of valid documents by graphql-js: within the limits of their cost and their reply, and when their caller may. */
export class Operations {
  readonly #deps: Deps;
  readonly #admissions: Admissions;
  readonly #watchKey: WatchKey;
  readonly #watchRights: WatchKey;
  readonly #watchRevocation: WatchKey;
  /** Subscriptions without an end of their own. */
  readonly #endless = new Set<CallContext>();

  /** @param watch  replaces all watchers in a test. */
  constructor(deps: Deps, admissions: Admissions, watch: WatchKey | undefined) {
    this.#deps = deps;
    this.#admissions = admissions;
    this.#watchKey = watch ?? ((caller, onEnd) => watchKey(deps, caller, onEnd));
    this.#watchRights = watch ?? ((caller, onEnd) => watchRights(deps, caller, onEnd));
    this.#watchRevocation = watch ?? ((caller, onEnd) => watchRevocation(deps, caller, onEnd));
  }

  /** Ends every subscription without an end of its own, with an error that says why. One that shows a run goes on to the end of the run. */
  stop(reason: DomainError): void {
    for (const context of this.#endless) context.abort(reason);
  }

  /**
   * Runs a query or a mutation: one that holds a run takes a place among the runs, any other waits for its caller's turn.
   *
   * @throws DomainError when there is no place, when the turn does not come, and when the key is revoked meanwhile; as `#prepare`.
   */
  readonly execute = async (args: ExecutionArgs): Promise<Results> => {
    const { call, context, holdsRun } = this.#prepare(args);
    // While the reader of its reserved stream is slow, no more results are made for it.
    await call.reserved?.buffer.roomIfOpen;
    const leave = call.reserved?.join(context);
    const run = async () => boundedResult(located(await execute({ ...args, contextValue: context }), args), context.replyBudget);
    const work = () => this.#deps.storage.db.runFor(() => context.caller, run);
    try {
      const result = await (holdsRun ? this.#hold(context, work) : this.#inTurn(context, work));
      const shown = { ...result, ...call.extensions };
      return call.isStreamPath ? oneResult(shown, call) : shown;
    } finally {
      leave?.();
    }
  };

  /** Begins a subscription. @throws DomainError when the caller has its share of runs or of subscriptions; as `#prepare`. */
  readonly subscribe = async (args: ExecutionArgs): Promise<Results> => {
    const { call, context, holdsRun } = this.#prepare(args);
    requireStreamTaken(call);
    const { caller } = context;
    const { runs, subscriptions } = this.#admissions;
    const pool = holdsRun ? runs : subscriptions;
    pool.enter(caller);
    // A run that its caller began goes on whatever role the caller has by now.
    const watch = holdsRun ? this.#watchKey : this.#watchRights;
    const stopWatching = watch(caller, (reason = keyEnded()) => context.abort(reason));
    const leave = call.reserved?.join(context);
    if (!holdsRun) this.#endless.add(context);
    const onEnd = () => {
      this.#endless.delete(context);
      stopWatching();
      leave?.();
      pool.leave(caller);
    };
    try {
      const start = async () => createSourceEventStream({ ...args, contextValue: context });
      const open = () => this.#deps.storage.db.runFor(() => caller, start);
      const source = await (holdsRun ? open() : this.#inTurn(context, open));
      if (Symbol.asyncIterator in source) {
        const eventArgs = readEventArgs(args);
        const shared = eventContext(context);
        const resultOf = (event: unknown) => {
          const result = this.#executeEvent(eventArgs(event), shared);
          return result instanceof Promise ? result.then((late) => located(late, args)) : located(result, args);
        };
        return streamResults(source, { call, context, resultOf, onEnd });
      }
      onEnd();
      const refusal = { ...located(source, args), ...call.extensions };
      return call.isStreamPath ? oneResult(refusal, call) : refusal;
    } catch (error) {
      onEnd();
      throw error;
    }
  };

  /** Checks the variables and the cost. @throws GraphQLError, with everything that is wrong with the variables. */
  #prepare({ schema, document, operationName, variableValues, contextValue }: ExecutionArgs): Prepared {
    const { call } = contextValue as ServerContext;
    const node = getOperationAST(document, operationName);
    if (node === null || node === undefined) throw documentError('OPERATION_RESOLUTION_FAILURE', 'There is no such operation');
    const { operation, selectionSet, variableDefinitions = [] } = node;
    call.measureAs(operation);
    // A link on another site makes a browser send a GET with its session, and a subscription may begin a run.
    if (operation !== 'query' && call.req.method === 'GET' && isSession(requireCaller(call))) requirePreflightHeader(call.req);
    const variables = variableValues ?? {};
    const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
    const run = { ...document, definitions: [node, ...fragments] };
    requireVariables(schema, run, variableDefinitions, variables);
    const cost = requireCheap(this.#deps.settings, { document: run, schema, variables }, (operationCost) => {
      call.cost = operationCost;
    });
    countFurther(this.#deps.rates, requireCaller(call), call.res, Math.ceil(cost / costOfRequest) - 1);
    const type = schema.getRootType(operation);
    const places = type === undefined || type === null ? [] : [{ selectionSet, type }];
    call.rootFields = [
      ...new Set(collectFields(schema, collectFragments(document), places).map((field) => field.node.name.value)),
    ];
    const context = new CallContext(this.#deps, requireCaller(call), call.rootFields, call.errors.requestId, call.res);
    // Made now: an operation on a reserved stream outlives the reply to the request that starts it.
    void context.signal;
    return { call, context, holdsRun: call.rootFields.some((name) => runOperations.has(`${type?.name}.${name}`)) };
  }

  #inTurn<Result>(context: CallContext, work: () => Promise<Result>): Promise<Result> {
    return this.#admissions.requests.run(context.caller, () => context.signal, work);
  }

  async #hold(context: CallContext, work: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
    const { runs } = this.#admissions;
    runs.enter(context.caller);
    const stopWatching = this.#watchRevocation(context.caller, () => context.abort(keyEnded()));
    try {
      const result = await work();
      if (context.endedBy !== undefined) throw context.endedBy;
      return result;
    } finally {
      stopWatching();
      runs.leave(context.caller);
    }
  }

  /** Each event has a context of its own, because data loaders keep what they loaded as long as their context lives. */
  #executeEvent(args: ExecutionArgs, shared: GraphContext): ExecutionResult | Promise<ExecutionResult> {
    const { deps } = shared;
    const replyBudget = new ReplyBudget(deps.settings.REPLY_MAX_BYTES);
    const contextValue: GraphContext = { ...shared, replyBudget };
    const result = deps.storage.db.runFor(
      () => shared.caller,
      () => execute({ ...args, contextValue }),
    );
    return result instanceof Promise
      ? result.then((late) => boundedResult(late, replyBudget))
      : boundedResult(result, replyBudget);
  }
}

/** What the contexts of all events of a subscription share. */
function eventContext({ deps, caller, requestId, address, signal }: CallContext): GraphContext {
  return { deps, caller, requestId, address, signal };
}

function located(result: ExecutionResult, { schema, document }: ExecutionArgs): ExecutionResult {
  const errors = result.errors?.filter(isOfArgument) ?? [];
  if (errors.length > 0) noteArguments(errors, schema, document);
  return result;
}

/** graphql-sse queues what it gets, so it gets the result when the stream takes more; a request is accepted before that. */
async function* oneResult(result: ExecutionResult, call: Call): AsyncGenerator<ExecutionResult> {
  await call.buffer.room;
  yield presentResult(result, call.errors);
}

/** @throws DomainError NOT_ACCEPTABLE for a subscription whose client takes no stream: Yoga would tell it when the source is open. */
function requireStreamTaken({ isStreamPath, req: { headers } }: Call): void {
  if (isStreamPath || /text\/event-stream|\*\/\*/.test(headers.accept ?? '*/*')) return;
  const message = 'A subscription is answered with a stream: send the header "Accept: text/event-stream"';
  throw new DomainError('NOT_ACCEPTABLE', message);
}
