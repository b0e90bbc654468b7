// Fast path: answers a query or a mutation that came as JSON without Yoga. The plain path is ../yoga.ts.
import { securityHeaders, sendBody } from '../../../http/reply/reply.ts';
import { presentResult } from '../../errors.ts';
import type { Call } from '../call.ts';
import { isFaults } from '../documents/documents.ts';
import type { Executor } from '../executor.ts';
import { hasJson, type RequestReader } from '../request-reader.ts';
import { type EventStreams, wantsStream } from '../streams/event-streams.ts';
import type { Turns } from '../turns.ts';

const json = 'application/json';
const graphqlJson = 'application/graphql-response+json';

export interface SmallQueryParts {
  readonly reader: RequestReader;
  readonly executor: Executor;
  readonly turns: Turns;
  readonly streams: EventStreams;
}

/** Answers what most requests are: a valid operation whose answer is one JSON object, or a stream. Yoga costs several times a small query. */
export class SmallQueries {
  readonly #parts: SmallQueryParts;

  constructor(parts: SmallQueryParts) {
    this.#parts = parts;
  }

  /** @returns whether the request is answered. If not, Yoga answers it: nothing has been run yet. */
  async answer(call: Call): Promise<boolean> {
    const { reader, executor, turns, streams } = this.#parts;
    if (call.req.method !== 'POST' || !hasJson(call.req)) return false;
    const document = await reader.read(call);
    if (wantsStream(document, call.accept)) {
      await streams.answer(call, document);
      return true;
    }
    const type = replyType(call.accept);
    const operation = document.operation();
    if (type === undefined || isFaults(operation)) return false;
    const result = await turns.run(call, (context) => executor.execute(operation, document.params.variables, context));
    // The variables were refused before anything ran: Yoga knows the status of that.
    if (result.data === undefined) return false;
    const headers = ['content-type', `${type}; charset=utf-8`, 'x-request-id', call.requestId, ...securityHeaders];
    sendBody(call.res, 200, headers, JSON.stringify(presentResult(result, call.errors)), document.kind === 'query');
    return true;
  }
}

/** The usual ways to ask for JSON. Undefined for any other: Yoga negotiates the content type. */
function replyType(accept: string): string | undefined {
  if (accept === '*/*' || accept === json) return json;
  if (accept.startsWith(graphqlJson) && !accept.includes(';q')) return graphqlJson;
  if (accept.startsWith(`${json},`) && !accept.includes(';q') && !accept.includes(graphqlJson)) return json;
  return undefined;
}
