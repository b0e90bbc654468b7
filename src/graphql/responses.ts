import { type Compaction, compactResponse } from '../domain/responses/compact.ts';
import { type BegunResponse, beginResponse } from '../domain/responses/create.ts';
import { listActiveRuns, watchActiveRuns } from '../domain/responses/dashboard.ts';
import {
  cancelResponse,
  createResponse,
  deleteResponse,
  followResponse,
  getResponse,
  listInputItems,
  pauseResponse,
  type ResponseState,
  resumeResponse,
  stateOf,
} from '../domain/responses/lifecycle.ts';
import { responseObject, usageOf } from '../domain/responses/wire.ts';
import type { WireObject } from '../entities/response.ts';
import type { RunItem } from '../entities/run-event.ts';
import { builder, type GraphContext } from './builder.ts';
import { wireEnumOf } from './enums.ts';
import { ResponseInputType, ResumeResponseInputType } from './response-inputs.ts';
import { RunEventType, RunItemType, RunStatusType } from './run-events.ts';
import { RunType } from './runs.ts';

/** A response with its form on the wire, made once. */
interface ResponseView {
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
      description: 'max_output_tokens, content_filter or paused.',
      extensions: { openapi: { 'x-parley-extension-values': ['paused'] } },
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
    inputTokens: t.int({ description: 'Tokens read.', resolve: (usage) => Number(usage.input_tokens) }),
    inputTokensDetails: t.field({
      type: 'JSON',
      description: '`cached_tokens`: those the model had read before.',
      resolve: (usage) => usage.input_tokens_details,
    }),
    outputTokens: t.int({ description: 'Tokens written.', resolve: (usage) => Number(usage.output_tokens) }),
    outputTokensDetails: t.field({
      type: 'JSON',
      description: '`reasoning_tokens`: those spent on thinking.',
      resolve: (usage) => usage.output_tokens_details,
    }),
    totalTokens: t.int({ description: 'Both together.', resolve: (usage) => Number(usage.total_tokens) }),
  }),
});

const ResponseType = builder.objectRef<ResponseView>('Response').implement({
  description: 'A run of the responses format: one turn of a thread, or a run of its own that is not stored.',
  fields: (t) => {
    const json = (name: string, description: string) => t.field({ type: 'JSON', description, resolve: ({ wire }) => wire[name] });
    const text = (name: string, description: string) =>
      t.string({ nullable: true, description, resolve: ({ wire }) => wire[name] as string | null });
    const number = (name: string, description: string) => t.float({ description, resolve: ({ wire }) => Number(wire[name]) });
    const flag = (name: string, description: string) => t.boolean({ description, resolve: ({ wire }) => wire[name] === true });
    const seconds = (name: string, description: string) =>
      t.int({ nullable: true, description, resolve: ({ wire }) => wire[name] as number | null });
    return {
      id: t.id({ description: 'Names the response.', resolve: ({ wire }) => String(wire.id) }),
      object: t.string({ description: 'Always `response`.', resolve: () => 'response' }),
      createdAt: t.int({ description: 'Seconds since 1970.', resolve: ({ wire }) => Number(wire.created_at) }),
      completedAt: seconds('completed_at', 'Seconds since 1970; null unless it completed.'),
      status: t.field({
        type: RunStatusType,
        description: 'How far it is.',
        extensions: { openapi: { 'x-parley-extension-values': ['cancelled'] } },
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
      instructions: text('instructions', 'Of the request.'),
      maxOutputTokens: seconds('max_output_tokens', 'Of the request.'),
      maxToolCalls: seconds('max_tool_calls', 'Of the request.'),
      model: text('model', 'As the request named it.'),
      output: t.field({
        type: ['JSON'],
        description: 'The output items in the form of the format.',
        extensions: { openapi: { 'x-parley-extension-values': ['server_tool_call', 'server_tool_call_output'] } },
        resolve: ({ wire }) => wire.output as unknown[],
      }),
      items: t.field({
        type: [RunItemType],
        description: 'The same items, typed.',
        resolve: ({ state }): RunItem[] => [...state.run.output],
      }),
      parallelToolCalls: flag('parallel_tool_calls', 'Of the request.'),
      previousResponseId: text('previous_response_id', 'Of the request.'),
      conversation: t.field({
        type: ConversationType,
        nullable: true,
        description: 'Its thread; null when it is not stored.',
        resolve: ({ wire }) => wire.conversation as WireObject | null,
      }),
      reasoning: json('reasoning', 'Of the request: `effort` and `summary`.'),
      store: flag('store', 'Whether it is kept.'),
      background: flag('background', 'Whether it goes on without a reader.'),
      temperature: number('temperature', 'Of the request.'),
      topP: number('top_p', 'Of the request.'),
      presencePenalty: number('presence_penalty', 'Of the request.'),
      frequencyPenalty: number('frequency_penalty', 'Of the request.'),
      topLogprobs: number('top_logprobs', 'Of the request.'),
      text: json('text', 'Of the request: the form of the text.'),
      toolChoice: json('tool_choice', 'Of the request.'),
      tools: json('tools', 'Of the request.'),
      truncation: text('truncation', 'Of the request.'),
      serviceTier: text('service_tier', 'Of the request.'),
      metadata: json('metadata', 'Of the request.'),
      user: text('user', 'Of the request.'),
      safetyIdentifier: text('safety_identifier', 'Of the request.'),
      promptCacheKey: text('prompt_cache_key', 'Of the request.'),
      usage: t.field({
        type: UsageType,
        nullable: true,
        description: 'What it cost; null until its end.',
        resolve: ({ wire }) => wire.usage as WireObject | null,
      }),
      selectionMetadata: t.field({
        type: 'JSON',
        nullable: true,
        description: 'Which model answered and how it was chosen; null until its end.',
        extensions: { openapi: { 'x-parley-extension': true } },
        resolve: ({ wire }) => wire.selection_metadata ?? null,
      }),
    };
  },
});

interface ItemList {
  readonly items: readonly WireObject[];
  readonly hasMore: boolean;
}
const ItemListType = builder.objectRef<ItemList>('ResponseItemList').implement({
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

const DeletedType = builder.objectRef<string>('DeletedResponse').implement({
  description: 'A response that was deleted.',
  fields: (t) => ({
    id: t.id({ description: 'What it was called.', resolve: (id) => id }),
    object: t.string({ description: 'Always `response`.', resolve: () => 'response' }),
    deleted: t.boolean({ description: 'Always true.', resolve: () => true }),
  }),
});

const CompactionType = builder.objectRef<Compaction>('Compaction').implement({
  description: 'A conversation in short: items that a new chain of responses can begin with.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names it, for logs.' }),
    object: t.string({ description: 'Always `response.compaction`.', resolve: () => 'response.compaction' }),
    createdAt: t.exposeInt('createdAt', { description: 'Seconds since 1970.' }),
    output: t.field({
      type: ['JSON'],
      description: 'What the user said, and one item that stands for the rest.',
      resolve: ({ output }) => [...output],
    }),
    usage: t.field({ type: UsageType, description: 'What it cost.', resolve: ({ usage }) => usageOf(usage) }),
  }),
});

const OrderType = wireEnumOf('ItemOrder', 'The order of a list of items.', ['asc', 'desc'], {
  asc: 'The first item first.',
  desc: 'The last item first.',
});

const idArg = 'The id of the response.';
const inputArg = 'The request.';

builder.queryFields((t) => ({
  response: t.field({
    type: ResponseType,
    description: 'A stored response of the caller as it is now. NOT_FOUND when there is none.',
    args: {
      id: t.arg.id({ description: idArg }),
      stream: t.arg.boolean({ required: false, description: 'REST: whether to answer as an event stream.' }),
      startingAfter: t.arg.int({ required: false, description: 'REST: the number of the last event that is known already.' }),
      includeObfuscation: t.arg.boolean({ required: false, description: 'REST: ignored.' }),
    },
    resolve: async (_root, { id }, context) => viewOf(await getResponse(context.deps, context.caller, id), context),
  }),
  responseInputItems: t.field({
    type: ItemListType,
    description: 'The items a response was given, with those that joined it.',
    args: {
      id: t.arg.id({ description: idArg }),
      after: t.arg.string({ required: false, description: 'The id of the item before the page.' }),
      limit: t.arg.int({ required: false, description: 'From 1 to 100; default 20.' }),
      order: t.arg({ type: OrderType, required: false, description: 'Default desc.' }),
    },
    resolve: (_root, { id, ...page }, { deps, caller }) =>
      listInputItems(deps, caller, id, page as Parameters<typeof listInputItems>[3]),
  }),
  activeRuns: t.field({
    type: [RunType],
    description:
      "The organization's runs that are not over, the newest first; at most 500. For administrators; others see their own.",
    resolve: (_root, _args, { deps, caller }) => listActiveRuns(deps, caller) as never,
  }),
}));

builder.mutationFields((t) => ({
  createResponse: t.field({
    type: ResponseType,
    description:
      'Begins a response. A stored one is answered at once and goes on by itself: follow it with `responseEvents`. One that is not stored is answered at its end.',
    args: { input: t.arg({ type: ResponseInputType, description: inputArg }) },
    resolve: async (_root, { input }, context) =>
      viewOf(await createResponse(context.deps, context.caller, input, context.signal), context),
  }),
  cancelResponse: t.field({
    type: ResponseType,
    description:
      'Stops a response and answers when it is over. One that is over is returned as it is; a paused one is cancelled.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: async (_root, { id }, context) => viewOf(await cancelResponse(context.deps, context.caller, id), context),
  }),
  pauseResponse: t.field({
    type: ResponseType,
    description: 'Pauses a response at its next boundary and answers when it is paused. RESPONSE_NOT_ACTIVE when it is over.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: async (_root, { id }, context) => viewOf(await pauseResponse(context.deps, context.caller, id), context),
  }),
  resumeResponse: t.field({
    type: ResponseType,
    description: 'Lets a paused response go on under the same id. Answers at once; RESPONSE_NOT_PAUSED when it is not paused.',
    args: {
      id: t.arg.id({ description: idArg }),
      input: t.arg({ type: ResumeResponseInputType, required: false, description: 'How it goes on.' }),
    },
    resolve: async (_root, { id, input }, context) => {
      const { deps, caller, signal } = context;
      const { events } = await resumeResponse(deps, caller, id, { ...input, stream: false, background: true }, signal);
      return viewOf(await stateOf(events), context);
    },
  }),
  compactResponse: t.field({
    type: CompactionType,
    description: 'Puts a conversation into few items that a new chain of responses can begin with. Nothing is stored.',
    args: { input: t.arg({ type: ResponseInputType, description: 'The conversation, as in a request for a response.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => compactResponse(deps, caller, input, signal),
  }),
  deleteResponse: t.field({
    type: DeletedType,
    description: 'Deletes a response with what it left in its thread; one at work is stopped first.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: (_root, { id }, { deps, caller }) => deleteResponse(deps, caller, id),
  }),
}));

builder.subscriptionFields((t) => ({
  newResponseEvents: t.field({
    type: RunEventType,
    description:
      'Begins a response and shows it while it happens. Leaving cancels it, unless it is stored and in the background or others joined it.',
    args: { input: t.arg({ type: ResponseInputType, description: inputArg }) },
    subscribe: async (_root, { input }, context) => {
      const begun = await beginResponse(context.deps, context.caller, input, context.signal);
      note(begun, context);
      return begun.events;
    },
    resolve: (event) => event,
  }),
  responseEvents: t.field({
    type: RunEventType,
    description: 'What happened in a response after `afterSequence`, then what happens. Leaving stops nothing.',
    args: {
      id: t.arg.id({ description: idArg }),
      afterSequence: t.arg.int({
        required: true,
        defaultValue: -1,
        description: 'The last event that is known already; -1 for none.',
      }),
    },
    subscribe: (_root, { id, afterSequence }, { deps, caller, signal }) =>
      followResponse(deps, caller, id, afterSequence, signal),
    resolve: (event) => event,
  }),
  resumedResponseEvents: t.field({
    type: RunEventType,
    description:
      'Lets a paused response go on and shows what happens from there. Leaving cancels it, unless it is in the background.',
    args: {
      id: t.arg.id({ description: idArg }),
      input: t.arg({ type: ResumeResponseInputType, required: false, description: 'How it goes on.' }),
      wholeLog: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'REST: from the first event on; the face leaves out what the caller knows.',
      }),
    },
    subscribe: async (_root, { id, input, wholeLog }, context) => {
      const { deps, caller, signal, notes } = context;
      const resumed = await resumeResponse(deps, caller, id, input ?? {}, signal);
      if (!wholeLog) return followResponse(deps, caller, id, resumed.seenSequence, signal);
      notes?.set('seen-sequence', String(resumed.seenSequence));
      return resumed.events;
    },
    resolve: (event) => event,
  }),
  runsUpdated: t.field({
    type: [RunType],
    description: "The organization's runs that are not over, at once and whenever one begins or ends. As `activeRuns`.",
    subscribe: (_root, _args, { deps, caller, signal }) => watchActiveRuns(deps, caller, signal) as never,
    resolve: (runs) => runs as never,
  }),
}));

function note({ attached }: BegunResponse, { notes }: GraphContext): void {
  if (attached !== undefined) notes?.set('x-thread-attached', attached);
}

function viewOf(state: ResponseState, context: GraphContext): ResponseView {
  const hasExtensions = context.header?.('x-parley-extensions')?.toLowerCase() !== 'off';
  return { state, wire: responseObject(state.head, state.run, { hasExtensions }) };
}

function idOf(item: WireObject | undefined): string | null {
  return typeof item?.id === 'string' ? item.id : null;
}
