import { expect } from 'vitest';
import type { SseFrame } from './client.ts';

// biome-ignore lint/suspicious/noExplicitAny: events of the wire, walked member by member.
export type WireEvent = any;

/** The events of a stream; its last frame must be the end of the format. */
export function eventsOf(frames: readonly SseFrame[]): readonly WireEvent[] {
  expect(frames.at(-1)).toEqual({ event: 'done', id: undefined, data: '[DONE]' });
  return frames.slice(0, -1).map(({ event, id, data }) => {
    const parsed = JSON.parse(data);
    expect(event).toBe(parsed.type);
    expect(id).toBeUndefined();
    return parsed;
  });
}

/** What every stream of the responses format obeys, however the run went. @returns the response of its last event. */
export function walk(events: readonly WireEvent[], firstNumber = 0): WireEvent {
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => firstNumber + index));
  if (firstNumber === 0) {
    expect(events[0]?.type).toBe('response.created');
    expect(events[1]?.type).toBe('response.in_progress');
    expect(events[0].response).toMatchObject({ status: 'in_progress', output: [], usage: null, error: null });
  }
  const state = new WalkState();
  for (const event of events) {
    expect(event.error, 'no top-level error in any event').toBeUndefined();
    state.take(event);
  }
  const last = events.at(-1);
  expect(['response.completed', 'response.failed', 'response.incomplete']).toContain(last.type);
  expect(state.open).toBeUndefined();
  if (firstNumber === 0) expect(last.response.output).toEqual(state.done);
  return last.response;
}

/** One item is open at a time; its deltas add up to what it says at its end. */
class WalkState {
  readonly done: WireEvent[] = [];
  open: { readonly item: WireEvent; readonly index: number; text: string; part: boolean } | undefined;
  private readonly ids = new Set<string>();
  private nextIndex: number | undefined;

  take(event: WireEvent): void {
    if (event.type === 'response.output_item.added') this.added(event);
    else if (event.type === 'response.output_item.done') this.finished(event);
    else if ('response' in event) expect(this.open, `${event.type} while an item is open`).toBeUndefined();
    else this.within(event);
  }

  private within(event: WireEvent): void {
    const { open } = this;
    if (open === undefined) throw new Error(`${event.type} without an open item`);
    expect([event.item_id, event.output_index], event.type).toEqual([open.item.id, open.index]);
    if (event.type.endsWith('_part.added')) open.part = true;
    if (event.type.endsWith('.delta')) {
      if (open.item.type === 'message' || open.item.type === 'reasoning') expect(open.part).toBe(true);
      open.text += event.delta;
    }
    if (event.type.endsWith('_text.done')) expect(event.text).toBe(open.text);
    if (event.type.endsWith('arguments.done')) expect(event.arguments).toBe(open.text);
    if (event.type.endsWith('_part.done')) expect(event.part.text).toBe(open.text);
  }

  private added({ item, output_index: index }: WireEvent): void {
    expect(this.open).toBeUndefined();
    expect(index).toBe(this.nextIndex ?? index);
    expect(item.status).toBe('in_progress');
    expect(item.id).toMatch(/^\w+$/);
    expect(this.ids.has(item.id)).toBe(false);
    if (item.type === 'message') expect(item.content).toEqual([]);
    if (item.type.endsWith('_call')) expect([item.arguments, typeof item.call_id]).toEqual(['', 'string']);
    this.ids.add(item.id);
    this.open = { item, index, text: '', part: false };
  }

  private finished({ item, output_index: index }: WireEvent): void {
    const { open } = this;
    if (open === undefined) throw new Error('done without an open item');
    expect([item.id, item.type, index]).toEqual([open.item.id, open.item.type, open.index]);
    expect(item.status).not.toBe('in_progress');
    if (item.type === 'message') {
      expect(item.content).toEqual([
        { type: 'output_text', text: open.text, annotations: expect.any(Array), logprobs: expect.any(Array) },
      ]);
    }
    if (item.type.endsWith('_call')) expect(item.arguments).toBe(open.text);
    if (item.type === 'reasoning') expect(item.summary).toEqual([{ type: 'summary_text', text: open.text }]);
    this.done.push(item);
    this.nextIndex = index + 1;
    this.open = undefined;
  }
}

/** Every member of a response object that the format asks for. */
export const responseMembers = [
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'error', 'incomplete_details', 'instructions'],
  ...['max_output_tokens', 'max_tool_calls', 'model', 'output', 'parallel_tool_calls', 'previous_response_id', 'conversation'],
  ...['reasoning', 'store', 'background', 'temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs'],
  ...['text', 'tool_choice', 'tools', 'truncation', 'service_tier', 'metadata', 'safety_identifier', 'prompt_cache_key'],
  ...['usage', 'selection_metadata'],
];
