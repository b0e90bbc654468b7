import type { FetchLike } from '@modelcontextprotocol/client';
import type { ShareOwner } from '../../../../lib/flow/fair-share.ts';
import { isObject } from '../../../../lib/json/json.ts';
import type { Egress, EgressHead } from '../../../egress/egress.ts';
import { EgressError } from '../../../egress/error.ts';
import type { EgressRequest } from '../../../egress/request.ts';

export interface EgressFetchOptions {
  readonly egress: Egress;
  readonly owner: ShareOwner;
  /** The only origin that is called: headers and secrets were given for it. */
  readonly origin: string;
  readonly bytesMax: number;
  /** Time for one request with its whole answer. */
  readonly timeoutMs: number;
  /** Time for a stream of events that the server may keep open. */
  readonly streamTimeoutMs: number;
}

const methods = ['GET', 'POST', 'DELETE'] as const;
/** A server may end and reopen the stream of its own messages so often in one session: the SDK opens it again without an end. */
const streamsMax = 20;
const withoutBody = [204, 205, 304];
const statusMax = 599;

/** `fetch` over the egress guard for one session of the SDK's transport, which follows redirects itself: each one passes the guard again. */
export function createEgressFetch(options: EgressFetchOptions): FetchLike {
  let streams = 0;
  return (address, init = {}) => {
    const url = new URL(address);
    const method = methods.find((one) => one === (init.method ?? 'GET'));
    if (url.origin !== options.origin || method === undefined) {
      return Promise.reject(new EgressError('BAD_URL', `${url.hostname} leads to another place, which is not followed`));
    }
    const headers = new Headers(init.headers);
    const isStream = method === 'GET' || headers.get('mcp-method') === 'subscriptions/listen';
    if (isStream && ++streams > streamsMax) return Promise.resolve(new Response(null, { status: 405 }));
    const request: EgressRequest = {
      url: url.href,
      method,
      headers: Object.fromEntries(headers),
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
      owner: options.owner,
      bytesMax: options.bytesMax,
      timeoutMs: isStream ? options.streamTimeoutMs : options.timeoutMs,
      redirectsMax: 0,
      isPrompt: true,
      ...(isStream ? { isHeld: true } : {}),
    };
    return responseTo(options.egress, request, init.signal ?? new AbortController().signal);
  };
}

function responseTo(egress: Egress, request: EgressRequest, signal: AbortSignal): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const take = async (head: EgressHead, content: AsyncIterable<Uint8Array>) => {
    const { status } = head;
    if (status < 200 || status > statusMax) throw new EgressError('BAD_REPLY', `the answer has the status ${status}`);
    if (status === 202 && isCall(request.body)) throw new EgressError('BAD_REPLY', 'it took the request and gives no answer');
    if (withoutBody.includes(status)) return resolve(new Response(null, { status, headers: head.headers }));
    const over = Promise.withResolvers<void>();
    const isEvents = head.headers['content-type']?.includes('text/event-stream') === true;
    const body = streamBody(content, isEvents ? new EventLines() : undefined, over.resolve);
    // A body that nobody reads ends with its time, too.
    const end = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs)]);
    end.addEventListener('abort', () => over.resolve(), { once: true });
    resolve(new Response(body, { status, headers: head.headers }));
    await over.promise;
  };
  egress.receive(request, signal, take).catch(reject);
  return promise;
}

/** Whether a body is a request, which must be answered, and no notification or answer. */
function isCall(body: EgressRequest['body']): boolean {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  return isObject(message) && 'method' in message && 'id' in message;
}

function streamBody(
  content: AsyncIterable<Uint8Array>,
  lines: EventLines | undefined,
  end: () => void,
): ReadableStream<Uint8Array> {
  const blocks = content[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await blocks.next();
          if (done !== true) return controller.enqueue(lines === undefined ? value : lines.read(value));
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        end();
      },
      cancel: end,
    },
    // Nothing is read before somebody asks for it.
    { highWaterMark: 0 },
  );
}

const carriageReturn = 13;
const lineFeed = 10;
/** Lines of one event stream; a message has about three. A line that means nothing costs the SDK's reader an error. */
const linesMax = 100_000;

/**
 * The lines of an event stream from a server, block by block: bounded, and each with a line feed as its end. The SDK's reader looks for a
 * carriage return from each line to the end of its block: without any, it reads in linear time.
 */
class EventLines {
  #count = 0;
  #isAfterReturn = false;

  /** @throws EgressError TOO_LARGE */
  read(block: Uint8Array): Uint8Array {
    const outputBytes = new Uint8Array(block.length);
    let length = 0;
    for (const byte of block) {
      const isRest = this.#isAfterReturn && byte === lineFeed;
      this.#isAfterReturn = byte === carriageReturn;
      if (isRest) continue;
      const isEnd = this.#isAfterReturn || byte === lineFeed;
      if (isEnd) this.#count += 1;
      outputBytes[length] = isEnd ? lineFeed : byte;
      length += 1;
    }
    if (this.#count > linesMax) throw new EgressError('TOO_LARGE', `the answer has more than ${linesMax} lines`);
    return outputBytes.subarray(0, length);
  }
}
