import { z } from 'zod';
import { awaitedCall, listDocuments, listImages } from '../../engine/runs/events/transcript.ts';
import type { ToolCall } from '../../entities/conversations/chats/chat.ts';
import {
  findRefusal,
  listCitations,
  readAnswerText,
  readReasoning,
  requireAnswer,
} from '../../entities/conversations/runs/answer.ts';
import { incompleteReasons, type RunItem, type RunSnapshot, type TokenLogprob } from '../../entities/conversations/runs/event.ts';
import type { Usage } from '../../entities/conversations/runs/usage.ts';
import { statelessChatId } from '../../entities/ground/ids.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import { type EncoderContext, foldOfEnd, shownWarnings, type Variables, type WireReply } from '../ground/encoder.ts';
import { flowStep, toWireFlowStep } from '../ground/run-parts.ts';
import {
  behaves,
  component,
  constant,
  flag,
  integer,
  isExtension,
  list,
  oneOfTexts,
  reference,
  type Sent,
  text,
  unlessEmpty,
} from '../ground/schema.ts';
import { writtenThought } from '../ground/thoughts.ts';
import { logprob } from '../responses/parts.ts';

/** The reply of the chat completions format: its schema, and its encoder from a finished run. Parts that the stream has too are exported. */

export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter'] as const;
type FinishReason = (typeof finishReasons)[number];

/** The format has one value for every limit, `length`. Calls of tools that ran in the service are not the client's: they never lead to `tool_calls`. */
export function toFinishReason(run: RunSnapshot): FinishReason {
  if (run.incompleteReason === 'content_filter') return 'content_filter';
  if (toIncompleteDetails(run) !== undefined) return 'length';
  return run.output.some(isCall) ? 'tool_calls' : 'stop';
}

const bounds = incompleteReasons.filter((reason) => reason !== 'content_filter' && reason !== 'paused');
export const incompleteDetails = component(
  'CompletionIncompleteDetails',
  'The limit that cut an answer whose finish reason is `length`.',
  { reason: oneOfTexts('Which limit cut it.', bounds) },
);

export function toIncompleteDetails({ incompleteReason: reason }: RunSnapshot): Sent<typeof incompleteDetails> | undefined {
  return reason === null || reason === 'content_filter' || reason === 'paused' ? undefined : { reason };
}

export const usage = component('CompletionUsage', 'Tokens, as the model counted them.', {
  prompt_tokens: integer('Input tokens.'),
  completion_tokens: integer('Output tokens.'),
  total_tokens: integer('Input and output tokens together.'),
  prompt_tokens_details: component('CompletionPromptTokensDetails', 'Details of the input tokens.', {
    cached_tokens: integer('Tokens that the provider read from its cache.'),
  }),
  completion_tokens_details: component('CompletionTokensDetails', 'Details of the output tokens.', {
    reasoning_tokens: integer('Tokens spent on thinking.'),
  }),
  estimated: flag(
    'True where the service estimated some of them, because a model was cut off or its provider counted nothing; absent where all are counted.',
  ).optional(),
});

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

export function toUsage({ usage: tokens }: RunSnapshot): Sent<typeof usage> {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens, isEstimated } = tokens ?? noUsage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    estimated: isEstimated,
  };
}

export const annotation = component('CompletionAnnotation', 'A citation in the form of the common format.', {
  type: constant('url_citation'),
  url_citation: component('CompletionUrlCitation', 'A place in the answer and the passage that it cites.', {
    start_index: integer('Where the marker starts in the text, UTF-16 code units.'),
    end_index: integer('Where the marker ends, UTF-16 code units.'),
    title: text('The title of the passage’s document.'),
    url: text('Where to read it.'),
  }),
});

/** Clients drop or reject annotations that lack one of the four members. */
export function toAnnotation({ answerStart, answerEnd, name, url }: Citation): Sent<typeof annotation> {
  return { type: 'url_citation', url_citation: { start_index: answerStart, end_index: answerEnd, title: name, url } };
}

export const image = component(
  'CompletionImage',
  'An image that a tool of the service made, in the form that common routers use.',
  {
    type: constant('image_url'),
    image_url: component('CompletionImageUrl', 'Where an image is.', {
      url: text('A data URL, or a link that works for an hour without a key.'),
    }),
  },
);
export const madeFile = component('OutputFile', 'A file that a tool of the service made.', {
  filename: text('Its name.'),
  mime_type: text('Its media type.'),
  size_bytes: integer('Its bytes.'),
  url: text('A link that works for an hour without a key.'),
});

/**
 * Images and files that tools of the service made are no part of the common format: the switch of the extensions leaves them out. Images are
 * members that many clients know, so a path for stock clients leaves out files only.
 */
export function madeMembers(output: readonly RunItem[], { takesExtensions, takesImages = takesExtensions }: EncoderContext) {
  if (!takesImages) return {};
  const images = listImages(output).map(({ url }): Sent<typeof image> => ({ type: 'image_url', image_url: { url } }));
  const files = listDocuments(output).map(
    ({ filename, mimeType, sizeBytes, url }): Sent<typeof madeFile> => ({
      filename,
      mime_type: mimeType,
      size_bytes: sizeBytes,
      url,
    }),
  );
  return { images: unlessEmpty(images), files: takesExtensions ? unlessEmpty(files) : undefined };
}

/** The same members as in the responses format, below another name. */
export const choiceLogprobs = component('CompletionLogprobs', 'How likely the tokens of the text were.', {
  content: list('One for each token.', logprob),
  refusal: z.null().meta({ description: 'Always null.' }),
});

export function logprobsOfTokens(content: readonly TokenLogprob[]): Sent<typeof choiceLogprobs> {
  return { content, refusal: null };
}

function toLogprobs(output: readonly RunItem[]): Sent<typeof choiceLogprobs> | null {
  const tokens = output.flatMap((item) => (item.type === 'message' ? (item.logprobs ?? []) : []));
  return tokens.length === 0 ? null : logprobsOfTokens(tokens);
}

const toolCall = component('CompletionToolCall', 'A call that the client is asked to make.', {
  id: text('The id that the output refers to.'),
  type: constant('function'),
  function: component('CompletionFunction', 'What the model calls.', {
    name: text('The name of the function.'),
    arguments: text('Its arguments as JSON text; never empty.'),
  }),
  approval: flag(
    'True when the tool runs in the service and waits for approval: an output `{"status": "success"}` approves, `"cancelled"` refuses.',
    isExtension,
  ).optional(),
});

function toToolCall({ id, name, arguments: args, approval }: ToolCall): Sent<typeof toolCall> {
  return { id, type: 'function', function: { name, arguments: args }, approval };
}

export const reasoningDetail = component('CompletionReasoningDetail', 'A thought of the model, for its provider.', {
  type: constant('reasoning.encrypted'),
  id: text('The id of the thought.'),
  format: constant('parley-v1'),
  data: text('The thought, with what its provider demands to see again.'),
});

/** Only a thought that its provider marked must come back so: for others, `reasoning_content` says all. */
export function toReasoningDetails(item: RunItem): readonly Sent<typeof reasoningDetail>[] {
  if (item.type !== 'reasoning' || item.origin?.opaque === undefined) return [];
  return [
    { type: 'reasoning.encrypted', id: item.id, format: 'parley-v1', data: writtenThought({ text: item.text, ...item.origin }) },
  ];
}

const message = component('CompletionMessage', "The model's answer.", {
  role: constant('assistant'),
  content: text('The text; null when there are only calls, and for a refusal.').nullable(),
  refusal: text('The words with which the model declines to answer; null when it does not.').nullable(),
  reasoning_content: text("The model's thinking, if the model reports it.").optional(),
  reasoning_details: list(
    'What the model provider demands to see again; absent when it demands nothing. Give the message back as it is.',
    reasoningDetail,
  ).optional(),
  tool_calls: list('Calls that the client is asked to make; absent when there are none.', toolCall).optional(),
  annotations: list('Citations; absent when there are none.', annotation).optional(),
  images: list('Images that tools of the service made; absent when there are none.', image).optional(),
  files: list('Other files that tools of the service made; absent when there are none.', madeFile)
    .meta({ ...isExtension, ...behaves('tool-files') })
    .optional(),
});

function toMessage({ output }: RunSnapshot, context: EncoderContext): Sent<typeof message> {
  const calls = output.filter(isCall).map((call) => toToolCall(awaitedCall(call)));
  const refusal = findRefusal(output);
  const isSilent = refusal !== undefined || (calls.length > 0 && !output.some(({ type }) => type === 'message'));
  return {
    role: 'assistant',
    content: isSilent ? null : readAnswerText(output),
    refusal: refusal ?? null,
    reasoning_content: readReasoning(output),
    reasoning_details: unlessEmpty(output.flatMap(toReasoningDetails)),
    tool_calls: unlessEmpty(calls),
    annotations: unlessEmpty(listCitations(output).map(toAnnotation)),
    ...madeMembers(output, context),
  };
}

const completion = component('Completion', 'The reply to a stateless completion: nothing of it is kept.', {
  id: text('The id of this reply, for logs.'),
  object: constant('chat.completion'),
  created: integer('Seconds since 1970.'),
  model: text('The model as the request named it.'),
  choices: list(
    'The answer.',
    component('CompletionChoice', 'One answer; there is always exactly one.', {
      index: integer('Always 0.'),
      message,
      logprobs: choiceLogprobs
        .nullable()
        .meta({ description: 'With `logprobs: true`, where the provider tells them; else null.' }),
      finish_reason: oneOfTexts('Why the answer ended.', finishReasons),
    }),
  ),
  service_tier: text('The class of service in which the provider answered; absent where it does not say.').optional(),
  usage,
  chatId: text('Opaque; different in every reply; names nothing that can be fetched.'),
  incomplete_details: incompleteDetails.meta({ ...isExtension, ...behaves('incomplete-reasons') }).optional(),
  flow_steps: list('The finished steps of the flow that answered; absent where they are not shown.', flowStep)
    .meta({ ...isExtension, ...behaves('flow-steps') })
    .optional(),
  warnings: list('What of the agent or the request has no effect; absent when everything has.', reference('Warning'))
    .meta({ ...isExtension, ...behaves('warnings') })
    .optional(),
});

function toCompletion(run: RunSnapshot, variables: Variables, context: EncoderContext): Sent<typeof completion> {
  const { id, created, model, chatId } = makeNames(run.runId, variables, context);
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      { index: 0, message: toMessage(run, context), logprobs: toLogprobs(run.output), finish_reason: toFinishReason(run) },
    ],
    service_tier: run.serviceTier,
    usage: toUsage(run),
    chatId,
    incomplete_details: toIncompleteDetails(run),
    flow_steps: unlessEmpty((run.flowSteps ?? []).map(toWireFlowStep)),
    warnings: shownWarnings(run.warnings ?? [], context),
  };
}

/** A reply has the id of its run. The same random part makes its chat id; a completion has no chat. */
export function makeNames(id: string, variables: Variables, { nowMs }: EncoderContext) {
  const { model } = variables.input as { readonly model: string };
  return { id, created: Math.floor(nowMs / 1000), model, chatId: statelessChatId(id) };
}

/** The reply in one piece. */
export const completionReply: WireReply = {
  schema: 'Completion',
  fold: (variables, context) =>
    foldOfEnd(
      (run) => toCompletion(requireAnswer(run), variables, context),
      ({ selection }) => (selection === null ? {} : { 'x-parley-model': headerText(`${selection.provider}/${selection.model}`) }),
    ),
};

function isCall(item: RunItem): item is Extract<RunItem, { readonly type: 'function_call' }> {
  return item.type === 'function_call';
}

/** Model names come from the provider; a header allows only plain ASCII. */
function headerText(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}
