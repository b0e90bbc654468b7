import { compactResponse } from '../../domain/responses/compact.ts';
import { type BegunResponse, beginResponse, countResponseInput } from '../../domain/responses/create.ts';
import {
  cancelResponse,
  createResponse,
  deleteResponse,
  followResponse,
  getResponse,
  listInputItems,
  pauseResponse,
  resumeResponse,
  stateOf,
} from '../../domain/responses/lifecycle.ts';
import { listActiveRuns, watchActiveRuns } from '../../domain/runs/active.ts';
import { builder } from '../builder/builder.ts';
import type { GraphContext } from '../builder/context.ts';
import { restOnly } from '../builder/rest-only.ts';
import { RunEventType } from '../runs/events.ts';
import { RunType } from '../runs/runs.ts';
import { ResponseInputType, ResumeResponseInputType } from './inputs.ts';
import { OrderType } from './order.ts';
import { CompactionType, DeletedType, InputTokensType, ItemListType, ResponseType, viewOf } from './types.ts';

const idArg = 'The id of the response.';
const inputArg = 'The request.';

builder.queryFields((t) => ({
  response: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ResponseType,
    description: 'A stored response of the caller as it is now. NOT_FOUND when there is none.',
    args: {
      id: t.arg.id({ description: idArg }),
      stream: t.arg.boolean({
        required: false,
        extensions: restOnly,
        description: 'REST: whether to answer as an event stream.',
      }),
      startingAfter: t.arg.int({
        required: false,
        extensions: restOnly,
        description: 'REST: the number of the last event that is known already.',
      }),
      includeObfuscation: t.arg.boolean({ required: false, extensions: restOnly, description: 'REST: ignored.' }),
    },
    resolve: async (_root, { id }, context) => viewOf(await getResponse(context.deps, context.caller, id), context),
  }),
  responseInputItems: t.field({
    authScopes: { key: 'CHATS:READ' },
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
  responseInputTokens: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: InputTokensType,
    description:
      'Estimates the input tokens of a request for a response, with its thread, files, tools and passages. No model is asked, nothing is stored.',
    args: { input: t.arg({ type: ResponseInputType, description: inputArg }) },
    resolve: (_root, { input }, { deps, caller, signal }) => countResponseInput(deps, caller, input, signal),
  }),
  activeRuns: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: [RunType],
    description:
      "The organization's runs that are not over, the newest first; at most 500. For administrators; others see their own.",
    resolve: (_root, _args, { deps, caller }) => listActiveRuns(deps, caller) as never,
  }),
}));

builder.mutationFields((t) => ({
  createResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ResponseType,
    description:
      'Begins a response. A stored one is answered at once and goes on by itself: follow it with `responseEvents`. One that is not stored is answered at its end.',
    args: { input: t.arg({ type: ResponseInputType, description: inputArg }) },
    resolve: async (_root, { input }, context) =>
      viewOf(await createResponse(context.deps, context.caller, input, context.signal), context),
  }),
  cancelResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ResponseType,
    description:
      'Stops a response and answers when it is over. One that is over is returned as it is; a paused one is cancelled.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: async (_root, { id }, context) => viewOf(await cancelResponse(context.deps, context.caller, id), context),
  }),
  pauseResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ResponseType,
    description: 'Pauses a response at its next boundary and answers when it is paused. RESPONSE_NOT_ACTIVE when it is over.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: async (_root, { id }, context) => viewOf(await pauseResponse(context.deps, context.caller, id), context),
  }),
  resumeResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: ResponseType,
    description: 'Continues a paused response under the same id. Answers at once; RESPONSE_NOT_PAUSED when it is not paused.',
    args: {
      id: t.arg.id({ description: idArg }),
      input: t.arg({
        type: ResumeResponseInputType,
        required: false,
        description: 'The members of the request that continues it.',
      }),
    },
    resolve: async (_root, { id, input }, context) => {
      const { deps, caller, signal } = context;
      const { events } = await resumeResponse(deps, caller, id, { ...input, stream: false, background: true }, signal);
      return viewOf(await stateOf(events), context);
    },
  }),
  compactResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: CompactionType,
    description: 'Puts a conversation into few items that a new chain of responses can begin with. Nothing is stored.',
    args: { input: t.arg({ type: ResponseInputType, description: 'The conversation, as in a request for a response.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => compactResponse(deps, caller, input, signal),
  }),
  deleteResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: DeletedType,
    description: 'Deletes a response and its messages in the thread; an active one is stopped first.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: (_root, { id }, { deps, caller }) => deleteResponse(deps, caller, id),
  }),
}));

builder.subscriptionFields((t) => ({
  newResponseEvents: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description:
      'Begins a response and shows it while it happens. Leaving cancels it, unless it is stored and in the background or others joined it.',
    args: {
      input: t.arg({ type: ResponseInputType, description: inputArg }),
      inOnePiece: t.arg.boolean({
        required: true,
        defaultValue: false,
        description:
          'The client reads no deltas, unless `input.stream` says so: text in a JSON format waits until it is checked.',
      }),
    },
    subscribe: async (_root, { input, inOnePiece }, context) => {
      // A subscription implies `stream`: its client reads events as they come.
      const asked = { ...input, stream: input.stream ?? !inOnePiece };
      const begun = await beginResponse(context.deps, context.caller, asked, context.signal, context.memory);
      note(begun, context);
      return begun.events;
    },
    resolve: (event) => event,
  }),
  responseEvents: t.field({
    authScopes: { key: 'CHATS:READ' },
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
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: 'Continues a paused response and shows its new events. Leaving cancels it, unless it is in the background.',
    args: {
      id: t.arg.id({ description: idArg }),
      input: t.arg({
        type: ResumeResponseInputType,
        required: false,
        description: 'The members of the request that continues it.',
      }),
      wholeLog: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'REST: from the first event on; the REST API drops the frames that the caller has.',
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
    authScopes: { key: 'CHATS:READ' },
    type: [RunType],
    description: "The organization's runs that are not over, at once and whenever one begins or ends. As `activeRuns`.",
    subscribe: (_root, _args, { deps, caller, signal }) => watchActiveRuns(deps, caller, signal) as never,
    resolve: (runs) => runs as never,
  }),
}));

function note({ attached }: BegunResponse, { notes }: GraphContext): void {
  if (attached !== undefined) notes?.set('x-thread-attached', attached);
}
