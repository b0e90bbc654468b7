import { freshFileAddress } from '../../../engine/files/file-links.ts';
import { incompleteReasons, runStatuses, type SelectionMetadata } from '../../../entities/conversations/runs/event.ts';
import { runKinds } from '../../../entities/conversations/runs/run.ts';
import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import type { Usage } from '../../../entities/conversations/runs/usage.ts';
import { builder } from '../../ground/builder/builder.ts';
import { createEnum, ofFormat, textOnRest } from '../../ground/types/enums.ts';

const statuses = {
  in_progress: 'It is in progress.',
  completed: "It completed. Function calls in its output wait for the caller's outputs.",
  failed: 'It failed.',
  incomplete: 'It was cut: see `incompleteReason`.',
  cancelled: 'It was cancelled.',
};
export const RunStatusType = createEnum('RunStatus', 'The status of a run.', runStatuses, statuses, ofFormat);

const reasons = {
  max_output_tokens: 'The answer reached the limit of its tokens.',
  content_filter: 'The provider held back the rest.',
  paused: 'It was paused, and may be resumed.',
  max_tool_calls: 'Its model asked for more calls of tools than a run may make.',
  timeout: 'It took longer than a run may.',
};
export const IncompleteReasonType = createEnum('IncompleteReason', 'Why a run was cut.', incompleteReasons, reasons, {
  ...ofFormat,
  ...textOnRest,
});

export const RunKindType = createEnum('RunKind', 'What asked for a run.', runKinds, {
  chat: 'A message to a chat.',
  completion: 'A completion: one answer without a chat.',
  response: 'A response: a turn of a thread, or one of its own.',
  embedding: 'Texts that vectors were made of.',
  search: 'A search of knowledge.',
  compaction: 'A conversation that was made shorter.',
  profile: "A draft of an agent's profile.",
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
    cacheWriteTokens: t.int({
      description: 'Input tokens that the provider wrote to its cache.',
      resolve: (usage) => usage.cacheWriteTokens ?? 0,
    }),
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
  // Whoever may see the call may see what it made.
  access: { scope: null },
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
