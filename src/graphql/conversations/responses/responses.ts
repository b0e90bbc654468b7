import { compactResponse } from '../../../domain/conversations/responses/compact.ts';
import { type BegunResponse, beginResponse, countResponseInput } from '../../../domain/conversations/responses/create.ts';
import {
  cancelResponse,
  createResponse,
  deleteResponse,
  getResponse,
  listInputItems,
  loadState,
  pauseResponse,
  resumeResponse,
} from '../../../domain/conversations/responses/lifecycle.ts';
import { listActiveRuns } from '../../../domain/conversations/runs/runs.ts';
import { seenSequenceNote } from '../../../wire/responses/events.ts';
import { versionArg, withVersion } from '../../agents/versions/args.ts';
import { builder } from '../../ground/builder/builder.ts';
import { type GraphContext, textsTerm } from '../../ground/builder/context.ts';
import { listArgs } from '../../ground/pagination.ts';
import { RunRef } from '../../ground/refs.ts';
import { RunEventType } from '../runs/events/events.ts';
import { shownEvents } from '../runs/events/stream.ts';
import { ResponseInputType, ResumeResponseInputType } from './inputs.ts';
import { CompactionType, InputItemConnection } from './types.ts';

const idArg = 'The id of the response.';
const inputArg = 'The request.';

builder.queryFields((t) => ({
  response: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunRef,
    nullable: true,
    description: 'A stored response of the caller as it is now; `run` finds runs of all kinds. Null when there is none.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: (_root, { id }, context) => getResponse(context.deps, context.caller, id, textsTerm(context, 'include')),
  }),
  responseInputItems: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: InputItemConnection,
    description: 'The items a response was given, with those that joined it.',
    args: { id: t.arg.id({ description: idArg }), ...listArgs(t.arg) },
    resolve: (_root, { id, ...page }, { deps, caller }) => listInputItems(deps, caller, id, page),
  }),
  responseInputTokens: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: 'Int',
    description:
      'Estimates the input tokens of a request for a response, with its thread, files, tools and passages. No model is asked, nothing is stored.',
    args: { input: t.arg({ type: ResponseInputType, description: inputArg }) },
    resolve: (_root, { input }, { deps, caller, signal }) => countResponseInput(deps, caller, input, signal),
  }),
  activeRuns: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: [RunRef],
    description:
      "The organization's runs that are not over, the newest first; at most 500. For administrators; others see their own.",
    resolve: (_root, _args, { deps, caller }) => listActiveRuns(deps, caller),
  }),
}));

builder.mutationFields((t) => ({
  createResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description:
      'Begins a response. A stored one is answered at once and goes on by itself: follow it with `runEvents`. One that is not stored is answered at its end.',
    args: { input: t.arg({ type: ResponseInputType, description: inputArg }), version: versionArg(t.arg) },
    resolve: (_root, { input, version }, { deps, caller, signal }) =>
      createResponse(deps, caller, withVersion(input, version), signal),
  }),
  cancelResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description:
      'Stops a response and answers when it is over. One that is over is returned as it is; a paused one is cancelled.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: (_root, { id }, { deps, caller }) => cancelResponse(deps, caller, id),
  }),
  pauseResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description: 'Pauses a response at its next boundary and answers when it is paused. RESPONSE_NOT_ACTIVE when it is over.',
    args: { id: t.arg.id({ description: idArg }) },
    resolve: (_root, { id }, { deps, caller }) => pauseResponse(deps, caller, id),
  }),
  resumeResponse: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description: 'Continues a paused response under the same id. Answers at once; RESPONSE_NOT_PAUSED when it is not paused.',
    args: {
      id: t.arg.id({ description: idArg }),
      input: t.arg({
        type: ResumeResponseInputType,
        required: false,
        description: 'The members of the request that continues it.',
      }),
    },
    resolve: async (_root, { id, input }, { deps, caller, signal }) => {
      const terms = { isWatched: false };
      const { events } = await resumeResponse(deps, caller, id, { ...input, background: true }, terms, signal);
      return loadState(events);
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
    type: 'ID',
    description: 'Deletes a response and its messages in the thread; an active one is stopped first. Returns its id.',
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
      version: versionArg(t.arg),
    },
    subscribe: async (_root, { input, version }, context) => {
      const asked = { ...withVersion(input, version), stream: context.isStreamed !== false };
      const begunResponse = await beginResponse(context.deps, context.caller, asked, context.signal, context.memory);
      note(begunResponse, context);
      return shownEvents(begunResponse.events, begunResponse.id);
    },
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
      after: t.arg.int({
        required: false,
        description: 'The `sequence` of the last event that the reader has, -1 for none; without it, only new events are shown.',
      }),
    },
    subscribe: async (_root, { id, input, after }, { deps, caller, signal, notes, isStreamed }) => {
      const terms = { isWatched: isStreamed !== false, afterSequence: after ?? undefined };
      const { events, seenSequence } = await resumeResponse(deps, caller, id, input ?? {}, terms, signal);
      notes?.set(seenSequenceNote, String(seenSequence));
      return shownEvents(events, id);
    },
    resolve: (event) => event,
  }),
}));

function note({ attached: attachMode }: BegunResponse, { notes }: GraphContext): void {
  if (attachMode !== undefined) notes?.set('x-thread-attached', attachMode);
}
