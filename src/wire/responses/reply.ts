import { z } from 'zod';
import { RunFold } from '../../engine/runs/events/fold.ts';
import { incompleteReasons, type RunError, type RunSnapshot } from '../../entities/conversations/runs/event.ts';
import type { ResponseHead, WireObject } from '../../entities/conversations/runs/response.ts';
import type { Usage } from '../../entities/conversations/runs/usage.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { type EncoderContext, shownWarnings, type WireReply } from '../ground/encoder.ts';
import { listOfItems, type StoredItems } from '../ground/envelopes.ts';
import { flowStep, selection, toWireFlowStep, toWireSelection } from '../ground/run-parts.ts';
import {
  behaves,
  component,
  constant,
  flag,
  integer,
  isExtension,
  list,
  number,
  oneOfTexts,
  reference,
  type Sent,
  text,
} from '../ground/schema.ts';
import { toErrorKind } from './errors.ts';
import { compactionItem, inputItem, inputMessage, storedItem } from './items.ts';
import { isAdded, outputItem, toWireItem } from './output-items.ts';
import { type ReadInput, responseReasoning, responseText } from './request.ts';
import { responseTool, responseToolChoice } from './tools.ts';

/** The replies of the responses format: their schemas, and their encoders. */

export const usage = component('ResponseUsage', 'Tokens, as the models counted them.', {
  input_tokens: integer('Input tokens.'),
  input_tokens_details: component('InputTokensDetails', 'Of the tokens read.', {
    cached_tokens: integer('Tokens that the provider read from its cache.'),
  }).meta({ description: '`cached_tokens`: input tokens that the provider read from its cache.' }),
  output_tokens: integer('Output tokens.'),
  output_tokens_details: component('OutputTokensDetails', 'Of the tokens written.', {
    reasoning_tokens: integer('Tokens spent on thinking.'),
  }).meta({ description: '`reasoning_tokens`: output tokens spent on thinking.' }),
  total_tokens: integer('Input and output tokens together.'),
  estimated: flag(
    'True where the service estimated some of them, because a model was cut off or its provider counted nothing; absent where all are counted.',
    { ...isExtension, ...behaves('estimated-usage') },
  ).optional(),
});

export function toWireUsage(tokens: Usage, takesExtensions: boolean): Sent<typeof usage> {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens, isEstimated } = tokens;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
    estimated: takesExtensions ? isEstimated : undefined,
  };
}

const error = component('ResponseError', 'Why a response failed.', {
  code: text('As `error.code` of REST errors.'),
  message: text('For a person to read.'),
  type: text('The kind of error.'),
  param: z.null().meta({ description: 'Always null.' }),
});

/** With `type` and `param`: some clients read the error of a failed response like an error reply. */
function toWireError({ code, message }: RunError): Sent<typeof error> {
  return { code: code.toLowerCase(), message, type: toErrorKind(code).type, param: null };
}

/** Members that repeat the request. They are made once, when the response begins, and stored with it. */
const echo = z.object({
  instructions: text('Of this response only; null when the request had none.').nullable(),
  max_output_tokens: integer('Most tokens of one answer of the model; null for no limit.').nullable(),
  max_tool_calls: integer('Most calls of tools of the service; null for no limit.').nullable(),
  model: text('The model as the request named it.'),
  parallel_tool_calls: flag('Whether one turn may have several calls.'),
  previous_response_id: text('The response that it continues, as the request named it.').nullable(),
  reasoning: responseReasoning.meta({ description: 'How the model thinks: `effort` and `summary`.' }),
  store: flag('Whether it is kept.'),
  background: flag('Whether it continues without a reader.'),
  temperature: number('As the request set it, or 1: models have defaults of their own.'),
  top_p: number('As the request set it, or 1.'),
  presence_penalty: number('As the request set it, or 0.'),
  frequency_penalty: number('As the request set it, or 0.'),
  top_logprobs: integer('How many likely tokens are returned for each position, from 0.'),
  text: responseText.meta({ description: 'The form of the text: `format` and `verbosity`.' }),
  tool_choice: responseToolChoice.meta({
    description: 'How the model chooses among the tools; `auto` when the request did not say.',
  }),
  tools: list('The tools of the request.', responseTool),
  truncation: text('`disabled` refuses what is too long, `auto` leaves out the oldest turns.'),
  metadata: z.record(z.string(), z.string()).meta({ description: 'Texts by name, as the request gave them.' }),
  user: text('The value of the request.').nullable(),
  safety_identifier: text('The value of the request.').nullable(),
  prompt_cache_key: text('The value of the request.').nullable(),
});
export type ResponseEcho = Sent<typeof echo>;

/** What of an echo is not in the request as it was read. */
export interface EchoParts {
  readonly model: string;
  readonly format: unknown;
  readonly tools: readonly WireObject[];
  readonly toolChoice: unknown;
  readonly metadata: WireObject;
  /** As the run uses it: of the request, else of the agent. */
  readonly sampling: {
    readonly maxTokens?: number;
    readonly temperature?: number;
    readonly topP?: number;
    readonly presencePenalty?: number;
    readonly frequencyPenalty?: number;
  };
}

export function toEcho(input: ReadInput, parts: EchoParts): ResponseEcho {
  const { reasoning, text: form } = input;
  const { format, tools, toolChoice, metadata, sampling } = parts;
  return {
    instructions: input.instructions ?? null,
    max_tool_calls: input.maxToolCalls ?? null,
    parallel_tool_calls: input.parallelToolCalls ?? true,
    previous_response_id: input.previousResponseId ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    store: input.store !== false,
    background: input.background === true,
    top_logprobs: input.topLogprobs ?? 0,
    text: { format, verbosity: form?.verbosity ?? undefined } as ResponseEcho['text'],
    tool_choice: toolChoice as ResponseEcho['tool_choice'],
    tools: tools as ResponseEcho['tools'],
    truncation: input.truncation ?? 'disabled',
    metadata: metadata as ResponseEcho['metadata'],
    user: input.user ?? null,
    safety_identifier: input.safetyIdentifier ?? null,
    prompt_cache_key: input.promptCacheKey ?? null,
    model: parts.model,
    max_output_tokens: sampling.maxTokens ?? null,
    temperature: sampling.temperature ?? 1,
    top_p: sampling.topP ?? 1,
    presence_penalty: sampling.presencePenalty ?? 0,
    frequency_penalty: sampling.frequencyPenalty ?? 0,
  };
}

/** The echo that a response was begun with. */
export function echoIn({ echo: storedEcho }: ResponseHead): ResponseEcho {
  return storedEcho as ResponseEcho;
}

export const response = component(
  'Response',
  'A run of the responses format: one turn of a thread, or a run of its own that is not stored.',
  {
    id: text('The id of the response.'),
    object: constant('response'),
    created_at: integer('Seconds since 1970.'),
    completed_at: integer('Seconds since 1970; null unless it completed.').nullable(),
    status: reference('RunStatus', 'Its status.').meta({
      'x-parley-extension-values': ['cancelled'],
      ...behaves('status-cancelled'),
    }),
    error: error.nullable().meta({ description: 'Why it failed.' }),
    incomplete_details: component('ResponseIncompleteDetails', 'Why a response was cut.', {
      reason: oneOfTexts('Why it was cut.', incompleteReasons, {
        'x-parley-extension-values': ['paused', 'max_tool_calls', 'timeout'],
        ...behaves('incomplete-reasons'),
      }),
    })
      .nullable()
      .meta({ description: 'Why it was cut.' }),
    ...echo.shape,
    service_tier: text('The class of service that the provider reported; `default` while it reported none.'),
    output: list('The output items in the form of the format.', outputItem),
    conversation: component('ResponseConversation', 'The thread of a response.', { id: text('The id of a chat.') })
      .nullable()
      .meta({ description: 'Its thread; null when it is not stored.' }),
    usage: usage.nullable().meta({ description: 'The tokens used; null until the end.' }),
    flow_steps: list('The finished steps of the flow that answered; absent where they are not shown.', flowStep)
      .meta({ ...isExtension, ...behaves('flow-steps') })
      .optional(),
    warnings: list('What of the agent or the request has no effect; absent when everything has.', reference('Warning'))
      .meta({ ...isExtension, ...behaves('warnings') })
      .optional(),
    selection_metadata: selection
      .nullable()
      .meta({
        description: 'Which model answered and how it was chosen; null until its end.',
        ...isExtension,
        ...behaves('selection-metadata'),
      })
      .optional(),
  },
);

/** A response with every member: in replies, and in the events that show it whole. */
export function toResponse(
  run: RunSnapshot,
  head: ResponseHead,
  { takesExtensions }: Pick<EncoderContext, 'takesExtensions'>,
): Sent<typeof response> {
  const { output, incompleteReason: reason, completedAtMs } = run;
  const visibleItems = takesExtensions ? output : output.filter((item) => !isAdded(item));
  const warnings = shownWarnings([...(head.warnings ?? []), ...(run.warnings ?? [])], { takesExtensions })?.map(warningInFormat);
  return {
    id: run.runId,
    object: 'response',
    created_at: head.createdAt,
    completed_at: completedAtMs === undefined ? null : Math.floor(completedAtMs / 1000),
    status: run.status,
    error: run.error === null ? null : toWireError(run.error),
    incomplete_details: reason === null ? null : { reason },
    ...echoIn(head),
    service_tier: run.serviceTier ?? 'default',
    output: visibleItems.map((item) => toWireItem(item, head.includes)),
    conversation: head.conversationId === null ? null : { id: head.conversationId },
    usage: run.usage === null ? null : toWireUsage(run.usage, takesExtensions),
    warnings,
    ...(takesExtensions
      ? {
          flow_steps: run.flowSteps?.map(toWireFlowStep),
          selection_metadata: run.selection === null ? null : toWireSelection(run.selection),
        }
      : {}),
  };
}

/** Members that this format calls otherwise than the completions format. */
const memberNames: Readonly<Record<string, string>> = {
  response_format: 'text.format',
  reasoning_effort: 'reasoning.effort',
  max_completion_tokens: 'max_output_tokens',
  verbosity: 'text.verbosity',
  logprobs: 'top_logprobs',
};

function warningInFormat(warning: Warning): Warning {
  const name = warning.param === null ? undefined : memberNames[warning.param];
  if (warning.param === null || name === undefined) return warning;
  return { ...warning, param: name, message: warning.message.replace(warning.param, name) };
}

/** The reply in one piece. `status` and `error` report a failed run. */
export const responseReply: WireReply = {
  schema: 'Response',
  hasExtensions: true,
  encode: (run: RunSnapshot, context) => {
    if (run.head === undefined) throw new Error('a response has a head');
    return toResponse(run, run.head, context);
  },
  fold(_variables, context) {
    const fold = new RunFold();
    let head: ResponseHead | undefined;
    return {
      add(events) {
        const [first] = events;
        if (first?.type === 'response.created') head ??= first.run.head;
        fold.add(events);
      },
      body() {
        if (head === undefined) throw new Error('the log of a response begins with its head');
        return toResponse(fold.snapshot(), head, context);
      },
    };
  },
};

const itemList = component('ResponseItemList', 'A page of input items.', {
  object: constant('list'),
  data: list('The items in the form of the format.', inputItem),
  first_id: text('Of the first item.').nullable(),
  last_id: text('Of the last item; give it as `after`.').nullable(),
  has_more: flag('Whether there are more behind it.'),
});

/** A page of input items, as they are stored. */
export const itemListReply: WireReply = {
  schema: 'ResponseItemList',
  encode: (page: StoredItems): Sent<typeof itemList> => listOfItems(page, storedItem),
};

const deletedResponse = component('DeletedResponse', 'A response that was deleted.', {
  id: text('The id of the deleted response.'),
  object: constant('response'),
  deleted: constant(true),
});

export const deletedReply: WireReply = {
  schema: 'DeletedResponse',
  encode: (id: string): Sent<typeof deletedResponse> => ({ id, object: 'response', deleted: true }),
};

const compaction = component('Compaction', 'A conversation in short: items that a new chain of responses can begin with.', {
  id: text('The id for logs.'),
  object: constant('response.compaction'),
  created_at: integer('Seconds since 1970.'),
  output: list('The messages of the user, and one item that summarizes the rest.', z.xor([inputMessage, compactionItem])),
  usage: usage.meta({ description: 'The tokens used.' }),
});

/** A conversation in short. */
export interface CompactedConversation {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly output: readonly WireObject[];
  readonly usage: Usage;
}

export const compactionReply: WireReply = {
  schema: 'Compaction',
  encode: ({ id, createdAt, output, usage: tokens }: CompactedConversation): Sent<typeof compaction> => ({
    id,
    object: 'response.compaction',
    created_at: createdAt,
    output: output as Sent<typeof compaction>['output'],
    usage: toWireUsage(tokens, true),
  }),
};

const inputTokens = component('ResponseInputTokens', 'How long the input of a request for a response is.', {
  object: constant('response.input_tokens'),
  input_tokens: integer('Tokens, as the service estimates them.'),
});

export const inputTokensReply: WireReply = {
  schema: 'ResponseInputTokens',
  encode: (tokens: number): Sent<typeof inputTokens> => ({ object: 'response.input_tokens', input_tokens: tokens }),
};
