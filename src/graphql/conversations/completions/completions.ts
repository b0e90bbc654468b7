import { countCompletionInput, createCompletion, runCompletion } from '../../../domain/conversations/completions/completions.ts';
import { toRunState } from '../../../domain/conversations/runs/states.ts';
import { takesExtensions } from '../../../http/extensions.ts';
import { versionArg, withVersion } from '../../agents/versions/args.ts';
import { builder } from '../../ground/builder/builder.ts';
import type { GraphContext } from '../../ground/builder/context.ts';
import type { ArgBuilder } from '../../ground/pagination.ts';
import { RunRef } from '../../ground/refs.ts';
import { readsDeltasAlone } from '../runs/events/deltas-alone.ts';
import { RunEventType } from '../runs/events/events.ts';
import { shownEvents } from '../runs/events/stream.ts';
import { CompletionInputType } from './inputs.ts';

builder.queryField('completionInputTokens', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: 'Int',
    description:
      'Estimates the input tokens of a request for a completion, with its files, tools and passages. No model is asked, nothing is stored.',
    args: { input: t.arg({ type: CompletionInputType, required: true, description: 'The request.' }) },
    resolve: (_root, { input }, { deps, caller, signal }) => countCompletionInput(deps, caller, input, signal),
  }),
);

builder.mutationField('createCompletion', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description:
      'Runs one stateless completion and answers with its run when it is over. Nothing of it is kept. A run that failed is an error.',
    args: {
      input: t.arg({ type: CompletionInputType, required: true, description: 'The request.' }),
      version: versionArg(t.arg),
      modelId: modelArg(t.arg),
    },
    resolve: async (_root, { input, version, modelId }, context) => {
      const { deps, caller, signal } = context;
      const request = { ...withVersion(input, version), modelId };
      return toRunState(await createCompletion(deps, caller, request, hasExtensions(context), signal));
    },
  }),
);

builder.subscriptionField('completionEvents', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: 'Runs one stateless completion and shows its run while it happens. Leaving stops it.',
    args: {
      input: t.arg({ type: CompletionInputType, required: true, description: 'The request.' }),
      version: versionArg(t.arg),
      modelId: modelArg(t.arg),
    },
    subscribe: async (_root, { input, version, modelId }, context, info) => {
      const terms = {
        inOnePiece: context.isStreamed === false,
        // Over REST, where `isStreamed` is set, the selection says nothing of what the encoder reads.
        repeatsText: context.isStreamed === undefined ? !readsDeltasAlone(info) : !context.isStreamed,
        takesExtensions: hasExtensions(context),
      };
      const request = { ...withVersion(input, version), modelId };
      return shownEvents(await runCompletion(context.deps, context.caller, request, terms, context.signal));
    },
    resolve: (event) => event,
  }),
);

function modelArg(arg: ArgBuilder) {
  return arg.string({ required: false, description: 'Another model than that of the agent which the request names.' });
}

function hasExtensions(context: GraphContext): boolean {
  return takesExtensions(context.header?.bind(context));
}
