import { RunFold } from '../../../engine/runs/events/fold.ts';
import { toTranscriptMessages } from '../../../engine/runs/events/transcript.ts';
import type { Chat, ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { ownChats } from '../../ground/access/access.ts';
import type { ReadResponse, ResponseInput } from './input.ts';
import type { ConnectionMemory } from './memory.ts';

/** Where a request continues: nowhere, in a chat, or after a response. */
export interface Place {
  readonly chat: Chat | undefined;
  readonly previous: Run | undefined;
  /** The messages of a response that only this connection knows. */
  readonly remembered?: readonly NewMessage[];
  /** Messages of `previous` that its thread lacks: the output of a response that was cut by force, or the input of a response that never began. */
  readonly missing?: readonly NewMessage[];
  /** The text of `previous` was removed from the thread, so the request cannot continue there. */
  readonly isCut?: boolean;
}

/** @throws DomainError PREVIOUS_RESPONSE_NOT_FOUND, or NOT_FOUND for the conversation. */
export async function findPlace(
  deps: Deps,
  caller: Caller,
  input: ResponseInput,
  read: ReadResponse,
  memory?: ConnectionMemory,
): Promise<Place> {
  const { previousResponseId } = input;
  const earlierMessages = typeof previousResponseId === 'string' ? memory?.get(previousResponseId) : undefined;
  if (earlierMessages !== undefined) return { chat: undefined, previous: undefined, remembered: earlierMessages };
  let chatId = read.conversationId;
  let previous: Run | undefined;
  if (typeof previousResponseId === 'string') {
    previous = isId('response', previousResponseId)
      ? await deps.storage.conversations.responses.find(previousResponseId, caller)
      : undefined;
    if (typeof previous?.chatId !== 'string') throw missingPrevious(previousResponseId);
    chatId = previous.chatId;
  }
  if (chatId === undefined) return { chat: undefined, previous };
  const chat = isId('chat', chatId) ? await deps.storage.conversations.chats.find(chatId, ownChats(caller)) : undefined;
  if (chat !== undefined) return { chat, previous, ...(previous === undefined ? {} : await loadMissing(deps, previous)) };
  if (typeof previousResponseId === 'string') throw missingPrevious(previousResponseId);
  throw new DomainError('NOT_FOUND', 'There is no such conversation', { param: 'conversation' });
}

function missingPrevious(id: string): DomainError {
  return new DomainError('PREVIOUS_RESPONSE_NOT_FOUND', `There is no response "${id.slice(0, 100)}" to go on from`, {
    param: 'previousResponseId',
  });
}

/** A request that names a response continues from all of it, including messages that its thread lacks. */
async function loadMissing(deps: Deps, { id, status, isWaiting, incompleteReason }: Run): Promise<Partial<Place>> {
  if (status === 'cancelled') {
    const fold = new RunFold();
    for await (const batch of deps.runs.replay(id).batches()) fold.add(batch);
    const run = fold.snapshot();
    if (run.isCut === true) return { missing: toTranscriptMessages(run, fold.whole), isCut: true };
  }
  const mayNotHaveBegun = status === 'cancelled' || isWaiting || incompleteReason === 'paused';
  return mayNotHaveBegun ? { missing: await deps.storage.conversations.responses.findPending(id) } : {};
}

/**
 * All messages before the request: the thread's, or those of the response that it continues. Of a long thread, the newest messages
 * that a model gets and one more, which shows that some would be left out.
 */
export async function historyOfPlace(
  deps: Deps,
  { chat, previous, remembered: earlierMessages, missing = [] }: Place,
): Promise<readonly (ChatMessage | NewMessage)[]> {
  if (chat === undefined) return earlierMessages ?? [];
  const history = await deps.storage.conversations.chats.history(
    chat.id,
    deps.settings.MESSAGES_MAX + 1,
    previous === undefined ? undefined : { runId: previous.id },
  );
  if (missing.length === 0) return history;
  // Messages that others added to a response are in its thread, and here at their place between its text.
  const ids = new Set(missing.map((message) => message.id));
  return [...history.filter((message) => !ids.has(message.id)), ...missing];
}
