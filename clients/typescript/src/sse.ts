import { ParleyError } from './errors.ts';

/** One event of a stream of server-sent events. */
export interface SseEvent {
  readonly event: string;
  /** The id of this event, or the last one before it; '' before the first. */
  readonly id: string;
  readonly data: string;
}

export function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  if (body === null) throw new ParleyError('The reply has no body');
  return body;
}

/**
 * Reads server-sent events. Ends when the stream ends; an event that was cut off is dropped. Leaving the loop cancels the stream.
 *
 * @param onBytes  called for everything that arrives, also for comments that only show that the connection holds.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes?: () => void,
): AsyncGenerator<SseEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = '';
  let id = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes?.();
      buffer += decoder.decode(value, { stream: true });
      // A carriage return at the end may be the first half of a line end.
      const frames = buffer.split(/\r\n\r\n|\n\n|\r\r(?!$)/);
      buffer = frames.pop() ?? '';
      for (const frame of frames) {
        const event = parseFrame(frame, id);
        if (event === undefined) continue;
        id = event.id;
        yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseFrame(frame: string, idBefore: string): SseEvent | undefined {
  let event = 'message';
  let id = idBefore;
  const data: string[] = [];
  for (const line of frame.split(/\r\n|\n|\r/)) {
    const end = line.indexOf(':');
    if (end === 0) continue;
    const name = end === -1 ? line : line.slice(0, end);
    const value = end === -1 ? '' : line.slice(end + 1).replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data.push(value);
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') };
}
