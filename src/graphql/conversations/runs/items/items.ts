import {
  type GivenItem,
  itemRoles,
  itemStatuses,
  messagePhases,
  type ShownItem,
  saidIn,
} from '../../../../domain/conversations/responses/shown-items.ts';
import {
  type CallResult,
  publicForm,
  publicOutput,
  type RunItem,
  type TokenLogprob,
} from '../../../../entities/conversations/runs/event.ts';
import type { WireObject } from '../../../../entities/conversations/runs/response.ts';
import type { CallForm, FileSearchResult, WebSource } from '../../../../entities/conversations/runs/tool.ts';
import { McpListedToolType } from '../../../agents/tools/mcp-listed-tool.ts';
import { type BuilderTypes, builder } from '../../../ground/builder/builder.ts';
import { createEnum, ofFormat } from '../../../ground/types/enums.ts';
import { CitationType, ToolOutputStatusType } from '../../chats/messages.ts';
import { OutputFileType } from '../parts.ts';
import { ItemPartType } from './parts.ts';

/** The items of a run's output, of a request, and of a conversation: one type each, by which a front end chooses what it shows. */

type ItemOf<Type extends RunItem['type']> = Extract<RunItem, { readonly type: Type }>;
type GivenOf<Type extends GivenItem['type']> = Extract<GivenItem, { readonly type: Type }>;
type FormOf<Type extends CallForm['type']> = Extract<CallForm, { readonly type: Type }>;
type CallOf<Type extends CallForm['type']> = ItemOf<'server_tool_call'> & { readonly form: FormOf<Type> };
type ItemFields<T> = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, T>;

const access = { scope: 'CHATS:READ' } as const;

const ItemStatusType = createEnum('RunItemStatus', 'The status of an item.', itemStatuses, {
  in_progress: 'It is not whole yet.',
  completed: 'It is whole.',
  incomplete: 'It was cut.',
  failed: 'The call failed.',
});

export const RunItemType = builder.interfaceRef<ShownItem>('RunItem').implement({
  access,
  description:
    'A part of the output of a run, of its input, or of a conversation: a message, thinking, a call, what a call gave. Each kind is a type of its own.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The same from its first event to its last.' }),
    status: t.expose('status', { type: ItemStatusType, description: 'Its status.' }),
  }),
  resolveType: findTypeName,
});

function findTypeName(item: ShownItem): string {
  if (item.type === 'server_tool_call') return item.form === undefined ? 'ToolCallItem' : callTypeNames[item.form.type];
  if (item.type === 'function_call') return item.approval === true ? 'ApprovalItem' : 'FunctionCallItem';
  return typeNames[item.type];
}

const callTypeNames = { web_search: 'WebSearchItem', file_search: 'FileSearchItem', mcp: 'McpCallItem' } as const;
const typeNames = {
  message: 'MessageItem',
  reasoning: 'ReasoningItem',
  server_tool_call_output: 'ToolOutputItem',
  mcp_list_tools: 'McpToolsItem',
  given_message: 'MessageItem',
  function_output: 'FunctionOutputItem',
  approval_answer: 'ApprovalAnswerItem',
  compaction: 'CompactionItem',
  kept: 'KeptItem',
} as const;

/** A call, whoever makes it. */
type CallItem = ItemOf<'server_tool_call' | 'function_call'>;

export const CallItemType = builder.interfaceRef<CallItem>('CallItem').implement({
  access,
  description: 'A call of a tool, by the service or by the caller.',
  interfaces: [RunItemType],
  fields: (t) => ({
    callId: t.exposeString('callId', { description: 'The id that the output of the call refers to.' }),
    name: t.exposeString('name', { description: 'The function that is called.' }),
    arguments: t.exposeString('arguments', {
      description: 'Its arguments as JSON text, as the model wrote them; empty until they are whole.',
    }),
  }),
  resolveType: findTypeName,
});

const RunCallErrorType = builder.objectRef<NonNullable<CallResult['error']>>('RunCallError').implement({
  access,
  description: 'Why a call of a tool of the service failed. The model read it.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs.' }),
    message: t.exposeString('message', { description: 'For a person to read.' }),
  }),
});

const TokenType = builder.objectRef<Omit<TokenLogprob, 'top_logprobs'>>('LikelyToken').implement({
  access,
  description: 'A token and how likely it was.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token.' }),
    logprob: t.exposeFloat('logprob', { description: 'The logarithm of its probability.' }),
    bytes: t.field({ type: ['Int'], description: 'Its bytes in UTF-8.', resolve: ({ bytes }) => [...bytes] }),
  }),
});

const TokenLogprobType = builder.objectRef<TokenLogprob>('TokenLogprob').implement({
  access,
  description: 'How likely a token of a text was.',
  fields: (t) => ({
    chosen: t.field({ type: TokenType, description: 'The token of the text.', resolve: (token) => token }),
    likeliest: t.field({
      type: [TokenType],
      description: 'The likeliest tokens in its place; as many as `topLogprobs` asks for.',
      resolve: (token) => [...token.top_logprobs],
    }),
  }),
});

const roles = {
  user: 'The user.',
  assistant: 'The model.',
  system: 'Who instructs the model.',
  developer: 'Who instructs the model; the same as SYSTEM.',
};
export const ItemRoleType = createEnum('ItemRole', 'Who says a message.', itemRoles, roles, ofFormat);
const phases = { commentary: 'It was said on the way.', final_answer: 'It is the answer.' };
export const MessagePhaseType = createEnum(
  'MessagePhase',
  'What a message of the model is in an answer.',
  messagePhases,
  phases,
  ofFormat,
);

builder.objectRef<ItemOf<'message'> | GivenOf<'given_message'>>('MessageItem').implement({
  access,
  description: 'A message.',
  interfaces: [RunItemType],
  fields: (t) => ({
    role: t.field({
      type: ItemRoleType,
      description: 'Who says it.',
      resolve: (item) => (item.type === 'message' ? 'assistant' : item.role),
    }),
    text: t.string({
      description: 'Its text so far, without its other parts; of a refusal, the refusal.',
      resolve: (item) => (item.type === 'message' ? item.text : saidIn(item.parts)),
    }),
    parts: t.field({ type: [ItemPartType], description: 'What it consists of, in order.', resolve: listParts }),
    isRefusal: t.boolean({
      description: 'Whether it says that the model refuses.',
      resolve: (item) => (item.type === 'message' ? item.isRefusal === true : item.parts.some(({ type }) => type === 'refusal')),
    }),
    phase: t.field({
      type: MessagePhaseType,
      nullable: true,
      description: 'Of an answer that a request gave: what it was; null where the request does not say.',
      resolve: (item) => (item.type === 'message' ? null : item.phase),
    }),
    citations: t.field({
      type: [CitationType],
      description: 'The passages that it cites, in the order of its text; only in the output of a run.',
      resolve: (item) => (item.type === 'message' ? [...item.citations] : []),
    }),
    logprobs: t.field({
      type: [TokenLogprobType],
      description: 'How likely its tokens were, where the request asks and the provider tells.',
      resolve: (item) => (item.type === 'message' ? [...(item.logprobs ?? [])] : []),
    }),
  }),
});

function listParts(item: ItemOf<'message'> | GivenOf<'given_message'>): WireObject[] {
  if (item.type === 'given_message') return [...item.parts];
  return [item.isRefusal === true ? { type: 'refusal', refusal: item.text } : { type: 'output_text', text: item.text }];
}

builder.objectRef<GivenOf<'function_output'>>('FunctionOutputItem').implement({
  access,
  description: 'What a function of the caller gave.',
  interfaces: [RunItemType],
  fields: (t) => ({
    callId: t.exposeString('callId', { description: 'The call.' }),
    outcome: t.expose('outcome', { type: ToolOutputStatusType, description: 'How the call went.' }),
    text: t.string({ description: 'Its text, without its other parts.', resolve: ({ parts }) => saidIn(parts) }),
    parts: t.field({ type: [ItemPartType], description: 'What it consists of, in order.', resolve: ({ parts }) => [...parts] }),
  }),
});

builder.objectRef<GivenOf<'approval_answer'>>('ApprovalAnswerItem').implement({
  access,
  description: 'The answer to a call that waited for approval.',
  interfaces: [RunItemType],
  fields: (t) => ({
    callId: t.exposeString('callId', { description: 'The call: `callId` of the ApprovalItem.' }),
    isApproved: t.exposeBoolean('isApproved', { description: 'Whether the call is made.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why, as the model reads it; null where it is not said.' }),
  }),
});

builder.objectRef<GivenOf<'compaction'>>('CompactionItem').implement({
  access,
  description: 'What stands for a conversation that was made shorter.',
  interfaces: [RunItemType],
  fields: (t) => ({
    content: t.exposeString('content', { description: 'Notes of the conversation; give them back as they are.' }),
  }),
});

builder.objectRef<GivenOf<'kept'>>('KeptItem').implement({
  access,
  description: 'An item of a tool that GraphQL has no type for, as a request gave it.',
  interfaces: [RunItemType],
  fields: (t) => ({
    kind: t.string({
      description: 'Its type in the responses format, such as `computer_call`.',
      resolve: ({ item }) => String(item.type),
    }),
    value: t.field({
      type: 'JSON',
      description: 'The item in the responses format. JSON: it belongs to the request, and each tool has members of its own.',
      resolve: ({ item }) => item,
    }),
  }),
});

builder.objectRef<ItemOf<'reasoning'>>('ReasoningItem').implement({
  access,
  description: 'What the model thought.',
  interfaces: [RunItemType],
  fields: (t) => ({ text: t.exposeString('text', { description: 'The thinking so far.' }) }),
});

builder.objectRef<ItemOf<'function_call'>>('FunctionCallItem').implement({
  access,
  description: 'A call of a function of the caller, who is asked to make it.',
  interfaces: [CallItemType, RunItemType],
});

builder.objectRef<ItemOf<'function_call'>>('ApprovalItem').implement({
  access,
  description:
    'A call of a tool of the service that waits for a person. It is answered with `submitToolOutputs`, which names its `callId`: `SUCCESS` makes the call, `CANCELLED` does not.',
  interfaces: [CallItemType, RunItemType],
  fields: (t) => ({
    mcpServerLabel: t.string({
      nullable: true,
      description: 'The label of the MCP server that has the tool; null for other tools.',
      resolve: ({ form }) => (form?.type === 'mcp' ? form.serverLabel : null),
    }),
    tool: t.string({
      description: 'The tool: of an MCP server of the request its name there, else the name of the function.',
      resolve: ({ form, name }) => (form?.type === 'mcp' ? form.tool : name),
    }),
  }),
});

builder.objectRef<ItemOf<'server_tool_call'>>('ToolCallItem').implement({
  access,
  description: 'A call of a tool of the service. What it gave is a ToolOutputItem with the same `callId`.',
  interfaces: [CallItemType, RunItemType],
  fields: (t) => ({ isApproved: isApproved(t) }),
});

/** The fields of what a call gave, where it stands with the call. */
function resultFields<T extends ItemOf<'server_tool_call'>>(t: ItemFields<T>) {
  return {
    isApproved: isApproved(t),
    error: t.field({
      type: RunCallErrorType,
      nullable: true,
      description: 'Why it failed; null otherwise.',
      resolve: ({ result }) => result?.error ?? null,
    }),
    output: t.string({
      nullable: true,
      description: 'What the model reads of it; null until it is over, and when it failed.',
      resolve: ({ result }) => (result === undefined || result.error !== null ? null : publicOutput(result)),
    }),
  };
}

function isApproved<T extends ItemOf<'server_tool_call'>>(t: ItemFields<T>) {
  return t.boolean({
    description: 'Whether a person approved it. It then has the `callId` of the ApprovalItem.',
    resolve: (call) => call.isApproved === true,
  });
}

const webActions = ['search', 'open_page'] as const;
const WebActionType = createEnum('WebSearchAction', 'What a call of `web_search` does.', webActions, {
  search: 'It searches.',
  open_page: 'It opens a page.',
});

const WebSourceType = builder.objectRef<WebSource>('WebSource').implement({
  access,
  description: 'A page of the web that a search found.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Its address.' }),
    title: t.string({
      nullable: true,
      description: 'Its title; null where it is not known.',
      resolve: ({ title }) => (title === '' ? null : title),
    }),
  }),
});

builder.objectRef<CallOf<'web_search'>>('WebSearchItem').implement({
  access,
  description: 'A call of `web_search`: it searches, or opens a page.',
  interfaces: [CallItemType, RunItemType],
  fields: (t) => ({
    ...resultFields(t),
    action: t.field({ type: WebActionType, description: 'What it does.', resolve: ({ form }) => form.action.type }),
    query: t.string({
      nullable: true,
      description: 'What is searched for; null for a page.',
      resolve: ({ form: { action } }) => (action.type === 'search' ? action.query : null),
    }),
    url: t.string({
      nullable: true,
      description: 'The page that is opened; null for a search.',
      resolve: ({ form: { action } }) => (action.type === 'open_page' ? action.url : null),
    }),
    sources: t.field({
      type: [WebSourceType],
      description: 'What the search found.',
      resolve: ({ form: { action } }) => (action.type === 'search' ? [...(action.sources ?? [])] : []),
    }),
  }),
});

const FileSearchResultType = builder.objectRef<FileSearchResult>('FileSearchResult').implement({
  access,
  description: 'A passage that a search of knowledge found.',
  fields: (t) => ({
    fileId: t.exposeID('fileId', { description: 'The document it is from.' }),
    filename: t.exposeString('filename', { description: 'The name of that document.' }),
    score: t.exposeFloat('score', { description: 'How well it fits; higher is closer.' }),
    text: t.exposeString('text', { description: 'The passage.' }),
  }),
});

builder.objectRef<CallOf<'file_search'>>('FileSearchItem').implement({
  access,
  description: 'A call of `file_search`, which searches knowledge.',
  interfaces: [CallItemType, RunItemType],
  fields: (t) => ({
    ...resultFields(t),
    queries: t.stringList({ description: 'What is searched for.', resolve: ({ form }) => [...form.queries] }),
    results: t.field({
      type: [FileSearchResultType],
      description: 'What it found, best first; none where the agent hides its intermediate steps.',
      resolve: ({ form, result }) => [...(publicForm(form, result) as FormOf<'file_search'>).results],
    }),
  }),
});

builder.objectRef<CallOf<'mcp'>>('McpCallItem').implement({
  access,
  description: 'A call of a tool of an MCP server of the request.',
  interfaces: [CallItemType, RunItemType],
  fields: (t) => ({
    ...resultFields(t),
    serverLabel: t.string({
      description: 'The label that the request gave the server.',
      resolve: ({ form }) => form.serverLabel,
    }),
    tool: t.string({ description: 'The name of the tool at its server.', resolve: ({ form }) => form.tool }),
    files: t.field({
      type: [OutputFileType],
      description: 'Files that it made.',
      resolve: ({ result }) => [...(result?.files ?? [])],
    }),
  }),
});

builder.objectRef<ItemOf<'server_tool_call_output'>>('ToolOutputItem').implement({
  access,
  description: 'What a call of a tool of the service gave.',
  interfaces: [RunItemType],
  fields: (t) => ({
    callId: t.exposeString('callId', { description: 'The call.' }),
    output: t.string({
      nullable: true,
      description: 'What the model reads of it; null when the call failed.',
      resolve: (item) => (item.error === null ? publicOutput(item) : null),
    }),
    error: t.field({
      type: RunCallErrorType,
      nullable: true,
      description: 'Why the call failed; null otherwise.',
      resolve: ({ error }) => error,
    }),
    files: t.field({
      type: [OutputFileType],
      description: 'Images and other files that it made.',
      resolve: ({ files }) => [...(files ?? [])],
    }),
  }),
});

builder.objectRef<ItemOf<'mcp_list_tools'>>('McpToolsItem').implement({
  access,
  description: 'The tools of an MCP server of the request, as the run found them.',
  interfaces: [RunItemType],
  fields: (t) => ({
    serverLabel: t.exposeString('serverLabel', { description: 'The label that the request gave the server.' }),
    tools: t.field({
      type: [McpListedToolType],
      description: 'Those that the request allows.',
      resolve: ({ tools }) => [...tools],
    }),
    unavailableReason: t.exposeString('error', {
      nullable: true,
      description: 'Why the server cannot be used; null when it can.',
    }),
  }),
});
