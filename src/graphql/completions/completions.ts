import {
  type Completion,
  createCompletion,
  finishOf,
  type IncompleteDetails,
  incompleteDetailsOf,
  runCompletion,
  warningsIn,
} from '../../domain/completions/completions.ts';
import { documentsOf, imagesOf } from '../../engine/runs/events/transcript.ts';
import { statelessChatId } from '../../entities/ids.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import type { RunEvent, RunSnapshot, Usage } from '../../entities/runs/event.ts';
import { takesExtensions } from '../../http/extensions.ts';
import { builder } from '../builder/builder.ts';
import type { GraphContext } from '../builder/context.ts';
import { FlowStepType } from '../runs/flow-steps.ts';
import { OutputFileType } from '../runs/parts.ts';
import { WarningType } from '../types/warnings.ts';
import { CompletionInputType } from './inputs.ts';
import { textSoFar, textSoFarMaxChars } from './text-so-far.ts';

/** A completion, with the members of its reply that are repeated from the request or generated. */
interface CompletionReply {
  readonly id: string;
  readonly chatId: string;
  readonly createdSeconds: number;
  readonly model: string;
  readonly completion: Completion;
}
type ToolCall = Completion['toolCalls'][number];

const UsageType = builder.objectRef<Usage>('CompletionUsage').implement({
  description: 'Tokens, as the model counted them.',
  fields: (t) => ({
    promptTokens: t.int({ description: 'Input tokens.', resolve: (usage) => usage.inputTokens }),
    completionTokens: t.int({ description: 'Output tokens.', resolve: (usage) => usage.outputTokens }),
    totalTokens: t.int({
      description: 'Input and output tokens together.',
      resolve: (usage) => usage.inputTokens + usage.outputTokens,
    }),
    promptTokensDetails: t.field({
      type: PromptTokensDetailsType,
      description: 'Details of the input tokens.',
      resolve: (usage) => usage,
    }),
    completionTokensDetails: t.field({
      type: CompletionTokensDetailsType,
      description: 'Details of the output tokens.',
      resolve: (usage) => usage,
    }),
    isEstimated: t.boolean({
      nullable: true,
      description:
        'True where the service estimated some of them, because a model was cut off or its provider counted nothing; null where all are counted.',
      resolve: (usage) => usage.isEstimated ?? null,
    }),
  }),
});

const PromptTokensDetailsType = builder.objectRef<Usage>('CompletionPromptTokensDetails').implement({
  description: 'Details of the input tokens.',
  fields: (t) => ({
    cachedTokens: t.exposeInt('cachedTokens', { description: 'Tokens that the provider read from its cache.' }),
  }),
});

const CompletionTokensDetailsType = builder.objectRef<Usage>('CompletionTokensDetails').implement({
  description: 'Details of the output tokens.',
  fields: (t) => ({ reasoningTokens: t.exposeInt('reasoningTokens', { description: 'Tokens spent on thinking.' }) }),
});

const FunctionType = builder.objectRef<ToolCall>('CompletionFunction').implement({
  description: 'What the model calls.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the function.' }),
    arguments: t.exposeString('arguments', { description: 'Its arguments as JSON text; never empty.' }),
  }),
});

const ToolCallType = builder.objectRef<ToolCall>('CompletionToolCall').implement({
  description: 'A call that the client is asked to make.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The id that the output refers to.' }),
    type: t.string({ description: 'Always `function`.', resolve: () => 'function' }),
    function: t.field({ type: FunctionType, description: 'What to call.', resolve: (call) => call }),
    approval: t.boolean({
      nullable: true,
      description:
        'True when the tool runs in the service and waits for approval: an output `{"status": "success"}` approves, `"cancelled"` refuses.',
      resolve: ({ approval }) => approval ?? null,
    }),
  }),
});

const UrlCitationType = builder.objectRef<Citation>('CompletionUrlCitation').implement({
  description: 'A place in the answer and the passage that it cites.',
  fields: (t) => ({
    startIndex: t.exposeInt('answerStart', { description: 'Where the marker starts in the text, UTF-16 code units.' }),
    endIndex: t.exposeInt('answerEnd', { description: 'Where the marker ends, UTF-16 code units.' }),
    title: t.exposeString('name', { description: 'The title of the passage’s document.' }),
    url: t.exposeString('url', { description: 'Where to read it.' }),
  }),
});

const AnnotationType = builder.objectRef<Citation>('CompletionAnnotation').implement({
  description: 'A citation in the form of the common format.',
  fields: (t) => ({
    type: t.string({ description: 'Always `url_citation`.', resolve: () => 'url_citation' }),
    urlCitation: t.field({ type: UrlCitationType, description: 'The citation.', resolve: (citation) => citation }),
  }),
});

const ImageUrlType = builder.objectRef<string>('CompletionImageUrl').implement({
  description: 'Where an image is.',
  fields: (t) => ({
    url: t.string({ description: 'A data URL, or a link that works for an hour without a key.', resolve: (url) => url }),
  }),
});

const ImageType = builder.objectRef<string>('CompletionImage').implement({
  description: 'An image that a tool of the service made, in the form that common routers use.',
  fields: (t) => ({
    type: t.string({ description: 'Always `image_url`.', resolve: () => 'image_url' }),
    imageUrl: t.field({ type: ImageUrlType, description: 'Its address.', resolve: (url) => url }),
  }),
});

const MessageType = builder.objectRef<Completion>('CompletionMessage').implement({
  description: "The model's answer.",
  fields: (t) => ({
    role: t.string({ description: 'Always `assistant`.', resolve: () => 'assistant' }),
    content: t.exposeString('content', { nullable: true, description: 'The text; null when there are only calls.' }),
    refusal: t.string({ nullable: true, description: 'Always null: a refusal is text.', resolve: () => null }),
    reasoningContent: t.exposeString('reasoning', {
      nullable: true,
      description: "The model's thinking, if the model reports it.",
    }),
    toolCalls: t.field({
      type: [ToolCallType],
      nullable: true,
      description: 'Calls that the client is asked to make; null when there are none.',
      resolve: ({ toolCalls }) => (toolCalls.length === 0 ? null : toolCalls),
    }),
    annotations: t.field({
      type: [AnnotationType],
      nullable: true,
      description: 'Citations; null when there are none.',
      resolve: ({ citations }) => (citations.length === 0 ? null : citations),
    }),
    images: t.field({
      type: [ImageType],
      nullable: true,
      description: 'Images that tools of the service made; null when there are none.',
      resolve: ({ images }) => (images.length === 0 ? null : images),
    }),
    files: t.field({
      type: [OutputFileType],
      nullable: true,
      description: 'Other files that tools of the service made; null when there are none.',
      resolve: ({ files }) => (files.length === 0 ? null : [...files]),
    }),
  }),
});

const ChoiceType = builder.objectRef<Completion>('CompletionChoice').implement({
  description: 'One answer; there is always exactly one.',
  fields: (t) => ({
    index: t.int({ description: 'Always 0.', resolve: () => 0 }),
    message: t.field({ type: MessageType, description: 'The answer.', resolve: (completion) => completion }),
    logprobs: t.field({ type: 'JSON', nullable: true, description: 'Always null.', resolve: () => null }),
    finishReason: t.exposeString('finish', { description: 'stop, length, tool_calls or content_filter.' }),
  }),
});

const CompletionIncompleteType = builder.objectRef<IncompleteDetails>('CompletionIncompleteDetails').implement({
  description: 'The limit that cut an answer whose finish reason is `length`.',
  fields: (t) => ({
    reason: t.exposeString('reason', {
      description:
        '`max_output_tokens`; `max_tool_calls`: its model asked for more calls of tools than a run may make; `timeout`: it took longer than a run may.',
    }),
  }),
});

const CompletionType = builder.objectRef<CompletionReply>('Completion').implement({
  description: 'The reply to a stateless completion: nothing of it is kept.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The id of this reply, for logs.' }),
    object: t.string({ description: 'Always `chat.completion`.', resolve: () => 'chat.completion' }),
    created: t.exposeInt('createdSeconds', { description: 'Seconds since 1970.' }),
    model: t.exposeString('model', { description: 'The model as the request named it.' }),
    resolvedModel: t.string({
      nullable: true,
      description: 'The model that answered, `provider/name`.',
      resolve: ({ completion }) => completion.resolvedModel,
    }),
    choices: t.field({ type: [ChoiceType], description: 'The answer.', resolve: ({ completion }) => [completion] }),
    usage: t.field({ type: UsageType, description: 'The tokens used.', resolve: ({ completion }) => completion.usage }),
    incompleteDetails: t.field({
      type: CompletionIncompleteType,
      nullable: true,
      description: 'The limit that cut the answer; null when none did.',
      resolve: ({ completion }) => completion.incompleteDetails,
    }),
    flowSteps: t.field({
      type: [FlowStepType],
      nullable: true,
      description: 'The finished steps of the flow that answered, where the agent or the request shows them; else null.',
      resolve: ({ completion: { flowSteps } }) => (flowSteps.length === 0 ? null : [...flowSteps]),
    }),
    warnings: t.field({
      type: [WarningType],
      nullable: true,
      description: 'What of the agent has no effect; null when everything has.',
      resolve: ({ completion: { warnings } }) => (warnings.length === 0 ? null : [...warnings]),
    }),
    chatId: t.exposeString('chatId', { description: 'Opaque; different in every reply; names nothing that can be fetched.' }),
  }),
});

builder.mutationField('createCompletion', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: CompletionType,
    description: 'Runs one stateless completion and answers when it is whole.',
    args: { input: t.arg({ type: CompletionInputType, required: true, description: 'The request.' }) },
    resolve: async (_root, { input }, context) => {
      const { deps, caller, signal } = context;
      const createdSeconds = Math.floor(deps.now().getTime() / 1000);
      const completion = await createCompletion(deps, caller, input, hasExtensions(context), signal);
      const id = deps.newId('completion');
      return { id, chatId: statelessChatId(id), createdSeconds, model: input.model, completion };
    },
  }),
);

interface ToolCallDelta {
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: string;
}

const ToolCallDeltaType = builder.objectRef<ToolCallDelta>('CompletionToolCallDelta').implement({
  description: 'A piece of a call that the client is asked to make. Calls come one after the other.',
  fields: (t) => ({
    id: t.exposeString('id', { nullable: true, description: 'Only in the first delta of the call.' }),
    name: t.exposeString('name', { nullable: true, description: 'Only in the first delta of the call.' }),
    arguments: t.exposeString('arguments', { description: 'The next piece of its arguments.' }),
  }),
});

const EventErrorType = builder.objectRef<{ readonly code: string; readonly message: string }>('CompletionError').implement({
  description: 'Why a completion failed.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'As in `extensions.code` of errors.' }),
    message: t.exposeString('message', { description: 'For a person to read.' }),
  }),
});

const EventType = builder.objectRef<RunEvent>('CompletionEvent').implement({
  description: 'One step of a completion while it happens.',
  fields: (t) => ({
    sequence: t.exposeInt('sequence', { description: 'Grows by one with every event, from 0.' }),
    type: t.exposeString('type', { description: 'The type of the event, as in the responses format.' }),
    delta: t.string({
      nullable: true,
      description: 'The next piece of the text.',
      resolve: (event) => (event.type === 'response.output_text.delta' ? (JSON.parse(event.json) as string) : null),
    }),
    text: t.string({
      nullable: true,
      description: `The text so far, for viewers that show one event at a time; null once it has more than ${textSoFarMaxChars} characters. Programs put \`delta\` together.`,
      resolve: (event, _args, { signal }) => textSoFar(event, signal),
    }),
    reasoningDelta: t.string({
      nullable: true,
      description: "The next piece of the model's thinking, if the model reports it.",
      resolve: (event) => (event.type === 'response.reasoning_text.delta' ? (JSON.parse(event.json) as string) : null),
    }),
    toolCall: t.field({
      type: ToolCallDeltaType,
      nullable: true,
      description: 'The next piece of a call.',
      resolve: toolCallOf,
    }),
    annotation: t.field({
      type: AnnotationType,
      nullable: true,
      description: 'A citation that the text just made.',
      resolve: (event) => (event.type === 'response.output_text.annotation.added' ? event.citation : null),
    }),
    finishReason: t.string({
      nullable: true,
      description: 'With the last event of a good answer: stop, length, tool_calls or content_filter.',
      resolve: (event) => {
        const run = endOf(event);
        return run === undefined || run.status === 'failed' || run.status === 'cancelled' ? null : finishOf(run);
      },
    }),
    incompleteDetails: t.field({
      type: CompletionIncompleteType,
      nullable: true,
      description: 'In the last event: the limit that cut the answer.',
      resolve: (event) => {
        const run = endOf(event);
        return run?.status === 'incomplete' ? incompleteDetailsOf(run) : null;
      },
    }),
    images: t.field({
      type: [ImageType],
      nullable: true,
      description: 'In the last event: images that tools of the service made; null when there are none.',
      resolve: (event) => {
        const images = imagesOf(endOf(event)?.output ?? []).map(({ url }) => url);
        return images.length === 0 ? null : images;
      },
    }),
    files: t.field({
      type: [OutputFileType],
      nullable: true,
      description: 'In the last event: other files that tools of the service made; null when there are none.',
      resolve: (event) => {
        const files = documentsOf(endOf(event)?.output ?? []);
        return files.length === 0 ? null : [...files];
      },
    }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'In the last event: the tokens used.',
      resolve: (event) => endOf(event)?.usage ?? null,
    }),
    warnings: t.field({
      type: [WarningType],
      nullable: true,
      description:
        'What of the agent or the request has no effect: in the first event what is known before the run, in the last what it found. Null when there is none.',
      resolve: (event) => {
        const warnings = warningsIn([event]);
        return warnings.length === 0 ? null : [...warnings];
      },
    }),
    error: t.field({
      type: EventErrorType,
      nullable: true,
      description: 'In the last event: why it failed.',
      resolve: (event) => endOf(event)?.error ?? null,
    }),
  }),
});

builder.subscriptionField('completionEvents', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: EventType,
    description: 'Runs one stateless completion and shows it while it happens. Leaving stops it.',
    args: {
      input: t.arg({ type: CompletionInputType, required: true, description: 'The request.' }),
      inOnePiece: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: "Requests the model's answer in one piece: fewer, larger events.",
      }),
    },
    subscribe: (_root, { input, inOnePiece }, context) => {
      const terms = { inOnePiece, takesExtensions: hasExtensions(context) };
      return runCompletion(context.deps, context.caller, input, terms, context.signal);
    },
    resolve: (event) => event,
  }),
);

function hasExtensions(context: GraphContext): boolean {
  return takesExtensions(context.header?.bind(context));
}

function endOf(event: RunEvent): RunSnapshot | undefined {
  return event.type === 'response.completed' || event.type === 'response.failed' || event.type === 'response.incomplete'
    ? event.run
    : undefined;
}

function toolCallOf(event: RunEvent): ToolCallDelta | null {
  if (event.type === 'response.function_call_arguments.delta') {
    return { id: null, name: null, arguments: JSON.parse(event.json) as string };
  }
  if (event.type !== 'response.output_item.added' || event.item.type !== 'function_call') return null;
  return { id: event.item.callId, name: event.item.name, arguments: '' };
}
