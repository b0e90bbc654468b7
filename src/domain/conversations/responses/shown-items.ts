import { type ToolOutputStatus, toolOutputStatuses } from '../../../entities/conversations/chats/chat.ts';
import type { CallResult, ItemStatus, RunItem, ServerCallItem } from '../../../entities/conversations/runs/event.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { CallForm, ListedTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject, membersOf, readElements, readString } from '../../../lib/json/json.ts';

/** An item that a request gave, or that stands in a conversation. */
export type GivenItem =
  | {
      readonly type: 'given_message';
      readonly id: string;
      readonly status: ItemStatus;
      readonly role: ItemRole;
      /** As the responses format has them. */
      readonly parts: readonly WireObject[];
      readonly phase: MessagePhase | null;
    }
  | {
      readonly type: 'function_output';
      readonly id: string;
      readonly status: ItemStatus | 'failed';
      readonly callId: string;
      readonly outcome: ToolOutputStatus;
      readonly parts: readonly WireObject[];
    }
  | {
      readonly type: 'approval_answer';
      readonly id: string;
      readonly status: ItemStatus;
      readonly callId: string;
      readonly isApproved: boolean;
      readonly reason: string | null;
    }
  | { readonly type: 'compaction'; readonly id: string; readonly status: ItemStatus; readonly content: string }
  /** An item of a tool that is kept as it was given. */
  | { readonly type: 'kept'; readonly id: string; readonly status: ItemStatus | 'failed'; readonly item: WireObject };

export const itemStatuses = ['in_progress', 'completed', 'incomplete', 'failed'] as const satisfies readonly (
  | ItemStatus
  | 'failed'
)[];
export const itemRoles = ['user', 'assistant', 'system', 'developer'] as const;
export type ItemRole = (typeof itemRoles)[number];
export const messagePhases = ['commentary', 'final_answer'] as const;
export type MessagePhase = (typeof messagePhases)[number];

/** An item as GraphQL shows it. */
export type ShownItem = RunItem | GivenItem;

/** A stored item of the responses format as GraphQL shows it. What has no type of its own there is shown whole. */
export function shownItem(item: WireObject): ShownItem {
  const id = String(item.id);
  const status = readStatus(item.status);
  switch (item.type) {
    case 'message':
      return {
        ...{ type: 'given_message', id, status: ofItem(status), role: among(itemRoles, item.role) ?? 'user' },
        ...{ parts: readParts(item.content), phase: among(messagePhases, item.phase) ?? null },
      };
    case 'function_call':
      return { type: 'function_call', ...readCall(item), ...(item.approval === true ? { approval: true } : {}) };
    case 'mcp_approval_request': {
      const { name, arguments: args } = readCall(item);
      const form = { type: 'mcp', serverLabel: readText(item.server_label), tool: name } as const;
      return { type: 'function_call', id, status: ofItem(status), callId: id, name, arguments: args, approval: true, form };
    }
    case 'mcp_approval_response':
      return {
        ...{ type: 'approval_answer', id, status: ofItem(status), callId: readText(item.approval_request_id) },
        ...{ isApproved: item.approve === true, reason: readString(item.reason) ?? null },
      };
    case 'function_call_output':
      return {
        ...{ type: 'function_output', id, callId: readText(item.call_id), parts: readParts(item.output) },
        ...readOutcome(item.status),
      };
    case 'reasoning':
      return { type: 'reasoning', id, status: ofItem(status), text: joinThoughts(item) };
    case 'compaction':
      return { type: 'compaction', id, status: ofItem(status), content: readText(item.encrypted_content) };
    case 'server_tool_call':
      return { type: 'server_tool_call', ...readCall(item), status };
    case 'server_tool_call_output': {
      const outcome = status === 'failed' ? 'failed' : 'completed';
      const result = { output: saidIn(readParts(item.output)), error: readError(item.error) };
      return { type: 'server_tool_call_output', id, status: outcome, callId: readText(item.call_id), ...result };
    }
    case 'mcp_list_tools':
      return {
        ...{ type: 'mcp_list_tools', id, status: status === 'failed' ? 'failed' : 'completed' },
        ...{ serverLabel: readText(item.server_label), tools: readTools(item.tools), error: readString(item.error) ?? null },
      };
    default:
      return hostedCall(item) ?? { type: 'kept', id, status, item };
  }
}

/** The same with the stored item, which REST shows. */
export function withWire(wire: WireObject): ShownItem & { readonly wire: WireObject } {
  return { ...shownItem(wire), wire };
}

/** A call of a hosted tool that GraphQL has a type for. */
function hostedCall(item: WireObject): ServerCallItem | undefined {
  const form = findForm(item);
  if (form === undefined) return undefined;
  const id = String(item.id);
  const name = form.type === 'mcp' ? form.tool : form.type;
  const error = readError(item.error);
  const result: CallResult = { output: readText(item.output), error };
  return {
    ...{
      type: 'server_tool_call',
      id,
      status: readStatus(item.status),
      callId: id,
      name,
      arguments: readText(item.arguments),
      form,
    },
    ...(item.output === undefined && error === null ? {} : { result }),
  };
}

function findForm(item: WireObject): CallForm | undefined {
  if (item.type === 'mcp_call') return { type: 'mcp', serverLabel: readText(item.server_label), tool: readText(item.name) };
  if (item.type === 'file_search_call') {
    const queries = readElements(item.queries).filter((query) => typeof query === 'string');
    const results = readElements(item.results).map(membersOf).map(fileResult);
    return { type: 'file_search', queries, results };
  }
  if (item.type !== 'web_search_call') return undefined;
  const action = membersOf(item.action);
  if (action.type === 'open_page') return { type: 'web_search', action: { type: 'open_page', url: readText(action.url) } };
  if (action.type !== 'search') return undefined;
  const sources = readElements(action.sources).map((source) => ({ url: readText(membersOf(source).url), title: '' }));
  return { type: 'web_search', action: { type: 'search', query: readText(action.query), sources } };
}

function fileResult({ file_id: fileId, filename, score, text }: WireObject) {
  const fileMatch = { fileId: readText(fileId), filename: readText(filename), text: readText(text) };
  return { ...fileMatch, score: typeof score === 'number' ? score : 0 };
}

function readCall({ id, status, call_id: callId, name, arguments: args }: WireObject) {
  const call = { callId: readText(callId), name: readText(name), arguments: readText(args) };
  return { id: String(id), status: ofItem(readStatus(status)), ...call };
}

function readTools(tools: unknown): readonly ListedTool[] {
  return readElements(tools)
    .map(membersOf)
    .map(({ name, description, input_schema: schema, annotations }) => ({
      name: readText(name),
      description: readString(description) ?? null,
      inputSchema: isObject(schema) ? schema : {},
      annotations: isObject(annotations) ? annotations : null,
    }));
}

/** A text is one part. */
function readParts(content: unknown): readonly WireObject[] {
  return typeof content === 'string' ? [{ type: 'input_text', text: content }] : readElements(content).filter(isObject);
}

/** The texts of content parts, without those that only the model is to see. */
export function saidIn(parts: readonly WireObject[]): string {
  const visibleParts = parts.filter(({ invisible }) => invisible !== true);
  return visibleParts.map(({ text, refusal }) => readString(text) ?? readText(refusal)).join('');
}

function joinThoughts({ summary, content }: WireObject): string {
  const parts = [...readElements(summary), ...readElements(content)].map(membersOf);
  return parts.flatMap(({ text }) => readString(text) ?? []).join('\n');
}

function readOutcome(input: unknown): { readonly status: ItemStatus | 'failed'; readonly outcome: ToolOutputStatus } {
  const outcome = among(toolOutputStatuses, input) ?? 'success';
  if (outcome !== 'success') return { outcome, status: outcome === 'error' ? 'failed' : 'incomplete' };
  return { outcome, status: input === 'success' ? 'completed' : readStatus(input) };
}

function readError(error: unknown): CallResult['error'] {
  if (typeof error === 'string') return { code: 'tool_failed', message: error };
  if (!isObject(error)) return null;
  return { code: readString(error.code) ?? 'tool_failed', message: readText(error.message) };
}

function readStatus(status: unknown): ItemStatus | 'failed' {
  return among(itemStatuses, status) ?? 'completed';
}

function ofItem(status: ItemStatus | 'failed'): ItemStatus {
  return status === 'failed' ? 'incomplete' : status;
}

function among<const Value extends string>(values: readonly Value[], input: unknown): Value | undefined {
  return values.find((value) => value === input);
}

function readText(value: unknown): string {
  return readString(value) ?? '';
}
