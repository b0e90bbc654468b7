import { keyEnded } from '../../../domain/accounts/api-keys.ts';
import type { Deps } from '../../../domain/deps.ts';
import { DomainError } from '../../../entities/errors.ts';
import { CallContext } from '../../../http/context.ts';
import type { Admissions } from '../../../http/limits.ts';
import type { SseStream, SseStreams } from '../../../http/reply/sse.ts';
import type { Call, WatchKey } from '../call.ts';
import { type DocumentRequest, isFaults, type Operation } from '../documents/documents.ts';
import type { Executor } from '../executor.ts';
import { sendErrors } from '../reply.ts';
import { OperationResults, type StreamContext } from './operation-results.ts';
import { Outlet } from './outlet.ts';
import { framesOf, type Protocol } from './protocol.ts';

export interface StreamParts {
  readonly deps: Deps;
  readonly executor: Executor;
  readonly sse: SseStreams;
  readonly protocol: Protocol;
  readonly watchKey: WatchKey;
  readonly admissions: Admissions;
}

/**
 * Whether the answer is an event stream: the client takes nothing else, or the operation is a subscription.
 *
 * @throws DomainError NOT_ACCEPTABLE for a subscription whose client takes no stream.
 */
export function wantsStream({ kind }: DocumentRequest, accept: string): boolean {
  if (accept.includes('text/event-stream')) return true;
  if (kind !== 'subscription') return false;
  if (accept.includes('*/*')) return true;
  const message = 'A subscription is answered with a stream: send the header "Accept: text/event-stream"';
  throw new DomainError('NOT_ACCEPTABLE', message);
}

/** Runs operations whose results are sent as event streams; each stream carries one operation (distinct connections mode of graphql-sse). */
export class EventStreams {
  readonly #parts: StreamParts;
  /** Operations without an end of their own. */
  readonly #endless = new Set<OperationResults>();

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  /** Answers one operation with a stream of its own. Resolves when the stream has ended. */
  async answer(call: Call, document: DocumentRequest): Promise<void> {
    const operation = operationOf(call, document);
    if (operation === undefined) return;
    const context = new CallContext(this.#parts.deps, call.caller, call.requestId, call.res);
    const outlet = new Outlet();
    const results = this.begin(operation, document, context, outlet);
    try {
      await results.open();
      const reply = await this.#parts.protocol('POST', { token: null, params: document.params, results });
      await outlet.send(framesOf(reply), this.startStream(call), call.res);
    } finally {
      await results.return();
    }
  }

  /**
   * Admits an operation whose results go to the outlet.
   *
   * @throws DomainError when the caller has its share of runs or of subscriptions.
   */
  begin(operation: Operation, { params }: DocumentRequest, context: StreamContext, outlet: Outlet): OperationResults {
    const { executor, watchKey, admissions } = this.#parts;
    const { caller } = context;
    const { holdsRun } = operation;
    const isSubscription = operation.node.operation === 'subscription';
    const pool = holdsRun ? admissions.runs : isSubscription ? admissions.subscriptions : undefined;
    pool?.enter(caller);
    const stopWatching = watchKey(caller, () => context.abort(keyEnded()));
    const run = async () =>
      isSubscription
        ? executor.subscribe(operation, params.variables, context)
        : executor.execute(operation, params.variables, context);
    const open = () => (holdsRun ? run() : admissions.requests.run(caller, () => context.signal, run));
    const results = new OperationResults(context, outlet, open, () => {
      this.#endless.delete(results);
      stopWatching();
      pool?.leave(caller);
    });
    if (!holdsRun) this.#endless.add(results);
    return results;
  }

  startStream({ res, requestId }: Call): SseStream {
    const stream = this.#parts.sse.start(res, requestId, ['connection', 'keep-alive']);
    stream.flush();
    return stream;
  }

  /** Ends every operation without an end of its own, with an error that says why. One that shows a run goes on to the end of the run. */
  stop(reason: DomainError): void {
    for (const results of this.#endless) results.abort(reason);
  }
}

/** The operation of a request; undefined when the request has been refused. */
export function operationOf({ req, res, errors }: Call, document: DocumentRequest): Operation | undefined {
  const operation = document.operation();
  if (isFaults(operation)) sendErrors(res, 400, operation, errors);
  else if (req.method !== 'GET' || document.kind !== 'mutation') return operation;
  else {
    res.setHeader('allow', 'POST');
    sendErrors(res, 405, [new DomainError('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST')], errors);
  }
  return undefined;
}
