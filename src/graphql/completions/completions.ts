import { createCompletion, runCompletion } from '../../domain/completions/completions.ts';
import { takesExtensions } from '../../http/extensions.ts';
import { builder } from '../builder/builder.ts';
import type { GraphContext } from '../builder/context.ts';
import { RunEventType } from '../runs/events.ts';
import { RunSnapshotType } from '../runs/parts.ts';
import { CompletionInputType } from './inputs.ts';

builder.mutationField('createCompletion', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunSnapshotType,
    description:
      'Runs one stateless completion and answers with its run when it is over. Nothing of it is kept. A run that failed is an error.',
    args: { input: t.arg({ type: CompletionInputType, required: true, description: 'The request.' }) },
    resolve: (_root, { input }, context) =>
      createCompletion(context.deps, context.caller, input, hasExtensions(context), context.signal),
  }),
);

builder.subscriptionField('completionEvents', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunEventType,
    description: 'Runs one stateless completion and shows its run while it happens. Leaving stops it.',
    args: {
      input: t.arg({ type: CompletionInputType, required: true, description: 'The request.' }),
      inOnePiece: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: "Requests the model's answer in one piece: fewer, larger events.",
      }),
      repeatsText: t.arg.boolean({
        required: true,
        defaultValue: true,
        description: 'Whether the last event has the whole text again. false spares the service the memory for it.',
      }),
    },
    subscribe: (_root, { input, inOnePiece, repeatsText }, context) => {
      const terms = { inOnePiece, repeatsText, takesExtensions: hasExtensions(context) };
      return runCompletion(context.deps, context.caller, input, terms, context.signal);
    },
    resolve: (event) => event,
  }),
);

function hasExtensions(context: GraphContext): boolean {
  return takesExtensions(context.header?.bind(context));
}
