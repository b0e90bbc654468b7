import { membersOf, readString } from '../../../lib/json/json.ts';

type Fetch = typeof globalThis.fetch;

/** All that a streamed message needs. The SDK fails the whole answer at an event of another type, also at its first place. */
const eventTypes: ReadonlySet<string> = new Set([
  ...['message_start', 'message_delta', 'message_stop', 'content_block_start', 'content_block_delta', 'content_block_stop'],
  ...['ping', 'error'],
]);
/** Of blocks and of their deltas. Blocks of Anthropic's own tools never come: no request names such a tool. */
const partTypes: ReadonlySet<string> = new Set([
  ...['text', 'thinking', 'redacted_thinking', 'tool_use'],
  ...['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta', 'citations_delta'],
]);

/** `fetch` that leaves out of an event stream what Anthropic added to the format since: its clients are to ignore it. */
export function knownEventsOnly(fetch: Fetch): Fetch {
  return async (input, init) => {
    const reply = await fetch(input, init);
    const isStream = reply.headers.get('content-type')?.includes('event-stream') === true;
    if (!isStream || reply.body === null) return reply;
    const body = reply.body.pipeThrough(new TransformStream(new EventFilter()));
    return new Response(body, { status: reply.status, statusText: reply.statusText, headers: reply.headers });
  };
}

class EventFilter implements Transformer<Uint8Array, Uint8Array> {
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();
  /** What came of the event that is not whole yet, and how much of it has no end. */
  #rest = '';
  #searched = 0;
  /** Indexes of blocks that are left out. */
  readonly #unknownBlocks = new Set<unknown>();

  transform(chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): void {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const end = /\r?\n\r?\n/g;
    end.lastIndex = Math.max(0, this.#searched - 3);
    let from = 0;
    let passedEvents = '';
    for (let match = end.exec(this.#rest); match !== null; match = end.exec(this.#rest)) {
      const event = this.#rest.slice(from, end.lastIndex);
      if (this.#isKnown(event)) passedEvents += event;
      from = end.lastIndex;
    }
    this.#rest = this.#rest.slice(from);
    this.#searched = this.#rest.length;
    if (passedEvents !== '') controller.enqueue(this.#encoder.encode(passedEvents));
  }

  flush(controller: TransformStreamDefaultController<Uint8Array>): void {
    if (this.#rest !== '' && this.#isKnown(this.#rest)) controller.enqueue(this.#encoder.encode(this.#rest));
  }

  /** What is no JSON passes: the SDK says what is wrong with it. */
  #isKnown(event: string): boolean {
    const data = event.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []));
    let value: ReturnType<typeof membersOf>;
    try {
      value = membersOf(JSON.parse(data.join('\n')));
    } catch {
      return true;
    }
    const { type, index } = value;
    if (typeof type !== 'string' || !eventTypes.has(type)) return false;
    const part = readString(membersOf(value.content_block ?? (type === 'content_block_delta' ? value.delta : undefined)).type);
    if (type === 'content_block_start' && part !== undefined && !partTypes.has(part)) this.#unknownBlocks.add(index);
    if (type.startsWith('content_block') && this.#unknownBlocks.has(index)) return false;
    return part === undefined || partTypes.has(part);
  }
}
