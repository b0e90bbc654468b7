import { expect } from 'vitest';
import type { SseFrame } from '../client.ts';
import { SubagentWalk } from './subagent-walk.ts';

// biome-ignore lint/suspicious/noExplicitAny: events of the wire, walked member by member.
export type WireEvent = any;

/** The events of a stream; its last frame must be the format's end mark. */
export function eventsOf(frames: readonly SseFrame[]): readonly WireEvent[] {
  expect(frames.at(-1)).toEqual({ event: 'done', id: undefined, data: '[DONE]' });
  return frames.slice(0, -1).map(({ event, id, data }) => {
    const parsed = JSON.parse(data);
    expect(event).toBe(parsed.type);
    expect(id).toBeUndefined();
    return parsed;
  });
}

/** Rules for every stream of the responses format, whatever its run did. @returns the response of its last event. */
export function walk(events: readonly WireEvent[], firstNumber = 0): WireEvent {
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => firstNumber + index));
  if (firstNumber === 0) {
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
    expect(events[0].response).toMatchObject({ status: 'in_progress', output: [], usage: null, error: null });
  }
  const states = new WalkStates();
  const items = new WalkItems();
  for (const event of events) {
    expect(event.error, 'no top-level error in any event').toBeUndefined();
    if ('response' in event) {
      expect(items.open, `${event.type} while an item is open`).toBeUndefined();
      states.take(event);
      if (firstNumber === 0) expect(event.response.output, event.type).toEqual(items.done);
    } else items.take(event);
  }
  const last = events.at(-1);
  expect(ends, 'the last event').toHaveProperty([last.type]);
  const { status, usage } = last.response;
  // Null: the server died, and the usage is unknown.
  if (firstNumber === 0 && (usage !== null || status === 'completed')) {
    expect(usage.total_tokens).toBeGreaterThanOrEqual(items.subagents.tokens);
  }
  return last.response;
}

/** The events with which a run may stop, and its state then. */
const ends: Readonly<Record<string, readonly string[]>> = {
  'response.completed': ['completed'],
  'response.failed': ['failed'],
  'response.incomplete': ['incomplete', 'cancelled'],
};

/** One beginning and one end; pauses in between. */
class WalkStates {
  private last: WireEvent | undefined;

  take(event: WireEvent): void {
    const { response, type } = event;
    const before = this.last;
    this.last = event;
    expect(ends[type] ?? ['in_progress'], type).toContain(response.status);
    expect(response.error === null, type).toBe(type !== 'response.failed');
    expect(response.incomplete_details === null, type).toBe(response.status !== 'incomplete');
    if (before === undefined) return;
    for (const name of ['id', 'created_at', 'model', 'conversation']) expect(response[name]).toEqual(before.response[name]);
    expect(type).not.toBe('response.created');
    if (!(before.type in ends)) return;
    // After a pause the run continues or is cancelled; after any other end nothing follows.
    expect(before.response.incomplete_details, `${type} behind ${before.type}`).toEqual({ reason: 'paused' });
    if (type !== 'response.in_progress') expect(response.status).toBe('cancelled');
  }
}

/** Events within an item, by the kind of item. `…delta` and `…added` may occur any number of times. */
const parts: Readonly<Record<string, readonly string[]>> = {
  message: [
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.annotation.added',
    'response.output_text.done',
    'response.content_part.done',
  ],
  refusal: ['response.content_part.added', 'response.refusal.delta', 'response.refusal.done', 'response.content_part.done'],
  reasoning: [
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
  ],
  function_call: ['response.function_call_arguments.delta', 'response.function_call_arguments.done'],
  server_tool_call: [
    'response.server_tool_call.in_progress',
    'response.server_tool_call_arguments.delta',
    'response.server_tool_call_arguments.done',
    'response.subagent.started',
    'response.subagent.progress',
    'response.subagent.completed',
    'response.server_tool_call.completed',
    'response.server_tool_call.failed',
  ],
  server_tool_call_output: [],
  web_search_call: stepsOf('web_search_call', ['in_progress', 'searching', 'completed']),
  file_search_call: stepsOf('file_search_call', ['in_progress', 'searching', 'completed']),
  mcp_call: [
    ...stepsOf('mcp_call', ['in_progress', 'completed', 'failed']),
    'response.mcp_call_arguments.delta',
    'response.mcp_call_arguments.done',
  ],
  mcp_list_tools: stepsOf('mcp_list_tools', ['in_progress', 'completed', 'failed']),
  mcp_approval_request: [],
};

function stepsOf(item: string, steps: readonly string[]): readonly string[] {
  return steps.map((step) => `response.${item}.${step}`);
}

/** Items whose arguments come in events of their own. */
const calls: readonly string[] = ['function_call', 'server_tool_call', 'mcp_call'];
/** Items that the format gives no status. */
const withoutStatus: readonly string[] = ['mcp_list_tools', 'mcp_approval_request'];

interface OpenItem {
  readonly item: WireEvent;
  readonly index: number;
  readonly seen: Set<string>;
  readonly annotations: WireEvent[];
  /** The type of the item; for a message, the type of its part. */
  kind: string;
  text: string;
}

/** One item is open at a time; its deltas and annotations add up to its final content. */
class WalkItems {
  readonly done: WireEvent[] = [];
  readonly subagents = new SubagentWalk();
  open: OpenItem | undefined;
  private readonly ids = new Set<string>();
  private nextIndex: number | undefined;

  take(event: WireEvent): void {
    if (event.type === 'response.output_item.added') this.added(event);
    else if (event.type === 'response.output_item.done') this.finished(event);
    else this.within(event);
  }

  private within(event: WireEvent): void {
    const { open } = this;
    if (open === undefined) throw new Error(`${event.type} without an open item`);
    const { item, index, seen } = open;
    expect([event.item_id, event.output_index], event.type).toEqual([item.id, index]);
    if (event.type === 'response.content_part.added' && event.part.type === 'refusal') open.kind = 'refusal';
    expect(parts[open.kind], open.kind).toContain(event.type);
    this.subagents.take(event);
    if (event.type.endsWith('.delta')) {
      if (item.type === 'message') expect(seen).toContain('response.content_part.added');
      if (item.type === 'reasoning') expect(seen).toContain('response.reasoning_summary_part.added');
      open.text += event.delta;
    } else if (event.type === 'response.output_text.annotation.added') {
      expect(event.annotation_index).toBe(open.annotations.length);
      open.annotations.push(event.annotation);
    } else if (!event.type.startsWith('response.subagent.')) expect(seen, 'once for each item').not.toContain(event.type);
    if (event.type.endsWith('_text.done')) expect(event.text).toBe(open.text);
    if (event.type.endsWith('arguments.done')) expect(event.arguments).toBe(open.text);
    if (event.type === 'response.refusal.done') expect(event.refusal).toBe(open.text);
    if (event.type.endsWith('_part.done')) expect(event.part.text ?? event.part.refusal).toBe(open.text);
    if (event.part?.type === 'output_text') expect(event.part.annotations).toEqual(open.annotations);
    seen.add(event.type);
  }

  private added({ item, output_index: index }: WireEvent): void {
    expect(this.open).toBeUndefined();
    expect(index).toBe(this.nextIndex ?? index);
    expect(item.status).toBe(withoutStatus.includes(item.type) ? undefined : 'in_progress');
    expect(item.id).toMatch(/^\w+$/);
    expect(this.ids.has(item.id)).toBe(false);
    if (item.type === 'message') expect(item.content).toEqual([]);
    if (calls.includes(item.type)) expect(item.arguments).toBe('');
    if (calls.includes(item.type) && item.type !== 'mcp_call') expect(item.call_id).toEqual(expect.any(String));
    if (item.type === 'mcp_list_tools') expect(item.tools).toEqual([]);
    this.ids.add(item.id);
    this.open = { item, index, seen: new Set(), annotations: [], kind: item.type, text: '' };
  }

  private finished(event: WireEvent): void {
    const { item, output_index: index } = event;
    const { open } = this;
    this.subagents.take(event);
    if (open === undefined) throw new Error('done without an open item');
    expect([item.id, item.type, index]).toEqual([open.item.id, open.item.type, open.index]);
    expect(item.status).not.toBe('in_progress');
    // The closing events of an item come before its end, also when it is cut.
    const mustEnd = parts[open.kind]?.filter((type) => type.endsWith('.done')) ?? [];
    for (const type of mustEnd) expect(open.seen, `${type} of ${item.type}`).toContain(type);
    if (item.type === 'message') {
      const { text, annotations } = open;
      const refusal = { type: 'refusal', refusal: text };
      expect(item.content).toEqual([
        open.kind === 'refusal' ? refusal : { type: 'output_text', text, annotations, logprobs: [] },
      ]);
    }
    if (calls.includes(item.type)) expect(item.arguments).toBe(open.text);
    const end = endOf(item);
    if (end !== undefined) expect(open.seen, `the end of ${item.type}`).toContain(`response.${item.type}.${end}`);
    // A search tells each of its steps, in their order, also when it fails.
    if (item.type.endsWith('_search_call')) expect([...open.seen]).toEqual(parts[item.type]);
    if (item.type === 'reasoning') expect(item.summary).toEqual([{ type: 'summary_text', text: open.text }]);
    this.done.push(item);
    this.nextIndex = index + 1;
    this.open = undefined;
  }
}

/** The last step of a call or a listing; undefined for other items. */
function endOf({ type, status, error }: WireEvent): string | undefined {
  if (type === 'mcp_list_tools') return error === null ? 'completed' : 'failed';
  return type === 'server_tool_call' || type === 'mcp_call' ? status : undefined;
}

/** Every member of a response object that the format requires. */
export const responseMembers = [
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'error', 'incomplete_details', 'instructions'],
  ...['max_output_tokens', 'max_tool_calls', 'model', 'output', 'parallel_tool_calls', 'previous_response_id', 'conversation'],
  ...['reasoning', 'store', 'background', 'temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs'],
  ...['text', 'tool_choice', 'tools', 'truncation', 'service_tier', 'metadata', 'safety_identifier', 'prompt_cache_key'],
  ...['usage', 'selection_metadata'],
];
