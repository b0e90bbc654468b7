import type { ServerResponse } from 'node:http';
import type { Deps } from '../../../domain/deps.ts';
import type { AdmissionPool } from '../../../engine/sharing/pools.ts';
import { DomainError } from '../../../entities/errors.ts';
import { CallContext } from '../../../http/context.ts';
import type { Admissions } from '../../../http/limits.ts';
import type { SseStreams } from '../../../http/reply/sse.ts';
import type { GraphContext } from '../../builder/builder.ts';
import type { Call, WatchKey } from '../call.ts';
import { type DocumentRequest, isFaults, type Operation } from '../documents/documents.ts';
import type { Params } from '../params.ts';
import { sendErrors } from '../reply.ts';
import type { EventSource } from './event-source.ts';

export interface StreamParts {
  readonly deps: Deps;
  readonly source: EventSource;
  readonly sse: SseStreams;
  readonly watchKey: WatchKey;
  readonly admissions: Admissions;
}

/**
 * Operations answered by a stream of their own: the distinct connections mode of the graphql-sse protocol. Written by hand because this
 * is the hot path: no web streams, and events that arrived together leave in one write.
 */
export class EventStreams {
  readonly #parts: StreamParts;
  /** Those without an end of their own. */
  readonly #endless = new Set<CallContext>();

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  async answer(call: Call, params: Params, document: DocumentRequest): Promise<void> {
    const { deps, watchKey, admissions } = this.#parts;
    const { req, res, caller, requestId } = call;
    const operation = document.operation();
    if (isFaults(operation)) return sendErrors(res, 400, operation, call.errors);
    if (req.method === 'GET' && operation.node.operation === 'mutation') {
      res.setHeader('allow', 'POST');
      return sendErrors(res, 405, [new DomainError('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST')], call.errors);
    }
    const pool = poolOf(operation, admissions);
    pool?.enter(caller);
    const context = new CallContext(deps, caller, requestId, res);
    if (!operation.holdsRun) this.#endless.add(context);
    const stopWatching = watchKey(caller, () => {
      context.abort(new DomainError('INVALID_API_KEY', 'The API key was revoked or has expired'));
    });
    try {
      await this.#send(operation, params, context, res);
    } finally {
      this.#endless.delete(context);
      stopWatching();
      pool?.leave(caller);
    }
  }

  async #send(operation: Operation, params: Params, context: CallContext, res: ServerResponse): Promise<void> {
    const results = await openInTurn(this.#parts, operation, params, context);
    const stream = this.#parts.sse.start(res, context.requestId, ['connection', 'keep-alive']);
    stream.flush();
    for await (const batch of results) {
      const slow = stream.write(distinctFrames(batch));
      if (slow !== undefined) await slow;
      if (stream.isClosed) return;
    }
    stream.end('event: complete\ndata:\n\n');
  }

  /** Ends every stream without an end of its own with an error that says why. */
  stop(reason: DomainError): void {
    for (const context of this.#endless) context.abort(reason);
  }
}

/** What an operation on a stream takes a place of while it runs; a query or a plain mutation has its turn in `openInTurn`. */
export function poolOf({ holdsRun, node }: Operation, { runs, subscriptions }: Admissions): AdmissionPool | undefined {
  if (holdsRun) return runs;
  return node.operation === 'subscription' ? subscriptions : undefined;
}

/** Asks the resolvers, in the caller's turn where no run is behind the operation. */
export function openInTurn(
  { source, admissions }: StreamParts,
  operation: Operation,
  { variables }: Params,
  context: GraphContext,
): Promise<AsyncIterable<readonly string[]>> {
  const open = () => source.open(operation, variables, context);
  return operation.holdsRun ? open() : admissions.requests.run(context.caller, () => context.signal, open);
}

function distinctFrames(batch: readonly string[]): string {
  let frames = '';
  for (const json of batch) frames += `event: next\ndata: ${json}\n\n`;
  return frames;
}
