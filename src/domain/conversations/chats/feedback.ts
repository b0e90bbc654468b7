import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { Feedback, FeedbackCounts, FeedbackRating } from '../../../entities/conversations/chats/feedback.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { storableText } from '../../../lib/text/text.ts';
import { getAgent } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';
import { visibleFeedback } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { getOwnMessage } from './branches.ts';
import { isAnswer } from './transcripts.ts';

export interface RateMessageInput {
  /** NONE takes the feedback away. */
  readonly rating: FeedbackRating | 'NONE';
  readonly tags?: readonly string[] | null | undefined;
  readonly comment?: string | null | undefined;
}

const tagsMax = 10;
const tagLengthMax = 50;
const commentLengthMax = 2_000;

/**
 * Says what the user of a chat thinks of an answer in it, in place of what the user said before.
 *
 * @param chatId  the chat that the message must be in, when the caller names one.
 * @throws DomainError NOT_FOUND; FORBIDDEN for others than the user of the chat; CONFLICT for a message that is no answer; INVALID_VALUE.
 */
export async function rateMessage(
  deps: Deps,
  caller: Caller,
  id: string,
  input: RateMessageInput,
  chatId?: string | null,
): Promise<ChatMessage> {
  const { message, chat } = await getOwnMessage(deps, caller, id, chatId);
  if (!isAnswer(message)) throw new DomainError('CONFLICT', 'Only an answer of the agent can be rated', { param: 'id' });
  const { rating, tags, comment } = readRating(input);
  const { feedback } = deps.storage.conversations;
  const { runId } = message;
  const { orgId, userId } = chat;
  // Another agent than that of the chat may have answered, beside it.
  const run = runId === null ? undefined : await deps.storage.conversations.runs.find(runId);
  const agentId = run === undefined ? chat.agentId : run.agentId;
  await deps.audit.change(caller, async () => {
    if (rating === 'NONE') await feedback.remove(message.id);
    else {
      const feedbackRow = { messageId: message.id, runId, chatId: chat.id, agentId, orgId, userId, rating, tags, comment };
      await feedback.set({ id: deps.newId('feedback'), createdAt: deps.now(), ...feedbackRow });
    }
    return { id: message.id };
  });
  return message;
}

/**
 * Feedback that the caller may see, newest first: its own, that about agents it may edit, and for administrators all of the organization.
 *
 * @throws DomainError NOT_FOUND for an agent that the caller may not see.
 */
export async function listFeedback(
  deps: Deps,
  caller: Caller,
  { agentId, rating }: { readonly agentId?: string | null | undefined; readonly rating?: FeedbackRating | null | undefined },
  page: PageRequest,
): Promise<Page<Feedback>> {
  const agent = typeof agentId === 'string' ? await getAgent(deps, caller, agentId) : undefined;
  const query = {
    ...(agent === undefined ? {} : { agentId: agent.id }),
    ...(typeof rating === 'string' ? { rating } : {}),
  };
  const feedbackPage = await deps.storage.conversations.feedback.list(visibleFeedback(caller), query, page);
  noteReads(deps, caller, feedbackPage.items);
  return feedbackPage;
}

/** The feedback among `ids` that the caller may see, in any order. */
export async function getFeedback(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Feedback[]> {
  const feedbackRows = await deps.storage.conversations.feedback.findMany(ids, visibleFeedback(caller));
  noteReads(deps, caller, feedbackRows);
  return feedbackRows;
}

/** What is said of messages that the caller may read, in the order of `messageIds`; null where nothing is. Cost: one statement. */
export async function loadFeedback(deps: Deps, messageIds: readonly string[]): Promise<readonly (Feedback | null)[]> {
  const feedbackByMessage = await deps.storage.conversations.feedback.ofMessages(messageIds);
  return messageIds.map((id) => feedbackByMessage.get(id) ?? null);
}

/** How people of their organizations rated the answers of agents, in the order of `agents`. Cost: one statement. */
export async function feedbackCounts(
  deps: Deps,
  agents: readonly { readonly id: string; readonly orgId: string }[],
): Promise<readonly FeedbackCounts[]> {
  const counts = await deps.storage.conversations.feedback.countsOf(agents);
  return agents.map(({ id }) => counts.get(id) ?? { up: 0, down: 0 });
}

function noteReads({ audit }: Deps, caller: Caller, feedback: readonly Feedback[]): void {
  for (const { chatId: id, orgId, userId } of feedback) audit.read(caller, 'chat', [{ id, orgId, userId }]);
}

function readRating({ rating, tags, comment }: RateMessageInput) {
  const faults = new Faults();
  const tagTexts = [...new Set((tags ?? []).map((tag) => storableText(tag).trim()))];
  faults.requireCount('tags', tags ?? [], tagsMax);
  for (const [index, tag] of tagTexts.slice(0, tagsMax).entries()) faults.requireName(`tags[${index}]`, tag, tagLengthMax);
  const text = storableText(comment ?? '').trim();
  faults.requireLength('comment', text, commentLengthMax);
  faults.throwIfAny();
  return { rating, tags: tagTexts, comment: text === '' ? null : text };
}
