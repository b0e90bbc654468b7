import type { ServerResponse } from 'node:http';
import { mayReadReferences } from '../../domain/ground/access/reference-scopes.ts';
import { isLast, type RunEvent } from '../../entities/conversations/runs/event.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { CallContext } from '../../http/context.ts';
import { takesExtensions, takesImages } from '../../http/extensions.ts';
import type { SseStream, SseStreams } from '../../http/reply/sse.ts';
import type {
  EncoderContext,
  ShownTo,
  StreamEncoder,
  StreamEncoderFactory,
  Variables,
  WireReply,
} from '../../wire/ground/encoder.ts';
import { noHeaders, type Reply } from './reply.ts';

/** From here on the events that close an answer leave one by one. A shorter answer leaves in one write with its end. */
const longAnswerChars = 256 * 1024;

export interface StreamCall {
  readonly source: AsyncIterable<readonly RunEvent[]>;
  readonly variables: Variables;
  readonly context: CallContext;
  readonly res: ServerResponse;
  readonly headers: readonly string[];
}

/**
 * Sends a run as it happens. The head leaves with the first batch: a failure before it is a 4xx or 5xx, a failure after it is the encoder's
 * last frame. Each batch leaves in one write, and the source is read only as fast as the client reads.
 *
 * @throws whatever the source throws before its first batch.
 */
export async function sendStream(streams: SseStreams, factory: StreamEncoderFactory, call: StreamCall): Promise<void> {
  const { context, res } = call;
  const batches = call.source[Symbol.asyncIterator]();
  const coming = batches.next();
  // Made while the model works, so that it does not delay the first token.
  const encoder = factory(call.variables, encoderContext(context));
  const first = await coming;
  if (res.destroyed) {
    await batches.return?.();
    return;
  }
  const stream = streams.start(res, context.requestId, withNotes(call.headers, context));
  try {
    const last = await pump(stream, encoder, batches, first);
    const endReason: unknown = context.signal.aborted ? context.signal.reason : undefined;
    stream.end(last + (endReason instanceof DomainError ? encoder.fail(endReason) : encoder.end()));
  } catch (error) {
    const abortReason: unknown = context.signal.aborted ? context.signal.reason : undefined;
    stream.end(encoder.fail(abortReason instanceof DomainError ? abortReason : error));
    if (!context.signal.aborted) throw error;
  } finally {
    await batches.return?.();
  }
}

/** @returns the frames of the terminal event, which leave together with the end of the stream. */
async function pump(
  stream: SseStream,
  encoder: StreamEncoder,
  batches: AsyncIterator<readonly RunEvent[]>,
  first: IteratorResult<readonly RunEvent[]>,
): Promise<string> {
  let hasWritten = false;
  let next: IteratorResult<readonly RunEvent[]> | undefined = first;
  while (next.done !== true && !stream.isClosed) {
    const last = next.value.at(-1);
    const hasEnded = last !== undefined && isLast(last);
    if (next.value.some(repeatsLongAnswer)) {
      await writeOneByOne(stream, encoder, next.value);
      if (hasEnded) return '';
    } else {
      const text = encoder.encode(next.value);
      if (hasEnded) return text;
      // A batch is released before anything is waited for, and has no other name here: what a slow reader holds is its frames alone.
      next = undefined;
      if (text === '') {
        if (!hasWritten) stream.flush();
      } else {
        const slow = stream.write(text);
        if (slow !== undefined) await slow;
      }
    }
    hasWritten = true;
    next = await batches.next();
  }
  return '';
}

/**
 * Each of the events that close a long answer has it whole. A slow reader holds the frame of one of them at a time: the next one is encoded when it has
 * taken the one before.
 */
async function writeOneByOne(stream: SseStream, encoder: StreamEncoder, batch: readonly RunEvent[]): Promise<void> {
  for (const event of batch) {
    if (stream.isClosed) return;
    const text = encoder.encode([event]);
    if (text !== '') await stream.write(text);
  }
}

function repeatsLongAnswer(event: RunEvent): boolean {
  return event.type === 'response.output_text.done' && event.text.length > longAnswerChars;
}

/** Reads a run to its end and makes one body of it. @throws DomainError when the run failed; whatever its source throws. */
export async function foldStream(
  fold: NonNullable<WireReply['fold']>,
  call: Omit<StreamCall, 'res' | 'headers'>,
): Promise<Reply> {
  const { context } = call;
  const sum = fold(call.variables, encoderContext(context));
  for await (const batch of call.source) sum.add(batch);
  const text = JSON.stringify(sum.body());
  const headers = sum.headers?.() ?? noHeaders;
  return { status: 200, text, headers: context.hasNotes ? { ...headers, ...notedHeaders(context) } : headers };
}

function withNotes(headers: readonly string[], context: CallContext): readonly string[] {
  return context.hasNotes ? [...headers, ...Object.entries(notedHeaders(context)).flat()] : headers;
}

/** A class: the notes are read at the end, and an accessor of an object literal is made anew for each object. */
class CallEncoderContext implements EncoderContext, ShownTo {
  readonly nowMs: number;
  readonly takesExtensions: boolean;
  readonly takesImages: boolean;
  readonly #context: CallContext;

  constructor(context: CallContext) {
    const readHeader = (name: string) => context.header(name);
    this.nowMs = context.deps.now().getTime();
    this.takesExtensions = takesExtensions(readHeader);
    this.takesImages = takesImages(readHeader);
    this.#context = context;
  }

  get notes(): ReadonlyMap<string, string> {
    return this.#context.notes;
  }

  mayRead(member: string): boolean {
    return mayReadReferences(this.#context.caller, member);
  }
}

export function shownTo({ caller }: Pick<CallContext, 'caller'>): ShownTo {
  return { mayRead: (member) => mayReadReferences(caller, member) };
}

export function encoderContext(context: CallContext): EncoderContext & ShownTo {
  return new CallEncoderContext(context);
}

/** The notes whose names are those of headers. */
export function notedHeaders({ notes }: CallContext): Readonly<Record<string, string>> {
  return notes.size === 0 ? {} : Object.fromEntries([...notes].filter(([name]) => name.startsWith('x-')));
}
