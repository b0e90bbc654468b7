import { type ErrorCode, errorCodes, type PublicError } from '../../entities/errors.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import type {
  EndedSubagent,
  RunError,
  RunItem,
  RunSnapshot,
  SelectionMetadata,
  Subagent,
  TokenLogprob,
  Usage,
} from '../../entities/runs/event.ts';
import type { ResponseHead, WireObject } from '../../entities/runs/response.ts';

/** Whether additions of Parley to the format are shown: some stock clients fail on unknown events and items. */
export interface WireOptions {
  readonly hasExtensions: boolean;
}

/** A response in wire format with every member. The only place that knows its shape. */
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
    service_tier: run.serviceTier ?? 'default',
    output: shownItems(run.output, options).map(itemOf),
    conversation: conversationId === null ? null : { id: conversationId },
    usage: run.usage === null ? null : usageOf(run.usage),
    ...(options.hasExtensions && head.warnings !== undefined ? { warnings: head.warnings } : {}),
    ...(options.hasExtensions ? { selection_metadata: run.selection === null ? null : selectionOf(run.selection) } : {}),
  };
}

/** The visible output items; hidden ones leave no gap in the indexes. */
export function shownItems(items: readonly RunItem[], { hasExtensions }: WireOptions): readonly RunItem[] {
  return hasExtensions ? items : items.filter((item) => !isExtension(item));
}

export function isExtension(item: RunItem): boolean {
  return item.type === 'server_tool_call' || item.type === 'server_tool_call_output';
}

/** A complete output item. */
export function itemOf(item: RunItem): WireObject {
  const { id, type, status } = item;
  switch (item.type) {
    case 'message':
      return { id, type, status, role: 'assistant', content: [messagePart(item)] };
    case 'reasoning':
      return { id, type, status, summary: [{ type: 'summary_text', text: item.text }] };
    case 'function_call':
    case 'server_tool_call':
      return { id, type, status, call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'server_tool_call_output':
      return { id, type, status, call_id: item.callId, output: item.output, error: item.error };
  }
}

/** The item in its first event, without the text of later events. */
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

function messagePart(item: Extract<RunItem, { readonly type: 'message' }>): WireObject {
  return item.isRefusal === true ? refusalPart(item.text) : textPart(item.text, item.citations, item.logprobs);
}

export function refusalPart(text: string): WireObject {
  return { type: 'refusal', refusal: text };
}

/** Many clients refuse a text without `annotations`. */
export function textPart(text: string, citations: readonly Citation[], logprobs: readonly TokenLogprob[] = []): WireObject {
  return { type: 'output_text', text, annotations: citations.map(annotationOf), logprobs };
}

export function annotationOf({ answerStart, answerEnd, url, name }: Citation): WireObject {
  return { type: 'url_citation', start_index: answerStart, end_index: answerEnd, url, title: name };
}

/** With `type` and `param`: some clients read the error of a failed response like an error reply. */
function errorOf({ code, message }: RunError): WireObject {
  return { code: code.toLowerCase(), message, type: errorKindOf(code).type, param: null };
}

/** A failure in the responses format, which has five error types. `code` is the same on every API. */
export function responseError(shown: PublicError): PublicError {
  return { ...shown, ...errorKindOf(shown.code) };
}

const modelCodes: readonly ErrorCode[] = ['MODEL_ERROR', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'];

function errorKindOf(code: ErrorCode): Pick<PublicError, 'type' | 'status'> {
  const { status } = errorCodes[code];
  // The responses format has no type for a failing upstream: for its callers, the model failed.
  if (modelCodes.includes(code)) return { status: 500, type: 'model_error' };
  if (status === 404) return { status, type: 'not_found' };
  if (status === 429) return { status, type: 'too_many_requests' };
  return { status, type: status < 500 ? 'invalid_request' : 'server_error' };
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

/** A subagent in its first and last event: only the last has its result. */
export function subagentOf(subagent: Subagent | EndedSubagent): WireObject {
  const { id, name, agentId, parentId, task, status, depth } = subagent;
  const shown = { id, name, agent_id: agentId, parent_id: parentId, task, status, depth };
  if (!('summary' in subagent)) return shown;
  const { summary, usage } = subagent;
  return { ...shown, summary, usage: usage === null ? null : usageOf(usage) };
}

function selectionOf({ provider, model, fallbackChain, latencyHints }: SelectionMetadata): WireObject {
  return {
    provider,
    model,
    fallback_chain: fallbackChain,
    latency_hints: { queue_ms: latencyHints.queueMs, first_token_ms: latencyHints.firstTokenMs },
  };
}
