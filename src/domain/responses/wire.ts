import type { Citation } from '../../entities/citation.ts';
import { errorCodes } from '../../entities/errors.ts';
import type { ResponseHead, WireObject } from '../../entities/response.ts';
import type { RunError, RunItem, RunSnapshot, SelectionMetadata, Usage } from '../../entities/run-event.ts';

/** Whether what Parley adds to the format is shown: some stock clients fail on events and items they do not know. */
export interface WireOptions {
  readonly hasExtensions: boolean;
}

/** A response as the wire has it, every member present. The one place that knows its shape. */
export function responseObject(head: ResponseHead, run: RunSnapshot, options: WireOptions): WireObject {
  const { echo, createdAt, conversationId } = head;
  const completedAt = run.completedAtMs === undefined ? null : Math.floor(run.completedAtMs / 1000);
  return {
    id: run.runId,
    object: 'response',
    created_at: createdAt,
    completed_at: completedAt,
    status: run.status,
    error: run.error === null ? null : errorOf(run.error),
    incomplete_details: run.incompleteReason === null ? null : { reason: run.incompleteReason },
    ...echo,
    output: shownItems(run.output, options).map(itemOf),
    conversation: conversationId === null ? null : { id: conversationId },
    usage: run.usage === null ? null : usageOf(run.usage),
    ...(options.hasExtensions ? { selection_metadata: run.selection === null ? null : selectionOf(run.selection) } : {}),
  };
}

/** Output items that are shown; what is left out leaves no gap in the places of the others. */
export function shownItems(items: readonly RunItem[], { hasExtensions }: WireOptions): readonly RunItem[] {
  return hasExtensions ? items : items.filter((item) => !isExtension(item));
}

export function isExtension(item: RunItem): boolean {
  return item.type === 'server_tool_call' || item.type === 'server_tool_call_output';
}

/** An output item when it is whole. */
export function itemOf(item: RunItem): WireObject {
  const { id, type, status } = item;
  switch (item.type) {
    case 'message':
      return { id, type, status, role: 'assistant', content: [textPart(item.text, item.citations)] };
    case 'reasoning':
      return { id, type, status, summary: [{ type: 'summary_text', text: item.text }] };
    case 'function_call':
    case 'server_tool_call':
      return { id, type, status, call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'server_tool_call_output':
      return { id, type, status, call_id: item.callId, output: item.output, error: item.error };
  }
}

/** The same item when it is announced: still without what its events will say. */
export function addedItemOf(item: RunItem): WireObject {
  const whole = { ...itemOf(item), status: 'in_progress' };
  switch (item.type) {
    case 'message':
      return { ...whole, content: [] };
    case 'reasoning':
      return { ...whole, summary: [] };
    case 'function_call':
    case 'server_tool_call':
      return { ...whole, arguments: '' };
    case 'server_tool_call_output':
      return whole;
  }
}

/** A text without `annotations` is refused by many clients. */
export function textPart(text: string, citations: readonly Citation[]): WireObject {
  return { type: 'output_text', text, annotations: citations.map(annotationOf), logprobs: [] };
}

export function annotationOf({ answerStart, answerEnd, url, name }: Citation): WireObject {
  return { type: 'url_citation', start_index: answerStart, end_index: answerEnd, url, title: name };
}

/** `type` and `param` too: some clients read the error of a failed response as they read an error reply. */
function errorOf({ code, message }: RunError): WireObject {
  return { code: code.toLowerCase(), message, type: errorCodes[code].type, param: null };
}

export function usageOf(usage: Usage): WireObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

function selectionOf({ provider, model, fallbackChain, latencyHints }: SelectionMetadata): WireObject {
  return {
    provider,
    model,
    fallback_chain: fallbackChain,
    latency_hints: { queue_ms: latencyHints.queueMs, first_token_ms: latencyHints.firstTokenMs },
  };
}
