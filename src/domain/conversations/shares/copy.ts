import { isInline } from '../../../engine/models/inline-images.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { type Chat, type NewMessage, newMessageDefaults, type PromptPart } from '../../../entities/conversations/chats/chat.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { SortKey } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { agentForRun } from '../../agents/agents.ts';
import { readUserInputs } from '../../agents/parts/user-input.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { getChat } from '../chats/chats.ts';
import { showsNewChats } from '../runs/thread.ts';
import { pageOfSharedMessages, type SharedMessage } from './messages.ts';
import { findSharedChat, missingShare, type SharedChat } from './open.ts';

export interface CopySharedChatInput {
  /** Who answers from now on; default: the agent of the chat. */
  readonly agentId?: string | null | undefined;
  /** Values of the agent's user inputs, by variable name: those of the other person are not copied. */
  readonly userInputs?: unknown;
}
export interface SharedChatCopy {
  readonly id: string;
  readonly chat: Chat;
  /** What is not in the copy, because it is gone, belongs to another organization, or is not open to the reader. */
  readonly omittedFileCount: number;
  readonly omittedCitationCount: number;
}

const messagesAtOnce = 100;

/**
 * Copies what the caller reads by a link into a chat of its own, to go on in it: texts, files, and the citations that the caller may open; nothing that
 * only models got, no calls of tools, no user inputs.
 *
 * @throws DomainError NOT_FOUND for a link that opens nothing, and for an agent that the caller may not use; with every fault of the user inputs.
 */
export async function copySharedChat(
  deps: Deps,
  caller: Caller,
  secret: string,
  input: CopySharedChatInput,
): Promise<SharedChatCopy> {
  const shared = await findSharedChat(deps, caller, secret);
  const agent = await findAgent(deps, caller, shared.chat, input.agentId ?? undefined);
  const faults = new Faults();
  const userInputs = readUserInputs(agent?.userInputs ?? [], input.userInputs, faults);
  faults.throwIfAny();
  const { orgId, userId } = caller;
  const { name, modelId } = shared.chat;
  const isVisibleToEditors = showsNewChats(agent, orgId);
  const chat = {
    ...{ id: deps.newId('chat'), createdAt: deps.now(), orgId, userId, name, userInputs, isVisibleToEditors },
    ...(agent === undefined ? { agentId: null, ...(modelId === null ? {} : { modelId }) } : { agentId: agent.id }),
  };
  const { id } = chat;
  const omitted = await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.chatShares.beginCopy(shared.chat.id, chat))) throw missingShare();
    return { id, ...(await copyMessages(deps, caller, shared, id)) };
  });
  const { omittedFileCount, omittedCitationCount } = omitted;
  return { id, chat: await getChat(deps, caller, id), omittedFileCount, omittedCitationCount };
}

/** Whether the caller may go on with the agent of a chat. */
export async function mayGoOn(deps: Deps, caller: Caller, { chat }: Pick<SharedChat, 'chat'>): Promise<boolean> {
  if (!caller.scopes.has('CHATS:WRITE')) return false;
  if (chat.agentId === null) return chat.modelId !== null && (await deps.models.find(chat.modelId)) !== undefined;
  try {
    return (await agentForRun(deps, caller, chat.agentId)) !== undefined;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function findAgent(
  deps: Deps,
  caller: Caller,
  { agentId, modelId }: Chat,
  namedAgentId: string | undefined,
): Promise<RunnableAgent | undefined> {
  if (namedAgentId !== undefined) return agentForRun(deps, caller, namedAgentId);
  if (agentId === null && modelId !== null) return undefined;
  try {
    return await agentForRun(deps, caller, agentId ?? '');
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'NOT_FOUND') throw error;
    throw new DomainError('NOT_FOUND', 'You may not use the agent of this chat: name another one in agentId', {
      param: 'agentId',
    });
  }
}

async function copyMessages(deps: Deps, caller: Caller, shared: SharedChat, chatId: string) {
  const { chatShares } = deps.storage.conversations;
  // Bytes of one organization are never named by a file of another.
  const keepsFiles = shared.chat.orgId === caller.orgId;
  let omittedFileCount = 0;
  let omittedCitationCount = 0;
  let after: SortKey | undefined;
  for (;;) {
    const page = await pageOfSharedMessages(deps, caller, shared, { limit: messagesAtOnce, after });
    const named = keepsFiles ? page.items.flatMap(({ files }) => files.map((file) => file.id)) : [];
    const newIds = new Map([...new Set(named)].map((id) => [id, deps.newId('chatFile')]));
    const copiedIds = await chatShares.copyFiles(shared.chat.id, chatId, newIds);
    await chatShares.addMessages(
      chatId,
      page.items.map((item) => toCopy(deps, item, copiedIds)),
    );
    for (const { files, hiddenFileCount, hiddenCitationCount } of page.items) {
      omittedFileCount += hiddenFileCount + files.filter(({ id }) => !copiedIds.has(id)).length;
      omittedCitationCount += hiddenCitationCount;
    }
    if (!page.hasNextPage || page.endKey === undefined) return { omittedFileCount, omittedCitationCount };
    after = page.endKey;
  }
}

/** A message that belongs to no run. The model gets its text alone. */
function toCopy(deps: Deps, { message, citations }: SharedMessage, fileIds: ReadonlyMap<string, string>): NewMessage {
  const { role, content, createdAt, status } = message;
  const parts = (message.parts ?? []).flatMap((part): readonly PromptPart[] => {
    if (part.type === 'url') return isInline(part.url) ? [part] : [];
    if (part.type === 'text') return [part];
    const id = fileIds.get(part.id);
    return id === undefined ? [] : [{ ...part, id }];
  });
  return {
    ...newMessageDefaults,
    ...{ id: deps.newId('message'), createdAt, role, content, status, runId: null },
    parts: message.parts === null ? null : parts,
    citations: citations.length === 0 ? null : citations,
  };
}
