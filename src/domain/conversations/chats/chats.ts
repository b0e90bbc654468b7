import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import {
  type Chat,
  type ChatAgent,
  type ChatMessage,
  type NewMessage,
  newMessageDefaults,
} from '../../../entities/conversations/chats/chat.ts';
import { type ArchiveChoice, tagsMax } from '../../../entities/conversations/chats/place.ts';
import { DomainError, outOfRange, tooLong } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { agentForRun } from '../../agents/agents.ts';
import { readUserInputs } from '../../agents/parts/user-input.ts';
import { canaryKeyOfChat } from '../../agents/versions/canary-choice.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent, canWriteChat, visibleChats } from '../../ground/access/access.ts';
import { removeBlobs } from '../../ground/blobs.ts';
import { Faults } from '../../ground/faults.ts';
import { showsNewChats } from '../runs/thread.ts';
import { followChat } from './follow.ts';
import { type ChatPlaceInput, readPlace } from './place-input.ts';
import { readTranscriptPages, readTranscripts } from './transcripts.ts';

export interface CreateChatInput {
  readonly name?: string | null | undefined;
  /** Values of the agent's user inputs, by variable name. */
  readonly userInputs?: unknown;
  readonly projectId?: string | null | undefined;
}
/** Absent members are kept; null removes the name or the pin, and so does a pin of 0. */
export interface UpdateChatInput extends ChatPlaceInput {
  readonly name?: string | null | undefined;
  readonly pinPosition?: number | null | undefined;
}

const nameLengthMax = 200;
const searchLengthMax = 200;
const pinPositionMax = 1_000_000;

/** @throws DomainError NOT_FOUND, also for a chat that the caller may not read. */
export async function getChat(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  const chat = isId('chat', id) ? await deps.storage.conversations.chats.find(id, visibleChats(caller)) : undefined;
  if (chat === undefined) throw missingChat();
  deps.audit.read(caller, 'chat', [chat]);
  return chat;
}

/** The chats among `ids` that the caller may read, in any order. Cost: one statement. */
export async function getChats(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Chat[]> {
  const chats = await deps.storage.conversations.chats.findMany(ids, visibleChats(caller));
  deps.audit.read(caller, 'chat', chats);
  return chats;
}

/** What chats show of their agents, with the names of the owners, in the order of `chats`; '' for a deleted owner. Cost: one statement. */
export async function agentsOfChats(
  deps: Deps,
  chats: readonly Chat[],
): Promise<readonly (ChatAgent & { readonly userName: string })[]> {
  const ownerIds = [...new Set(chats.flatMap(({ agent }) => (agent.userId === '' ? [] : [agent.userId])))];
  const names = await deps.storage.conversations.chats.ownerNames(ownerIds);
  return chats.map(({ agent: { seed, ...agent } }) => ({ ...agent, userName: names.get(agent.userId) ?? '', seed }));
}

/** A chat the caller may write in. @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only read its log. */
export async function getOwnChat(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  const chat = await getChat(deps, caller, id);
  if (!canWriteChat(caller, chat)) throw readOnlyChat();
  return chat;
}

export interface ChatListFilter {
  readonly agentId?: string | null | undefined;
  readonly search?: string | null | undefined;
  readonly isPinned?: boolean | null | undefined;
  /** Default: without archived chats. */
  readonly archive?: ArchiveChoice | null | undefined;
  readonly tag?: string | null | undefined;
  readonly projectId?: string | null | undefined;
}

/**
 * The caller's chats, the last changed first. With an agent: the chats with it, for callers who may edit the agent the chats of all
 * users whose logs it shows. Cost: two statements, independent of the depth of the page.
 *
 * @param search  only the caller's own chats whose name or messages contain it, ignoring case; blank matches all. Cost: one
 * statement for each thousand messages that are read until the page is full; see searchChats.
 * @throws DomainError NOT_FOUND for an agent that the caller may not see, INVALID_VALUE for a search of more than 200 characters.
 */
export async function listChats(
  deps: Deps,
  caller: Caller,
  { agentId, search, isPinned, archive, tag, projectId }: ChatListFilter,
  page: PageRequest,
): Promise<Page<Chat>> {
  const { userId, orgId } = caller;
  const agent = typeof agentId === 'string' ? await agentForRun(deps, caller, agentId) : undefined;
  const isSearch = typeof search === 'string' && search.trim() !== '';
  const showsLogs = !isSearch && agent?.chatLogsVisible === true && canEditAgent(caller, agent);
  const chatPage = await deps.storage.conversations.chats.list(
    {
      ...{ userId, orgId },
      ...(agent === undefined ? {} : { agentId: agent.id }),
      ...(isSearch ? { search: readSearch(search) } : {}),
      ...(typeof isPinned === 'boolean' ? { isPinned } : {}),
      ...(showsLogs ? { shownIn: agent.orgId } : {}),
      archive: archive ?? 'without',
      ...(typeof tag === 'string' ? { tag } : {}),
      ...(typeof projectId === 'string' ? { projectId } : {}),
    },
    page,
  );
  if (agent !== undefined) deps.audit.read(caller, 'agent', [agent]);
  deps.audit.read(caller, 'chat', chatPage.items);
  return chatPage;
}

/** Messages of chats the caller sees, one array for each id, in order; of each chat the newest MESSAGES_MAX. Cost: three statements. */
export function listMessages(deps: Deps, chatIds: readonly string[]): Promise<readonly (readonly ChatMessage[])[]> {
  return readTranscripts(deps, chatIds);
}

/** One page of the messages of a chat that the caller may read, newest first. @throws DomainError NOT_FOUND. */
export async function pageOfMessages(deps: Deps, caller: Caller, chatId: string, page: PageRequest): Promise<Page<ChatMessage>> {
  const chat = await getChat(deps, caller, chatId);
  const [messagePage] = await readTranscriptPages(deps, [chat.id], page, 'desc');
  if (messagePage === undefined) throw missingChat();
  return messagePage;
}

/** One page of the messages of each chat, in order; of chats that the caller may read. Cost: one statement. */
export function pagesOfMessages(
  deps: Deps,
  chatIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<ChatMessage>[]> {
  return readTranscriptPages(deps, chatIds, page, 'asc');
}

/** The caller has read all answers of a chat. @throws DomainError NOT_FOUND for a chat that the caller may not read. */
export async function markChatRead(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  const chat = await getChat(deps, caller, id);
  await deps.storage.conversations.chatReads.mark(chat.id, caller.userId);
  return chat;
}

/** Whether a run has ended in each chat since the caller read it. Cost: one statement. */
export async function areUnread(deps: Deps, caller: Caller, chats: readonly Chat[]): Promise<readonly boolean[]> {
  const answeredIds = chats.filter(({ answeredAt }) => answeredAt !== null).map(({ id }) => id);
  if (answeredIds.length === 0) return chats.map(() => false);
  const marks = await deps.storage.conversations.chatReads.marksOf(answeredIds, caller.userId);
  return chats.map(({ id, answeredAt }) => answeredAt !== null && answeredAt > (marks.get(id) ?? new Date(0)));
}

/** @throws DomainError NOT_FOUND for an agent that the caller may not use, or with every fault of the input. */
export async function createChat(deps: Deps, caller: Caller, agentId: string, input: CreateChatInput): Promise<Chat> {
  const id = deps.newId('chat');
  const agent = await agentForRun(deps, caller, agentId, { canary: canaryKeyOfChat(id) });
  const name = readName(input.name);
  const faults = new Faults();
  const userInputs = readUserInputs(agent.userInputs, input.userInputs, faults);
  faults.throwIfAny();
  const { projectId = null } = await readPlace(deps, caller, { projectId: input.projectId });
  const { orgId, userId } = caller;
  const isVisibleToEditors = showsNewChats(agent, orgId);
  const chat = {
    id,
    createdAt: deps.now(),
    orgId,
    userId,
    agentId: agent.id,
    name: name ?? '',
    userInputs,
    isVisibleToEditors,
    projectId,
  };
  await deps.audit.change(caller, async () => {
    await deps.storage.conversations.chats.create(chat, toIntroduction(deps, agent));
    return { id };
  });
  return getChat(deps, caller, id);
}

/** The message that a chat with the agent begins with. People read it; models do not get it as a turn. */
function toIntroduction(deps: Deps, { introduction }: Pick<RunnableAgent, 'introduction'>): readonly NewMessage[] {
  const content = introduction ?? '';
  if (content.trim() === '') return [];
  return [
    {
      ...newMessageDefaults,
      id: deps.newId('message'),
      createdAt: deps.now(),
      role: 'assistant',
      content,
      runId: null,
      context: [],
    },
  ];
}

/** Renames, pins, labels or archives. Labels and the archive leave its place in lists. @throws DomainError NOT_FOUND, FORBIDDEN, or with every fault of the input. */
export async function updateChat(deps: Deps, caller: Caller, id: string, input: UpdateChatInput): Promise<Chat> {
  await getOwnChat(deps, caller, id);
  const { pinPosition } = input;
  if (typeof pinPosition === 'number' && (pinPosition < 0 || pinPosition > pinPositionMax)) {
    throw outOfRange('pinPosition', 0, pinPositionMax);
  }
  const name = readName(input.name);
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(pinPosition === undefined ? {} : { pinPosition: pinPosition === 0 ? null : pinPosition }),
  };
  const place = await readPlace(deps, caller, input);
  const { chats, chatPlaces } = deps.storage.conversations;
  const changesPlaceOnly = Object.keys(place).length > 0 && Object.keys(changes).length === 0;
  await deps.audit.change(caller, async () => {
    if (!changesPlaceOnly) await chats.update(id, changes);
    await chatPlaces.change([id], place, tagsMax);
  });
  return getChat(deps, caller, id);
}

/**
 * Deletes a chat and stops its run. What was said in it stays in the bin for CHAT_BIN_DAYS.
 *
 * @returns the former chat.
 * @throws DomainError NOT_FOUND, FORBIDDEN.
 */
export async function deleteChat(deps: Deps, caller: Caller, id: string): Promise<Chat> {
  const chat = await getOwnChat(deps, caller, id);
  const { chatBin, chats } = deps.storage.conversations;
  const isRestorable = deps.settings.CHAT_BIN_DAYS > 0;
  await deps.audit.change(caller, async () => {
    if (!(await (isRestorable ? chatBin.put(id) : chats.delete(id)))) throw missingChat();
  });
  if (chat.activeRunId !== null) deps.storage.signals.publish('run-cancel', chat.activeRunId);
  if (!isRestorable) await removeBlobs(deps, await deps.storage.conversations.chatFiles.deleteAll(chat.id));
  return chat;
}

/**
 * Yields a chat at once and after each change: a message, the beginning or end of a run, a name. Ends when the chat is deleted or
 * the caller may no longer read it.
 *
 * @throws DomainError NOT_FOUND before the first read.
 */
export async function watchChat(deps: Deps, caller: Caller, id: string, signal: AbortSignal): Promise<AsyncIterable<Chat>> {
  const first = await getChat(deps, caller, id);
  return followChat(deps, first.id, first, () => deps.storage.conversations.chats.find(first.id, visibleChats(caller)), signal);
}

function readSearch(search: string): string {
  if (search.length > searchLengthMax) {
    throw tooLong('search', searchLengthMax);
  }
  return search.trim();
}

function readName(name: string | null | undefined): string | undefined {
  if (name === undefined) return undefined;
  const faults = new Faults();
  if (name !== null) faults.requireName('name', name, nameLengthMax);
  faults.throwIfAny();
  return name === null ? '' : name.trim().toWellFormed();
}

export function runActive(runId: string): DomainError {
  return new DomainError('RUN_ACTIVE', `This chat is being answered by ${runId}: wait for its end or cancel it`);
}

export function readOnlyChat(): DomainError {
  return new DomainError('FORBIDDEN', 'Only the user of a chat may write in it or change it');
}

export function missingMessage(param = 'id'): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such message', { param });
}

export function missingChat(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such chat', { param: 'chatId' });
}
