import {
  feedbackCounts,
  getFeedback,
  listFeedback,
  loadFeedback,
  rateMessage,
} from '../../../domain/conversations/chats/feedback.ts';
import { isAdministrator } from '../../../domain/ground/access/access.ts';
import type { AgentView } from '../../../entities/agents/agent.ts';
import { type FeedbackCounts, feedbackRatings } from '../../../entities/conversations/chats/feedback.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { textTerm } from '../../ground/builder/context.ts';
import { reading } from '../../ground/builder/members.ts';
import { loadNode, nodeById, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { AgentRef, ChatRef, FeedbackRef, MessageRef, RunRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';

const FeedbackRatingType = createEnum('FeedbackRating', 'What somebody thinks of an answer.', feedbackRatings, {
  UP: 'It helped.',
  DOWN: 'It did not.',
});
const RatingInputType = createEnum('FeedbackRatingInput', 'The same, or nothing.', [...feedbackRatings, 'NONE'], {
  UP: 'It helped.',
  DOWN: 'It did not.',
  NONE: 'Takes the feedback away.',
});

const unlessReadable = 'null when the caller may not read the chat';

const FeedbackType = FeedbackRef.implement({
  access: { scope: 'CHATS:READ' },
  description:
    'What the user of a chat thinks of an answer. Editors of the agent and administrators of the organization see it; what was said, and by whom, only where they may read the chat.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was given.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    rating: t.expose('rating', { type: FeedbackRatingType, description: 'The rating.' }),
    tags: t.exposeStringList('tags', { description: 'What it is about, in words of the front end; at most 10.' }),
    comment: t.exposeString('comment', { nullable: true, description: 'What the user says about it; null without one.' }),
    messageId: t.exposeID('messageId', { description: 'The answer.' }),
    message: t.field({
      type: MessageRef,
      nullable: true,
      description: `The answer; ${unlessReadable}.`,
      resolve: ({ messageId }, _args, context) => loadNode(context, 'message', messageId),
    }),
    runId: t.exposeID('runId', { nullable: true, description: 'The run that gave the answer; null in the copy of a chat.' }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: `That run; ${unlessReadable}.`,
      resolve: ({ runId }, _args, context) => nodeById(context, runId),
    }),
    chatId: t.exposeID('chatId', { description: 'The chat.' }),
    chat: t.field({
      type: ChatRef,
      nullable: true,
      description: `The chat; ${unlessReadable}.`,
      resolve: ({ chatId }, _args, context) => loadNode(context, 'chat', chatId),
    }),
    agentId: t.exposeID('agentId', { nullable: true, description: 'The agent that answered; null for a bare model.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent; null when it is gone or the caller may not see it.',
      resolve: ({ agentId }, _args, context) => loadNode(context, 'agent', agentId),
    }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: `Who gave it; ${unlessReadable}, unless the caller administers the organization.`,
      resolve: async ({ userId, orgId, chatId }, _args, context) => {
        const isShown = isAdministrator(context.caller, orgId) || (await loadNode(context, 'chat', chatId)) !== null;
        return isShown ? nodeById(context, userId) : null;
      },
    }),
  }),
});

registerNode('feedback', {
  typeName: 'Feedback',
  operation: 'Query.feedback',
  loadMany: (ids, { deps, caller }) => getFeedback(deps, caller, ids),
});

const feedbackOfMessage = batched((ids: readonly string[], { deps }) => loadFeedback(deps, ids));

builder.objectField(MessageRef, 'feedback', (t) =>
  t.field({
    type: FeedbackType,
    nullable: true,
    description: 'What the user of the chat thinks of it; null while nothing is said.',
    resolve: ({ id }, _args, context) => feedbackOfMessage(context, id),
  }),
);

const FeedbackCountsType = builder.objectRef<FeedbackCounts>('FeedbackCounts').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'How answers were rated.',
  fields: (t) => ({
    up: t.exposeInt('up', { description: 'Answers that helped.' }),
    down: t.exposeInt('down', { description: 'Answers that did not.' }),
  }),
});

const countsOfAgent = batched((agents: readonly AgentView[], { deps }) => feedbackCounts(deps, agents));

builder.objectField(AgentRef, 'feedback', (t) =>
  t.field({
    extensions: reading<AgentView>('id', 'orgId'),
    type: FeedbackCountsType,
    description: 'How people of its organization rated its answers.',
    resolve: (agent, _args, context) => countsOfAgent(context, agent),
  }),
);

const FeedbackConnection = makeConnection(FeedbackType, 'Feedback', 'Feedback');

builder.queryField('feedback', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: FeedbackConnection,
    description:
      'What people of the organization think of answers, newest first: all of it for administrators, that about agents that the caller may edit, and what the caller said.',
    args: {
      agentId: t.arg.id({ required: false, description: 'Only about answers of this agent.' }),
      rating: t.arg({ type: FeedbackRatingType, required: false, description: 'Only with this rating.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, args, context) => listFeedback(context.deps, context.caller, args, pageRequest(context, args)),
  }),
);

const RateMessageInput = builder.inputType('RateMessageInput', {
  description:
    'What the user of a chat thinks of an answer. Editors of the agent and administrators of the organization read it.',
  fields: (t) => ({
    rating: t.field({ type: RatingInputType, description: 'The rating; NONE takes the feedback away.' }),
    tags: t.stringList({ required: false, description: 'What it is about: at most 10 of 1 to 50 characters.' }),
    comment: t.string({ required: false, description: 'At most 2,000 characters.' }),
  }),
});

builder.mutationField('rateMessage', (t) =>
  t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: MessageRef,
    description:
      'Says what the user of a chat thinks of an answer, in place of what the user said before. CONFLICT for a message that is no answer.',
    args: {
      id: t.arg.id({ description: 'The id of the message.' }),
      input: t.arg({ type: RateMessageInput, description: 'What the user thinks.' }),
    },
    resolve: (_root, { id, input }, context) => rateMessage(context.deps, context.caller, id, input, textTerm(context, 'chatId')),
  }),
);
