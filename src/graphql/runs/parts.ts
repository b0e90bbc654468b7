import { freshFileAddress } from '../../engine/files/file-links.ts';
import { awaitedCalls, outputFilesOf } from '../../engine/runs/events/transcript.ts';
import { timeOfId } from '../../entities/ids.ts';
import { citationsOf, reasoningOf, textOf } from '../../entities/runs/answer.ts';
import {
  publicOutput,
  type RunItem,
  type RunSnapshot,
  runStatuses,
  type SelectionMetadata,
  type TokenLogprob,
  type Usage,
} from '../../entities/runs/event.ts';
import type { OutputFile } from '../../entities/runs/tool.ts';
import { type BuilderTypes, builder } from '../builder/builder.ts';
import { CitationType, ToolCallType } from '../chats/messages.ts';
import { wireEnumOf } from '../types/enums.ts';
import { WarningType } from '../types/warnings.ts';
import { FlowStepType } from './flow-steps.ts';
import {
  ApprovalType,
  FileSearchType,
  formOf,
  McpCallType,
  McpListingType,
  mcpCallOf,
  RunCallErrorType,
  resultOf,
  WebSearchType,
} from './item-forms.ts';
import { RunRequestType, requestIn } from './request.ts';
import { RunErrorType } from './run-error.ts';

export const RunStatusType = wireEnumOf('RunStatus', 'The status of a run.', runStatuses, {
  in_progress: 'It is in progress.',
  completed: "It completed. Function calls in its output wait for the caller's outputs.",
  failed: 'It failed.',
  incomplete: 'It was cut: see `incompleteReason`.',
  cancelled: 'It was cancelled.',
});

export const UsageType = builder.objectRef<Usage>('Usage').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Tokens of a run, as its models counted them.',
  fields: (t) => ({
    inputTokens: t.exposeInt('inputTokens', { description: 'Input tokens.' }),
    outputTokens: t.exposeInt('outputTokens', { description: 'Output tokens.' }),
    totalTokens: t.int({
      description: 'Input and output tokens together.',
      resolve: (usage) => usage.inputTokens + usage.outputTokens,
    }),
    cachedTokens: t.exposeInt('cachedTokens', { description: 'Input tokens that the provider read from its cache.' }),
    reasoningTokens: t.exposeInt('reasoningTokens', { description: 'Output tokens that the model spent on thinking.' }),
    isEstimated: t.boolean({
      nullable: true,
      description:
        'True where the service estimated some of them, because a model was cut off or its provider counted nothing; null where all are counted.',
      resolve: (usage) => usage.isEstimated ?? null,
    }),
  }),
});

interface Fallback {
  readonly provider: string;
  readonly model: string;
  readonly reason: string;
}
const FallbackType = builder.objectRef<Fallback>('ModelFallback').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A model that was tried before the one that answered.',
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Its provider.' }),
    model: t.exposeString('model', { description: 'Its name.' }),
    reason: t.exposeString('reason', { description: 'Why it did not answer.' }),
  }),
});

export const SelectionType = builder.objectRef<SelectionMetadata>('SelectionMetadata').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Which model answered, and how it was chosen.',
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Its provider.' }),
    model: t.exposeString('model', { description: 'Its name.' }),
    fallbackChain: t.field({
      type: [FallbackType],
      description: 'The models that were tried before, in order.',
      resolve: (it) => it.fallbackChain,
    }),
    queueMs: t.float({ description: 'Milliseconds until the request left.', resolve: (it) => it.latencyHints.queueMs }),
    firstTokenMs: t.float({
      nullable: true,
      description: 'Milliseconds until the first token; null when there was none.',
      resolve: (it) => it.latencyHints.firstTokenMs,
    }),
  }),
});

export const OutputFileType = builder.objectRef<OutputFile>('OutputFile').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file that a tool of the service made.',
  fields: (t) => ({
    fileId: t.exposeID('fileId', { nullable: true, description: 'The file of the chat; null for a run that stores nothing.' }),
    filename: t.exposeString('filename', { description: 'Its name, without any path.' }),
    mimeType: t.exposeString('mimeType', { description: 'Its media type.' }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Its bytes.' }),
    url: t.string({
      description: 'A link that works without a key for half an hour to an hour, or a data URL.',
      resolve: (file, _args, { deps }) => freshFileAddress(deps, file),
    }),
  }),
});

const TokenType = builder.objectRef<Omit<TokenLogprob, 'top_logprobs'>>('LikelyToken').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A token and how likely it was.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token.' }),
    logprob: t.exposeFloat('logprob', { description: 'The logarithm of its probability.' }),
    bytes: t.field({ type: ['Int'], description: 'Its bytes in UTF-8.', resolve: ({ bytes }) => [...bytes] }),
  }),
});

const TokenLogprobType = builder.objectRef<TokenLogprob>('TokenLogprob').implement({
  access: { scope: 'CHATS:READ' },
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

export const RunItemType = builder.objectRef<RunItem>('RunItem').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A part of the output of a run: a message, a call, thoughts, the output of a tool.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The same from its first event to its last.' }),
    type: t.exposeString('type', {
      description:
        '`message`, `function_call`, `reasoning`, `server_tool_call`, `server_tool_call_output` or `mcp_list_tools`. One of `webSearch`, `fileSearch` and `mcpCall` says more of a `server_tool_call`, where the responses format has an item of its own for it.',
    }),
    status: t.exposeString('status', { description: '`in_progress`, `completed`, `incomplete` or `failed`.' }),
    text: t.string({
      nullable: true,
      description: 'The text of a message, of thoughts, or of the output of a tool.',
      resolve: (item) => {
        if (item.type === 'message' || item.type === 'reasoning') return item.text;
        if (item.type === 'server_tool_call_output') return publicOutput(item);
        const result = resultOf(item);
        return result === undefined ? null : publicOutput(result);
      },
    }),
    isRefusal: t.boolean({
      description: 'Whether a message says that the model refuses; its text is the refusal.',
      resolve: (item) => item.type === 'message' && item.isRefusal === true,
    }),
    logprobs: t.field({
      type: [TokenLogprobType],
      description: 'How likely the tokens of a message were, where the request asks and the provider tells.',
      resolve: (item) => (item.type === 'message' ? [...(item.logprobs ?? [])] : []),
    }),
    files: t.field({
      type: [OutputFileType],
      description: 'Files that a call of a tool made.',
      resolve: (item) => resultOf(item)?.files ?? [],
    }),
    isApproval: t.boolean({
      description: 'Whether a call waits for the approval of a person.',
      resolve: (item) => item.type === 'function_call' && item.approval === true,
    }),
    citations: t.field({
      type: [CitationType],
      description: 'The passages that a message cites.',
      resolve: (item) => (item.type === 'message' ? item.citations : []),
    }),
    callId: t.string({
      nullable: true,
      description: 'The id that the output of the call refers to.',
      resolve: (item) => ('callId' in item ? item.callId : null),
    }),
    name: t.string({
      nullable: true,
      description: 'The tool that is called.',
      resolve: (item) => ('name' in item ? item.name : null),
    }),
    arguments: t.string({
      nullable: true,
      description: 'The arguments of a call as JSON text; empty until they are whole.',
      resolve: (item) => ('arguments' in item ? item.arguments : null),
    }),
    error: t.field({
      type: RunCallErrorType,
      nullable: true,
      description: 'Why a call of a tool of the service failed; null otherwise.',
      resolve: (item) => resultOf(item)?.error ?? null,
    }),
    webSearch: t.field({
      type: WebSearchType,
      nullable: true,
      description: 'A call of `web_search`; null for other items.',
      resolve: (item) => formOf(item, 'web_search'),
    }),
    fileSearch: t.field({
      type: FileSearchType,
      nullable: true,
      description: 'A call of `file_search`; null for other items.',
      resolve: (item) => formOf(item, 'file_search'),
    }),
    mcpCall: t.field({
      type: McpCallType,
      nullable: true,
      description: 'A call of a tool of `mcp`; null for other items.',
      resolve: mcpCallOf,
    }),
    mcpListing: t.field({
      type: McpListingType,
      nullable: true,
      description: 'The tools of a server of `mcp`; null for other items.',
      resolve: (item) => (item.type === 'mcp_list_tools' ? item : null),
    }),
    approval: t.field({
      type: ApprovalType,
      nullable: true,
      description: 'What a person is asked to approve; null for other items.',
      resolve: (item) => (item.type === 'function_call' && item.approval === true ? item : null),
    }),
  }),
});

type RunOutcome = Pick<RunSnapshot, 'status' | 'incompleteReason' | 'error' | 'usage' | 'selection'>;

/** The fields that a run and a snapshot of it share. */
export function outcomeFields(t: PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, RunOutcome>) {
  return {
    status: t.expose('status', { type: RunStatusType, description: 'Its status.' }),
    incompleteReason: t.exposeString('incompleteReason', {
      nullable: true,
      description:
        'Why it was cut: `max_output_tokens`, `content_filter`, `paused`, `max_tool_calls` (its model asked for more calls of tools than a run may make) or `timeout`.',
    }),
    error: t.field({ type: RunErrorType, nullable: true, description: 'Why it failed.', resolve: (run) => run.error }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'The tokens used; null until the end.',
      resolve: (run) => run.usage,
    }),
    selection: t.field({
      type: SelectionType,
      nullable: true,
      description: 'Which model answered; null until its end.',
      resolve: (run) => run.selection,
    }),
  };
}

export const RunSnapshotType = builder.objectRef<RunSnapshot>('RunSnapshot').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A run as it is now, or at one of its events: of a chat, a completion or a response.',
  fields: (t) => ({
    id: t.exposeID('runId', { description: 'The id of the run; that of a response is its id.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was asked for.',
      resolve: ({ runId }) => new Date(timeOfId(runId)),
    }),
    completedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it completed; null unless it did.',
      resolve: ({ completedAtMs: ms }) => (ms === undefined ? null : new Date(ms)),
    }),
    chatId: t.id({
      nullable: true,
      description: 'Of a response: the chat that is its thread; null when it is not stored.',
      resolve: ({ head }) => head?.conversationId ?? null,
    }),
    ...outcomeFields(t),
    output: t.field({
      type: [RunItemType],
      description: 'Its output: messages, thinking and calls.',
      resolve: (run) => run.output,
    }),
    text: t.string({ description: 'The text of all its messages.', resolve: ({ output }) => textOf(output) }),
    reasoning: t.string({
      nullable: true,
      description: "The model's thinking; null when the model reported none.",
      resolve: ({ output }) => reasoningOf(output) ?? null,
    }),
    citations: t.field({
      type: [CitationType],
      description: 'The passages that its messages cite, with places in `text`.',
      resolve: ({ output }) => [...citationsOf(output)],
    }),
    toolCalls: t.field({
      type: [ToolCallType],
      description: 'Calls that it asks the caller to make.',
      resolve: (run) => [...awaitedCalls(run)],
    }),
    files: t.field({
      type: [OutputFileType],
      description: 'Images and other files that its tools made.',
      resolve: ({ output }) => [...outputFilesOf(output)],
    }),
    serviceTier: t.string({
      nullable: true,
      description: 'The class of service that the provider reported last; null while it reported none.',
      resolve: (run) => run.serviceTier ?? null,
    }),
    request: t.field({
      type: RunRequestType,
      nullable: true,
      description: 'Of a response: what it was asked. Null for other runs, and in events behind the first.',
      resolve: ({ head }) => requestIn(head),
    }),
    flowSteps: t.field({
      type: [FlowStepType],
      description: 'At the end: the finished steps of the flow that answered, where the agent or the request shows them.',
      resolve: (run) => run.flowSteps ?? [],
    }),
    warnings: t.field({
      type: [WarningType],
      description:
        'What of the agent or the request has no effect on the run: when it began what was known before, at its end what it found.',
      resolve: (run) => [...(run.head?.warnings ?? []), ...(run.warnings ?? [])],
    }),
  }),
});
