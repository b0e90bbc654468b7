import type { Chat, ContextStart } from '../../../entities/conversations/chats/chat.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { ContextChange } from '../../../storage/conversations/chats/contexts.ts';
import type { Deps } from '../../deps.ts';
import { getChat, getOwnChat, missingChat, runActive } from './chats.ts';

/** Where the part of chats begins that models get, in the order of `chatIds`; null where that is all. Cost: one statement. */
export async function listContextStarts(
  { storage }: Deps,
  chatIds: readonly string[],
): Promise<readonly (ContextStart | null)[]> {
  const starts = await storage.conversations.chatContexts.startsOf(chatIds);
  return chatIds.map((id) => starts.get(id) ?? null);
}

/**
 * Lets a chat of the caller go on with an empty context: models get nothing of what was said until now. The transcript, the files and the instructions
 * of the agent stay.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; RUN_ACTIVE while a run answers, waits or is paused.
 */
export function emptyChatContext(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  return changeContext(deps, caller, id, (chatId) => deps.storage.conversations.chatContexts.clear(chatId));
}

/**
 * Takes back the last summary that stands for earlier turns of a chat of the caller, or the last mark of `emptyChatContext`: models get again what
 * they got before.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; RUN_ACTIVE while a run answers, waits or is paused; CONFLICT where models get everything already.
 */
export function restoreChatContext(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  return changeContext(deps, caller, id, async (chatId) => {
    const result = await deps.storage.conversations.chatContexts.restore(chatId);
    if (result.kind === 'nothing') throw new DomainError('CONFLICT', 'Models get everything that was said in this chat already');
    return result;
  });
}

async function changeContext(
  deps: Deps,
  caller: Caller,
  id: string,
  write: (chatId: string) => Promise<ContextChange>,
): Promise<Chat> {
  const chat = await getOwnChat(deps, caller, id);
  await deps.audit.change(caller, async () => {
    const result = await write(chat.id);
    if (result.kind === 'missing') throw missingChat();
    if (result.kind === 'run-active') throw runActive(result.runId);
  });
  return getChat(deps, caller, chat.id);
}
