import type { StoredRequest } from '../../../engine/runs/stored/request.ts';
import type { Chat, PromptPart } from '../../../entities/conversations/chats/chat.ts';
import type { QueuedMessage } from '../../../entities/conversations/chats/queue.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { QuestionReader } from '../../../storage/conversations/runs/queue.ts';
import type { Deps } from '../../deps.ts';
import { canWriteChat } from '../../ground/access/access.ts';
import { asVisible, toChatName } from '../runs/thread.ts';
import { getChat, getOwnChat } from './chats.ts';
import { modelFor } from './messages.ts';
import { contextOfPrompt } from './prompt-files.ts';

/**
 * What was sent to chats of the caller while a run answered, in the order of `chats`: first what joins that run, then what waits. Empty for chats of
 * others. Cost: one statement.
 */
export async function listQueues(
  { storage }: Deps,
  caller: Caller,
  chats: readonly Chat[],
): Promise<readonly (readonly QueuedMessage[])[]> {
  const ownIds = chats.filter((chat) => canWriteChat(caller, chat)).map(({ id }) => id);
  const queues = ownIds.length === 0 ? new Map() : await storage.conversations.queue.ofChats(ownIds);
  return chats.map(({ id }) => queues.get(id) ?? []);
}

/**
 * Gives a message that waits in a chat of the caller another text. Its files stay.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; INVALID_VALUE for a text that is blank while the message has no file; CONFLICT when the message does not
 * wait, or not any more; and like `sendMessage` for files that are gone.
 */
export async function editQueuedMessage(
  deps: Deps,
  caller: Caller,
  chatId: string,
  messageId: string,
  text: string,
): Promise<Chat> {
  const chat = await getOwnChat(deps, caller, chatId);
  const queued = isId('message', messageId) ? await deps.storage.conversations.queue.find(chat.id, messageId) : undefined;
  if (queued === undefined) throw notQueued();
  const { message, modelId, inputTokensMax } = queued;
  const content = storableText(text);
  const parts = withText(message.parts, content);
  const isBlank = content.trim() === '' && (parts === null || parts.every(({ type }) => type === 'text'));
  if (isBlank) throw new DomainError('INVALID_VALUE', 'text must not be blank', { param: 'text' });
  const context = await contextOfPrompt(deps, caller, chat, parts, await modelFor(deps, modelId), inputTokensMax);
  await deps.audit.change(caller, async () => {
    const edited = { text: content, parts, context };
    const result = await deps.storage.conversations.queue.edit(chat.id, messageId, edited, readQuestion);
    if (result.kind === 'gone') throw notQueued();
    return { id: chat.id };
  });
  return getChat(deps, caller, chat.id);
}

/**
 * Takes back a message that waits in a chat of the caller: it is not answered, and stands nowhere.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; CONFLICT when the message does not wait, or not any more.
 */
export async function withdrawQueuedMessage(deps: Deps, caller: Caller, chatId: string, messageId: string): Promise<Chat> {
  const chat = await getOwnChat(deps, caller, chatId);
  await deps.audit.change(caller, async () => {
    const result = await deps.storage.conversations.queue.withdraw(chat.id, messageId, readQuestion);
    if (result.kind === 'gone') throw notQueued();
    return { id: chat.id };
  });
  return getChat(deps, caller, chat.id);
}

/** Knowledge is searched with the first of the messages that a run answers together, and a chat without a name is named by it. */
const readQuestion: QuestionReader = (request, messages) => {
  const question = messages.flatMap(asVisible).find(({ role }) => role === 'user')?.content ?? '';
  const { knowledge } = request as Pick<StoredRequest, 'knowledge'>;
  return {
    chatName: toChatName(question),
    ...(knowledge === null ? {} : { knowledge: { ...knowledge, question: question.trim() } }),
  };
};

/** The parts of a message with another text: it stands before the files, which stay. Null for a message that is a text only. */
function withText(parts: readonly PromptPart[] | null, text: string): readonly PromptPart[] | null {
  if (parts === null) return null;
  const others = parts.filter(({ type }) => type !== 'text');
  return text.trim() === '' ? others : [{ type: 'text', text }, ...others];
}

function notQueued(): DomainError {
  return new DomainError('CONFLICT', 'This message does not wait: it is being answered, or was withdrawn', {
    param: 'messageId',
  });
}
