import { findFailure } from '../../entities/conversations/runs/answer.ts';
import type { RunEvent, RunItem, RunSnapshot } from '../../entities/conversations/runs/event.ts';
import { publicError } from '../../entities/ground/errors.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import type { EncoderContext, StreamEncoder, StreamEncoderFactory, Variables } from '../ground/encoder.ts';
import { anyOf, component, constant, integer, named, object, reference, type Sent, text } from '../ground/schema.ts';
import { writtenThought } from '../ground/thoughts.ts';
import { messagesError, toErrorBody } from './errors.ts';
import {
  endMembers,
  messageId,
  messagesUsage,
  modelName,
  stop,
  toCitation,
  toEndMembers,
  toMessagesUsage,
  toSearch,
  toStop,
  toThought,
} from './reply.ts';

/** The stream of the Messages format: the schema of its events, and their encoder from the events of a run. */

const index = integer('Which block, from 0.');
const started = component('MessagesStart', 'The message begins, without content.', {
  type: constant('message_start'),
  message: reference('MessagesReply', 'The message so far: no content, no reason to stop, no tokens.'),
});
const blockStart = component('MessagesBlockStart', 'A block begins.', {
  type: constant('content_block_start'),
  index,
  content_block: reference('MessagesContentBlock', 'The block, still empty where its content follows in pieces.'),
});
const blockDelta = component('MessagesBlockDelta', 'A piece of a block.', {
  type: constant('content_block_delta'),
  index,
  delta: object('What is added.', {
    type: text('`text_delta`, `thinking_delta`, `signature_delta`, `input_json_delta` or `citations_delta`.'),
    text: text('Of a text.').optional(),
    thinking: text('Of a thought.').optional(),
    signature: text('Of a thought.').optional(),
    partial_json: text('Of the arguments of a call.').optional(),
    citation: reference('MessagesSearchResultCitation', 'What the text of the block rests on.').optional(),
  }),
});
const blockStop = component('MessagesBlockStop', 'A block is whole.', { type: constant('content_block_stop'), index });
const messageDelta = component('MessagesDelta', 'Why the message ended, and all its tokens.', {
  type: constant('message_delta'),
  delta: object('The end.', stop),
  usage: messagesUsage,
  ...endMembers,
});
const messageStop = component('MessagesStop', 'The message is whole.', { type: constant('message_stop') });
const ping = component('MessagesPing', 'Tells nothing.', { type: constant('ping') });
named(
  'MessagesEvent',
  anyOf('The `data` of an event, whose name is its `type`. A failure ends the stream with `error`.', [
    started,
    ping,
    blockStart,
    blockDelta,
    blockStop,
    messageDelta,
    messageStop,
    reference('MessagesError'),
  ]),
);

const pingFrame = frame({ type: 'ping' } satisfies Sent<typeof ping>);
const stopFrame = frame({ type: 'message_stop' } satisfies Sent<typeof messageStop>);
/** All of `message_start` that is the same in each stream. Counts of tokens come at the end alone: clients add up what both ends say. */
const unfinished = {
  ...{ content: [], stop_reason: null, stop_sequence: null, stop_details: null, container: null },
  usage: toMessagesUsage(null),
};
const startTail = `${JSON.stringify(unfinished).slice(1)}}\n\n`;
const textBlockTail = ',"content_block":{"type":"text","text":"","citations":null}}\n\n';
const deltaHead = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';

/** Events of the Messages format. Text is inserted as the JSON literal in which it came. */
export const messagesEncoder: StreamEncoderFactory = (variables, context) => new MessagesEncoder(variables, context);

type OpenBlock = 'text' | 'thinking' | 'tool_use';

class MessagesEncoder implements StreamEncoder {
  readonly #variables: Variables;
  readonly #context: EncoderContext;
  readonly #hidesThoughts: boolean;
  #next = 0;
  #open: OpenBlock | undefined;
  /** The open text has a citation: text behind it is a block of its own. */
  #isCited = false;
  /** Up to a piece of the open text. */
  #textHead = '';
  #warnings: readonly Warning[] = [];
  /** The end of the stream reports why the run was cancelled: a stream has one error at most. */
  #cancelled = '';
  #isOver = false;

  constructor(variables: Variables, context: EncoderContext) {
    this.#variables = variables;
    this.#context = context;
    this.#hidesThoughts = variables.hidesThoughts === true;
  }

  encode(events: readonly RunEvent[]): string {
    let writtenText = '';
    for (const event of events) {
      if (event.type === 'response.output_text.delta' && this.#open === 'text' && !this.#isCited) {
        writtenText += `${this.#textHead}${event.json}}}\n\n`;
      } else writtenText += this.#other(event);
    }
    return writtenText;
  }

  end(): string {
    return this.#cancelled;
  }

  fail(error: unknown): string {
    return this.#isOver ? '' : this.#error(error);
  }

  #other(event: RunEvent): string {
    switch (event.type) {
      case 'response.created':
        this.#warnings = event.run.warnings ?? [];
        return this.#start(event.run.runId);
      case 'response.output_text.delta':
        return `${this.#begin('text')}${this.#textHead}${event.json}}}\n\n`;
      case 'response.output_text.annotation.added':
        this.#isCited = true;
        return this.#delta(`{"type":"citations_delta","citation":${JSON.stringify(toCitation(event.citation))}}`);
      case 'response.reasoning_text.delta':
        if (this.#hidesThoughts) return this.#open === 'thinking' ? '' : this.#begin('thinking');
        return (
          (this.#open === 'thinking' ? '' : this.#begin('thinking')) +
          this.#delta(`{"type":"thinking_delta","thinking":${event.json}}`)
        );
      case 'response.output_item.added':
        return event.item.type === 'function_call' ? this.#call(event.item) : '';
      case 'response.function_call_arguments.delta':
        return this.#delta(`{"type":"input_json_delta","partial_json":${event.json}}`);
      case 'response.output_item.done':
        return this.#done(event.item);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#last(event.run);
      default:
        return '';
    }
  }

  #start(runId: string): string {
    const id = JSON.stringify(messageId(runId));
    const model = JSON.stringify(modelName(this.#variables));
    const head = `event: message_start\ndata: {"type":"message_start","message":{"id":${id},"type":"message","role":"assistant"`;
    return `${head},"model":${model},${startTail}${pingFrame}`;
  }

  #begin(kind: 'text' | 'thinking'): string {
    const closing = this.#close();
    this.#open = kind;
    this.#textHead = `${deltaHead}${this.#next},"delta":{"type":"text_delta","text":`;
    if (kind === 'thinking') return closing + this.#blockStart({ type: kind, thinking: '', signature: '' });
    return `${closing}event: content_block_start\ndata: {"type":"content_block_start","index":${this.#next}${textBlockTail}`;
  }

  #call({ callId: id, name }: Extract<RunItem, { readonly type: 'function_call' }>): string {
    const closing = this.#close();
    this.#open = 'tool_use';
    return closing + this.#blockStart({ type: 'tool_use', id, name, input: {} });
  }

  #done(item: RunItem): string {
    if (item.type === 'reasoning') return this.#thought(item);
    if (item.type === 'server_tool_call') {
      const blocks = toSearch(item);
      return blocks === undefined ? '' : this.#close() + blocks.map((block) => this.#whole(block)).join('');
    }
    return item.type === 'message' || item.type === 'function_call' ? this.#close() : '';
  }

  #thought(item: Extract<RunItem, { readonly type: 'reasoning' }>): string {
    if (this.#open !== 'thinking') return this.#close() + this.#whole(toThought(item, this.#hidesThoughts));
    const signature = writtenThought({ text: this.#hidesThoughts ? item.text : '', ...item.origin });
    return this.#delta(JSON.stringify({ type: 'signature_delta', signature })) + this.#close();
  }

  /** A block that comes in one piece. */
  #whole(block: object): string {
    const written = this.#blockStart(block);
    this.#open = 'text';
    return written + this.#close();
  }

  #blockStart(block: object): string {
    return frame({ type: 'content_block_start', index: this.#next, content_block: block });
  }

  #delta(json: string): string {
    return this.#open === undefined ? '' : `${deltaHead}${this.#next},"delta":${json}}\n\n`;
  }

  #close(): string {
    if (this.#open === undefined) return '';
    this.#open = undefined;
    this.#isCited = false;
    const closing = frame({ type: 'content_block_stop', index: this.#next } satisfies Sent<typeof blockStop>);
    this.#next += 1;
    return closing;
  }

  #last(run: RunSnapshot): string {
    const failure = findFailure(run);
    if (failure !== undefined) {
      const errorFrame = this.#error(failure);
      if (run.status !== 'cancelled') return errorFrame;
      this.#cancelled = errorFrame;
      return '';
    }
    const warnings = [...this.#warnings, ...(run.warnings ?? [])];
    const delta: Sent<typeof messageDelta> = {
      type: 'message_delta',
      delta: toStop(run),
      usage: toMessagesUsage(run.usage),
      ...toEndMembers({ ...run, warnings }, this.#context),
    };
    this.#isOver = true;
    return this.#close() + frame(delta) + stopFrame;
  }

  #error(error: unknown): string {
    const { error: failure } = toErrorBody(messagesError(publicError(error)), null);
    return frame({ type: 'error', error: failure });
  }
}

function frame<Event extends { readonly type: string }>(event: Event): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
