import type { Deps } from '../../domain/deps.ts';
import { DomainError } from '../../entities/errors.ts';
import { CallContext } from '../../http/context.ts';
import type { RunAdmission } from '../../http/limits.ts';
import type { SseStreams } from '../../http/sse.ts';
import type { Call, WatchKey } from './call.ts';
import { type Documents, isFaults } from './documents.ts';
import type { EventSource } from './event-source.ts';
import type { Params } from './params.ts';
import { sendErrors } from './reply.ts';

export interface StreamParts {
  readonly deps: Deps;
  readonly documents: Documents;
  readonly source: EventSource;
  readonly sse: SseStreams;
  readonly watchKey: WatchKey;
  readonly admission: RunAdmission;
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

  async answer(call: Call, params: Params): Promise<void> {
    const { documents, source, sse, deps, watchKey, admission } = this.#parts;
    const { req, res, caller, requestId } = call;
    const operation = documents.operation(params.query, params.operationName, params.variables);
    if (isFaults(operation)) return sendErrors(res, 400, operation, call.errors);
    if (req.method === 'GET' && operation.node.operation === 'mutation') {
      res.setHeader('allow', 'POST');
      return sendErrors(res, 405, [new DomainError('METHOD_NOT_ALLOWED', 'A mutation must be sent by POST')], call.errors);
    }
    if (operation.holdsRun) admission.enter(caller.keyId);
    const context = new CallContext(deps, caller, requestId, res);
    if (!operation.holdsRun) this.#endless.add(context);
    const stopWatching = watchKey(caller, () => {
      context.abort(new DomainError('INVALID_API_KEY', 'The API key was revoked or has expired'));
    });
    try {
      const results = await source.open(operation, params.variables, context);
      const stream = sse.start(res, requestId, ['connection', 'keep-alive']);
      stream.flush();
      for await (const batch of results) {
        const slow = stream.write(distinctFrames(batch));
        if (slow !== undefined) await slow;
        if (stream.isClosed) return;
      }
      stream.end('event: complete\ndata:\n\n');
    } finally {
      this.#endless.delete(context);
      stopWatching();
      if (operation.holdsRun) admission.leave(caller.keyId);
    }
  }

  /** Ends every stream without an end of its own with an error that says why. */
  stop(reason: DomainError): void {
    for (const context of this.#endless) context.abort(reason);
  }
}

function distinctFrames(batch: readonly string[]): string {
  let frames = '';
  for (const json of batch) frames += `event: next\ndata: ${json}\n\n`;
  return frames;
}
