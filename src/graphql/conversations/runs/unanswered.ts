import { listUnanswered } from '../../../domain/conversations/runs/unanswered.ts';
import { type UnansweredRun, unansweredReasons } from '../../../entities/conversations/runs/history.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { RunRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { FoundPassageType } from './history.ts';

const ReasonType = createEnum('UnansweredReason', 'Why a question has no answer.', unansweredReasons, {
  nothing_found: 'The knowledge of the run was searched, and no passage was found.',
  rated_down: 'The answer is rated bad.',
});

const UnansweredType = builder.objectRef<UnansweredRun>('UnansweredQuestion').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A run that did not answer its question.',
  fields: (t) => ({
    run: t.field({ type: RunRef, description: 'The run.', resolve: ({ run }) => run }),
    question: t.exposeString('question', {
      nullable: true,
      description:
        'What was asked, at most 2,000 characters. Null where the caller may not read the chat, and of a run that is not stored.',
    }),
    reason: t.field({
      type: ReasonType,
      description: 'Why; NOTHING_FOUND where both are true.',
      resolve: ({ reasons }) => reasons[0] ?? 'nothing_found',
    }),
    reasons: t.field({ type: [ReasonType], description: 'All reasons; at most two.', resolve: ({ reasons }) => [...reasons] }),
    passages: t.field({
      type: [FoundPassageType],
      description: 'The passages that were near, best first; at most 8. Empty where the agent hides its steps from the caller.',
      resolve: ({ nearPassages }) => [...nearPassages],
    }),
  }),
});

const UnansweredConnection = makeConnection(UnansweredType, 'UnansweredQuestion', 'Questions');

builder.queryField('unansweredQuestions', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: UnansweredConnection,
    description:
      'Questions without an answer, newest first: runs whose knowledge was searched and gave nothing, or whose answer is rated bad. Of the runs that `runs` lists.',
    args: {
      agentId: t.arg.id({ required: false, description: 'Of this agent; default: of all.' }),
      since: t.arg({ type: 'DateTime', required: false, description: 'Asked at this time or later.' }),
      until: t.arg({ type: 'DateTime', required: false, description: 'Asked before this time.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { agentId, since, until, ...page }, context) =>
      listUnanswered(context.deps, context.caller, { agentId, since, until }, pageRequest(context, page)),
  }),
);
