import type { FlowStepRecord } from '../../entities/agents/flow.ts';
import { type ErrorCode, errorCodes, type PublicError } from '../../entities/errors.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import {
  type EndedSubagent,
  publicOutput,
  type RunError,
  type RunItem,
  type RunSnapshot,
  type SelectionMetadata,
  type Subagent,
  type TokenLogprob,
  type Usage,
} from '../../entities/runs/event.ts';
import type { ResponseHead, WireObject } from '../../entities/runs/response.ts';
import {
  type CallForm,
  type FileSearchResult,
  type ListedTool,
  type OutputFile,
  ownServerLabel,
} from '../../entities/runs/tool.ts';

/** Whether additions of Parley to the format are shown: some stock clients fail on unknown events and items. */
export interface WireOptions {
  readonly hasExtensions: boolean;
}

/** A response in wire format with every member. The only place that knows its shape. */
export function responseObject(head: ResponseHead, run: RunSnapshot, options: WireOptions): WireObject {
  const { echo, createdAt, conversationId } = head;
  const warnings = [...(head.warnings ?? []), ...(run.warnings ?? [])];
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
    output: publicItems(run.output, options).map((item) => itemOf(item, head.includes)),
    conversation: conversationId === null ? null : { id: conversationId },
    usage: run.usage === null ? null : usageOf(run.usage, options),
    ...(options.hasExtensions && run.flowSteps !== undefined ? { flow_steps: run.flowSteps.map(flowStepOf) } : {}),
    ...(options.hasExtensions && warnings.length > 0 ? { warnings } : {}),
    ...(options.hasExtensions ? { selection_metadata: run.selection === null ? null : selectionOf(run.selection) } : {}),
  };
}

/** The visible output items; hidden ones leave no gap in the indexes. */
export function publicItems(items: readonly RunItem[], { hasExtensions }: WireOptions): readonly RunItem[] {
  return hasExtensions ? items : items.filter((item) => !isExtension(item));
}

export function isExtension(item: RunItem): boolean {
  return (item.type === 'server_tool_call' && item.form === undefined) || item.type === 'server_tool_call_output';
}

/** A complete output item. @param includes  the optional members that it shows, as values of `include`. */
export function itemOf(item: RunItem, includes: readonly string[] = []): WireObject {
  const { id, type, status } = item;
  switch (item.type) {
    case 'message':
      return { id, type, status, role: 'assistant', content: [messagePart(item)] };
    case 'reasoning':
      return { id, type, status, summary: [{ type: 'summary_text', text: item.text }] };
    case 'function_call':
      return functionCallOf(item);
    case 'server_tool_call':
      if (item.form !== undefined) return formedCall(item, item.form, includes);
      return { id, type, status, call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'server_tool_call_output':
      return { id, type, status, call_id: item.callId, output: outputOf(item), error: item.error };
    case 'mcp_list_tools':
      return { id, type, server_label: item.serverLabel, tools: item.tools.map(listedToolOf), error: item.error };
  }
}

/** The item in its first event, without the text of later events. */
export function addedItemOf(item: RunItem, includes: readonly string[] = []): WireObject {
  const whole = { ...itemOf(item, includes), status: 'in_progress' };
  switch (item.type) {
    case 'message':
      return { ...whole, content: [] };
    case 'reasoning':
      return { ...whole, summary: [] };
    case 'function_call':
      return isApprovalRequest(item) ? itemOf(item) : { ...whole, arguments: '' };
    case 'server_tool_call':
      return 'arguments' in whole ? { ...whole, arguments: '' } : whole;
    case 'mcp_list_tools':
      return { ...itemOf(item), tools: [] };
    case 'server_tool_call_output':
      return whole;
  }
}

type Item<Type extends RunItem['type']> = Extract<RunItem, { readonly type: Type }>;

/** A call that waits for approval: the format has a request of its own for it. */
export function isApprovalRequest(item: RunItem): boolean {
  return item.type === 'function_call' && item.approval === true;
}

function functionCallOf(item: Item<'function_call'>): WireObject {
  const { id, type, status, callId, name, arguments: args, approval, form } = item;
  if (approval !== true) return { id, type, status, call_id: callId, name, arguments: args };
  const asked =
    form?.type === 'mcp' ? { server_label: form.serverLabel, name: form.tool } : { server_label: ownServerLabel, name };
  return { id, type: 'mcp_approval_request', ...asked, arguments: args };
}

/** A call as the item that the format has for it. */
function formedCall(
  { id, status, arguments: args, result, isApproved, callId }: Item<'server_tool_call'>,
  form: CallForm,
  includes: readonly string[],
): WireObject {
  switch (form.type) {
    case 'web_search':
      return {
        id,
        type: 'web_search_call',
        status,
        action: webActionOf(form.action, includes.includes('web_search_call.action.sources')),
      };
    case 'file_search':
      return {
        ...{ id, type: 'file_search_call', status, queries: form.queries },
        results:
          includes.includes('file_search_call.results') && result?.isHidden !== true ? form.results.map(fileResultOf) : null,
      };
    case 'mcp': {
      const shown = {
        name: form.tool,
        arguments: args,
        output: result === undefined ? null : publicOutput(result),
        error: result?.error?.message ?? null,
      };
      const made = result?.files === undefined ? {} : { files: result.files.map(filePartOf) };
      return {
        ...{ id, type: 'mcp_call', status, server_label: form.serverLabel },
        // An approved call has the id of the request that it was approved by.
        ...{ approval_request_id: isApproved === true ? callId : null, ...shown, ...made },
      };
    }
  }
}

type WebAction = Extract<CallForm, { readonly type: 'web_search' }>['action'];

function webActionOf(action: WebAction, hasSources: boolean): WireObject {
  if (action.type === 'open_page') return { type: action.type, url: action.url };
  const { type, query, sources } = action;
  return {
    type,
    query,
    queries: [query],
    ...(sources === undefined || !hasSources ? {} : { sources: sources.map(({ url }) => ({ type: 'url', url })) }),
  };
}

function fileResultOf({ fileId, filename, score, text }: FileSearchResult): WireObject {
  return { file_id: fileId, filename, score, text, attributes: {} };
}

function listedToolOf({ name, description, inputSchema, annotations }: ListedTool): WireObject {
  return { name, description, input_schema: inputSchema, annotations };
}

/** The text; with the images that the call made, an array of parts. */
function outputOf(item: Item<'server_tool_call_output'>): unknown {
  const { files = [] } = item;
  const output = publicOutput(item);
  if (files.length === 0) return output;
  const text = output === '' ? [] : [textPart(output, [])];
  return [...text, ...files.map(filePartOf)];
}

function filePartOf({ fileId, filename, mimeType, sizeBytes, url }: OutputFile): WireObject {
  const about = { ...(fileId === null ? {} : { file_id: fileId }), mime_type: mimeType, filename, size_bytes: sizeBytes };
  return mimeType.startsWith('image/')
    ? { type: 'output_image', image_url: url, ...about }
    : { type: 'output_file', file_url: url, ...about };
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

/** What a search found in an uploaded file is cited by the file; everything else by its address. */
export function annotationOf({ answerStart, answerEnd, url, name, fileId }: Citation): WireObject {
  if (fileId !== undefined) return { type: 'file_citation', file_id: fileId, filename: name, index: answerStart };
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

export function usageOf(usage: Usage, { hasExtensions }: WireOptions): WireObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
    ...(hasExtensions && usage.isEstimated === true ? { estimated: true } : {}),
  };
}

/** A subagent in its first and last event: only the last has its result. */
export function subagentOf(subagent: Subagent | EndedSubagent): WireObject {
  const { id, name, agentId, parentId, task, status, depth } = subagent;
  const shown = { id, name, agent_id: agentId, parent_id: parentId, task, status, depth };
  if (!('summary' in subagent)) return shown;
  const { summary, usage } = subagent;
  return { ...shown, summary, usage: usage === null ? null : usageOf(usage, { hasExtensions: true }) };
}

/** A finished step of a flow. */
export function flowStepOf({ stepId, type, status, input, output, durationMs }: FlowStepRecord): WireObject {
  return { step_id: stepId, type, status, input, output, duration_ms: durationMs };
}

/** Which model answered, in the form of the wire. */
export function selectionOf({ provider, model, fallbackChain, latencyHints }: SelectionMetadata): WireObject {
  return {
    provider,
    model,
    fallback_chain: fallbackChain,
    latency_hints: { queue_ms: latencyHints.queueMs, first_token_ms: latencyHints.firstTokenMs },
  };
}
