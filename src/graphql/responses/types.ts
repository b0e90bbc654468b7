import type { Compaction } from '../../domain/responses/compact.ts';
import type { ResponseState } from '../../domain/responses/lifecycle.ts';
import { responseObject, usageOf } from '../../domain/responses/wire.ts';
import type { RunItem } from '../../entities/runs/event.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import type { Warning } from '../../entities/warning.ts';
import { takesExtensions } from '../../http/extensions.ts';
import { builder } from '../builder/builder.ts';
import type { GraphContext } from '../builder/context.ts';
import { FlowStepType } from '../runs/flow-steps.ts';
import { RunItemType, RunStatusType } from '../runs/parts.ts';
import { WarningType } from '../types/warnings.ts';

/** A response and its wire form, which is made once. */
export interface ResponseView {
  readonly state: ResponseState;
  readonly wire: WireObject;
}

const ErrorType = builder.objectRef<WireObject>('ResponseError').implement({
  description: 'Why a response failed.',
  fields: (t) => ({
    code: t.string({ description: 'As `error.code` of REST errors.', resolve: (error) => String(error.code) }),
    message: t.string({ description: 'For a person to read.', resolve: (error) => String(error.message) }),
    type: t.string({ description: 'The kind of error.', resolve: (error) => String(error.type) }),
    param: t.string({ nullable: true, description: 'Always null.', resolve: () => null }),
  }),
});

const IncompleteType = builder.objectRef<WireObject>('ResponseIncompleteDetails').implement({
  description: 'Why a response was cut.',
  fields: (t) => ({
    reason: t.string({
      description: 'max_output_tokens, content_filter, paused, max_tool_calls or timeout.',
      resolve: ({ reason }) => String(reason),
    }),
  }),
});

const ConversationType = builder.objectRef<WireObject>('ResponseConversation').implement({
  description: 'The thread of a response.',
  fields: (t) => ({ id: t.id({ description: 'The id of a chat.', resolve: ({ id }) => String(id) }) }),
});

const UsageType = builder.objectRef<WireObject>('ResponseUsage').implement({
  description: 'Tokens, as the models counted them.',
  fields: (t) => ({
    inputTokens: t.int({ description: 'Input tokens.', resolve: (usage) => Number(usage.input_tokens) }),
    inputTokensDetails: t.field({
      type: 'JSON',
      description: '`cached_tokens`: input tokens that the provider read from its cache.',
      resolve: (usage) => usage.input_tokens_details,
    }),
    outputTokens: t.int({ description: 'Output tokens.', resolve: (usage) => Number(usage.output_tokens) }),
    outputTokensDetails: t.field({
      type: 'JSON',
      description: '`reasoning_tokens`: output tokens spent on thinking.',
      resolve: (usage) => usage.output_tokens_details,
    }),
    totalTokens: t.int({ description: 'Input and output tokens together.', resolve: (usage) => Number(usage.total_tokens) }),
    isEstimated: t.boolean({
      nullable: true,
      description:
        'True where the service estimated some of them, because a model was cut off or its provider counted nothing; null where all are counted.',
      resolve: (usage) => (usage.estimated === true ? true : null),
    }),
  }),
});

export const ResponseType = builder.objectRef<ResponseView>('Response').implement({
  description: 'A run of the responses format: one turn of a thread, or a run of its own that is not stored.',
  fields: (t) => {
    const json = (name: string, description: string) => t.field({ type: 'JSON', description, resolve: ({ wire }) => wire[name] });
    const text = (name: string, description: string) =>
      t.string({ nullable: true, description, resolve: ({ wire }) => wire[name] as string | null });
    const said = (name: string, description: string) => t.string({ description, resolve: ({ wire }) => String(wire[name]) });
    const number = (name: string, description: string) => t.float({ description, resolve: ({ wire }) => Number(wire[name]) });
    const flag = (name: string, description: string) => t.boolean({ description, resolve: ({ wire }) => wire[name] === true });
    const seconds = (name: string, description: string) =>
      t.int({ nullable: true, description, resolve: ({ wire }) => wire[name] as number | null });
    return {
      id: t.id({ description: 'The id of the response.', resolve: ({ wire }) => String(wire.id) }),
      object: t.string({ description: 'Always `response`.', resolve: () => 'response' }),
      createdAt: t.int({ description: 'Seconds since 1970.', resolve: ({ wire }) => Number(wire.created_at) }),
      completedAt: seconds('completed_at', 'Seconds since 1970; null unless it completed.'),
      status: t.field({
        type: RunStatusType,
        description: 'Its status.',
        resolve: ({ state }) => state.run.status,
      }),
      error: t.field({
        type: ErrorType,
        nullable: true,
        description: 'Why it failed.',
        resolve: ({ wire }) => wire.error as WireObject | null,
      }),
      incompleteDetails: t.field({
        type: IncompleteType,
        nullable: true,
        description: 'Why it was cut.',
        resolve: ({ wire }) => wire.incomplete_details as WireObject | null,
      }),
      instructions: text('instructions', 'Of this response only; null when the request had none.'),
      maxOutputTokens: seconds('max_output_tokens', 'Most tokens of one answer of the model; null for no limit.'),
      maxToolCalls: seconds('max_tool_calls', 'Most calls of tools of the service; null for no limit.'),
      model: said('model', 'The model as the request named it.'),
      output: t.field({
        type: ['JSON'],
        description: 'The output items in the form of the format.',
        resolve: ({ wire }) => wire.output as unknown[],
      }),
      items: t.field({
        type: [RunItemType],
        description: 'The same items, typed.',
        resolve: ({ state }): RunItem[] => [...state.run.output],
      }),
      parallelToolCalls: flag('parallel_tool_calls', 'Whether one turn may have several calls.'),
      previousResponseId: text('previous_response_id', 'The response that it continues, as the request named it.'),
      conversation: t.field({
        type: ConversationType,
        nullable: true,
        description: 'Its thread; null when it is not stored.',
        resolve: ({ wire }) => wire.conversation as WireObject | null,
      }),
      reasoning: json('reasoning', 'How the model thinks: `effort` and `summary`.'),
      store: flag('store', 'Whether it is kept.'),
      background: flag('background', 'Whether it continues without a reader.'),
      temperature: number('temperature', 'As the request set it, or 1: models have defaults of their own.'),
      topP: number('top_p', 'As the request set it, or 1.'),
      presencePenalty: number('presence_penalty', 'As the request set it, or 0.'),
      frequencyPenalty: number('frequency_penalty', 'As the request set it, or 0.'),
      topLogprobs: t.int({
        description: 'How many likely tokens are returned for each position, from 0.',
        resolve: ({ wire }) => Number(wire.top_logprobs),
      }),
      text: json('text', 'The form of the text: `format` and `verbosity`.'),
      toolChoice: json('tool_choice', 'How the model chooses among the tools; `auto` when the request did not say.'),
      tools: json('tools', 'The tools of the request.'),
      truncation: said('truncation', '`disabled` refuses what is too long, `auto` leaves out the oldest turns.'),
      serviceTier: said('service_tier', 'The class of service that the provider reported; `default` while it reported none.'),
      metadata: json('metadata', 'Texts by name, as the request gave them.'),
      user: text('user', 'The value of the request.'),
      safetyIdentifier: text('safety_identifier', 'The value of the request.'),
      promptCacheKey: text('prompt_cache_key', 'The value of the request.'),
      usage: t.field({
        type: UsageType,
        nullable: true,
        description: 'The tokens used; null until the end.',
        resolve: ({ wire }) => wire.usage as WireObject | null,
      }),
      selectionMetadata: t.field({
        type: 'JSON',
        nullable: true,
        description: 'Which model answered and how it was chosen; null until its end.',
        resolve: ({ wire }) => wire.selection_metadata ?? null,
      }),
      flowSteps: t.field({
        type: [FlowStepType],
        nullable: true,
        description: 'The finished steps of the flow that answered, where the agent or the request shows them; else null.',
        resolve: ({ state, wire }) => (wire.flow_steps === undefined ? null : [...(state.run.flowSteps ?? [])]),
      }),
      warnings: t.field({
        type: [WarningType],
        nullable: true,
        description: 'What of the agent has no effect; null when everything has.',
        resolve: ({ wire }) => (wire.warnings as Warning[] | undefined) ?? null,
      }),
    };
  },
});

export interface ItemList {
  readonly items: readonly WireObject[];
  readonly hasMore: boolean;
}
export const ItemListType = builder.objectRef<ItemList>('ResponseItemList').implement({
  description: 'A page of input items.',
  fields: (t) => ({
    object: t.string({ description: 'Always `list`.', resolve: () => 'list' }),
    data: t.field({ type: ['JSON'], description: 'The items in the form of the format.', resolve: ({ items }) => [...items] }),
    firstId: t.string({ nullable: true, description: 'Of the first item.', resolve: ({ items }) => idOf(items[0]) }),
    lastId: t.string({
      nullable: true,
      description: 'Of the last item; give it as `after`.',
      resolve: ({ items }) => idOf(items.at(-1)),
    }),
    hasMore: t.exposeBoolean('hasMore', { description: 'Whether there are more behind it.' }),
  }),
});

export const DeletedType = builder.objectRef<string>('DeletedResponse').implement({
  description: 'A response that was deleted.',
  fields: (t) => ({
    id: t.id({ description: 'The id of the deleted response.', resolve: (id) => id }),
    object: t.string({ description: 'Always `response`.', resolve: () => 'response' }),
    deleted: t.boolean({ description: 'Always true.', resolve: () => true }),
  }),
});

export const CompactionType = builder.objectRef<Compaction>('Compaction').implement({
  description: 'A conversation in short: items that a new chain of responses can begin with.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id for logs.' }),
    object: t.string({ description: 'Always `response.compaction`.', resolve: () => 'response.compaction' }),
    createdAt: t.exposeInt('createdAt', { description: 'Seconds since 1970.' }),
    output: t.field({
      type: ['JSON'],
      description: 'The messages of the user, and one item that summarizes the rest.',
      resolve: ({ output }) => [...output],
    }),
    usage: t.field({
      type: UsageType,
      description: 'The tokens used.',
      resolve: ({ usage }) => usageOf(usage, { hasExtensions: true }),
    }),
  }),
});

export const InputTokensType = builder.objectRef<number>('ResponseInputTokens').implement({
  description: 'How long the input of a request for a response is.',
  fields: (t) => ({
    object: t.string({ description: 'Always `response.input_tokens`.', resolve: () => 'response.input_tokens' }),
    inputTokens: t.int({ description: 'Tokens, as the service estimates them.', resolve: (tokens) => tokens }),
  }),
});

/** A response in the form for this caller. */
export function viewOf(state: ResponseState, context: GraphContext): ResponseView {
  const hasExtensions = takesExtensions(context.header?.bind(context));
  return { state, wire: responseObject(state.head, state.run, { hasExtensions }) };
}

function idOf(item: WireObject | undefined): string | null {
  return typeof item?.id === 'string' ? item.id : null;
}
