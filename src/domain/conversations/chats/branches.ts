import type { StoredRequest } from '../../../engine/runs/stored/request.ts';
import { type Chat, type ChatMessage, type NewMessage, newMessageDefaults } from '../../../entities/conversations/chats/chat.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Kin } from '../../../storage/conversations/chats/branches.ts';
import { findModelId } from '../../agents/agents.ts';
import { readSecrets } from '../../agents/tools/secrets.ts';
import type { Deps } from '../../deps.ts';
import { visibleChats } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { projectOfRun } from '../projects.ts';
import { type AdmittedAnswerer, admitAnswerer, plainRequest } from '../runs/plan.ts';
import { findVisibleQuestion, firstEvents } from '../runs/thread.ts';
import { getOwnChat, missingMessage, runActive } from './chats.ts';
import type { SendMessageInput } from './message-input.ts';
import { agentOfChat, type BegunRun, modelFor, newRun, planMessage, prepareMessage, startTurn } from './messages.ts';
import { isAnswer, visibleMessages } from './transcripts.ts';

/** A new text of a message. It is answered at once, so there is no thread mode. */
export type EditMessageInput = Omit<SendMessageInput, 'threadMode'>;

export interface RegenerateMessageInput {
  /** Another model than the one that answered before. */
  readonly modelId?: string | null | undefined;
  /** The secrets of the request again, where it had some: they are kept nowhere. */
  readonly secrets?: unknown;
  /** The version of the agent that answers instead; 0: the draft. For those who may edit the agent. */
  readonly version?: number | undefined;
}

/** Enough to find what was asked: no message has so many answers in a row. */
const questionMessagesMax = 300;

/**
 * Begins a branch with another text in place of a message of the user, and the run that answers it. The old branch stays, and can be selected again.
 *
 * @param chatId  the chat that the message must be in, when the caller names one.
 * @throws DomainError NOT_FOUND; FORBIDDEN for others than the user of the chat; CONFLICT for a message that the user did not write; RUN_ACTIVE while a
 * run answers, waits or is paused; and like `sendMessage`.
 */
export async function editMessage(
  deps: Deps,
  caller: Caller,
  id: string,
  input: EditMessageInput,
  { chatId, isWhole = false }: MessagePlace = {},
): Promise<BegunRun> {
  const { message, chat } = await getOwnMessage(deps, caller, id, chatId);
  if (message.role !== 'user') {
    throw new DomainError('CONFLICT', 'Only a message of the user can be edited', { param: 'id' });
  }
  const { run, secrets, said: userMessage, warnings } = await prepareMessage(deps, caller, chat, input, isWhole);
  const branch = { beside: message.id };
  const turn = { branch, events: firstEvents(run.id, warnings), lastMessages: 0, approvalIds: [], messages: () => [userMessage] };
  return { ...(await startTurn(deps, run, secrets, turn)), warnings };
}

/**
 * Begins a branch with another answer, and the run that gives it: with the same tools and instructions, and the same model unless another one is named.
 * With a version, that one answers the question as one without options. It takes an answer, whatever became of its run, or the message that was not answered. The old answer stays, and can be selected again.
 *
 * @throws DomainError as `editMessage`; CONFLICT for a message that is no part of an exchange, and for an answer that made calls that a person approved;
 * MISSING_REQUIRED_PARAMETER for the secrets of the request.
 */
export async function regenerateMessage(
  deps: Deps,
  caller: Caller,
  id: string,
  input: RegenerateMessageInput,
  { chatId, isWhole = false }: MessagePlace = {},
): Promise<BegunRun> {
  const { message, chat } = await getOwnMessage(deps, caller, id, chatId);
  if (!isAnswerable(message)) {
    throw new DomainError('CONFLICT', 'This message is no answer, and asks for none', { param: 'id' });
  }
  const faults = new Faults();
  const secrets = readSecrets(input.secrets, faults);
  faults.throwIfAny();
  const { request, modelId, warnings } = await buildRequest(deps, caller, chat, message, input);
  if (request.needsSecrets === true && Object.keys(secrets).length === 0) {
    const text = 'The request had secrets, which are kept nowhere: give them again in secrets';
    throw new DomainError('MISSING_REQUIRED_PARAMETER', text, { param: 'secrets' });
  }
  await deps.runs.requireRoom(caller);
  const run = newRun(deps, caller, { chat, modelId, request: isWhole ? { ...request, isWhole } : request, secrets });
  // Where the new branch begins, also when the run says nothing. Models and people do not get it.
  const mark: NewMessage = {
    ...newMessageDefaults,
    ...{ id: deps.newId('message'), createdAt: run.createdAt, runId: run.id, context: [], isHidden: true },
    role: 'assistant',
  };
  const branch = { answer: message.id };
  const turn = { branch, events: firstEvents(run.id, warnings), lastMessages: 0, approvalIds: [], messages: () => [mark] };
  return { ...(await startTurn(deps, run, secrets, turn)), warnings };
}

/** Whether a message is an answer, or one that an answer can be given to. */
export function isAnswerable(message: ChatMessage): boolean {
  return message.role !== 'system' && (message.role !== 'assistant' || isAnswer(message));
}

/**
 * Makes the newest branch that goes through a message the one that people and models read, and ends a comparison of answers. The agent of that branch goes
 * on in the chat, where other agents answered beside it.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for others than the user of the chat; RUN_ACTIVE while a run answers, waits or is paused.
 */
export async function selectBranch(deps: Deps, caller: Caller, messageId: string, chatId?: string | null): Promise<Chat> {
  const { message, chat } = await getOwnMessage(deps, caller, messageId, chatId, 'messageId');
  await deps.audit.change(caller, async () => {
    const result = await deps.storage.conversations.branches.select(chat.id, message.id);
    if (result.kind === 'missing') throw missingMessage('messageId');
    if (result.kind === 'run-active') throw runActive(result.runId);
    return { id: chat.id };
  });
  return getOwnChat(deps, caller, chat.id);
}

/** How a caller names a message besides its id, and reads the answer. */
export interface MessagePlace {
  readonly chatId?: string | null | undefined;
  /** The answer is read at its end only. */
  readonly isWhole?: boolean;
}

/**
 * A message that people see, of a chat of the caller, on any branch.
 *
 * @param param  the argument that names it.
 * @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only read the chat.
 */
export async function getOwnMessage(
  deps: Deps,
  caller: Caller,
  id: string,
  chatId?: string | null,
  param?: string,
): Promise<{ readonly message: ChatMessage; readonly chat: Chat }> {
  const [message] = isId('message', id) ? await deps.storage.conversations.branches.find([id], visibleChats(caller)) : [];
  if (message === undefined || (typeof chatId === 'string' && chatId !== message.chatId)) throw missingMessage(param);
  return { message, chat: await getOwnChat(deps, caller, message.chatId) };
}

/** The messages among `ids` that people see, in chats that the caller may read, in any order. */
export async function getMessages(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly ChatMessage[]> {
  const messageRows = await deps.storage.conversations.branches.find(ids, visibleChats(caller));
  for (const { chatId: id, orgId, userId } of messageRows) deps.audit.read(caller, 'chat', [{ id, orgId, userId }]);
  return visibleMessages(deps, messageRows);
}

/** The places of messages that the caller may read, in the order of `ids`. Cost: one statement. */
export async function listKin(deps: Deps, ids: readonly string[]): Promise<readonly Kin[]> {
  const kinById = await deps.storage.conversations.branches.kinOf(ids);
  return ids.map((id) => kinById.get(id) ?? { parentId: null, siblingIds: [id] });
}

/** The ids of the messages that follow messages that the caller may read, on all branches, in the order of `ids`. Cost: one statement. */
export async function listReplies(deps: Deps, ids: readonly string[]): Promise<readonly (readonly string[])[]> {
  const repliesById = await deps.storage.conversations.branches.repliesOf(ids);
  return ids.map((id) => repliesById.get(id) ?? []);
}

/** The ids of the last messages of the active branches of chats that the caller may read, in the order of `chatIds`. Cost: one statement. */
export async function listLeaves(deps: Deps, chatIds: readonly string[]): Promise<readonly (string | null)[]> {
  const leavesByChat = await deps.storage.conversations.branches.leavesOf(chatIds);
  return chatIds.map((id) => leavesByChat.get(id) ?? null);
}

/** What is asked again: as the run of the message was asked, else, for a copied message or another version, as a message without options. */
export async function buildRequest(
  deps: Deps,
  caller: Caller,
  chat: Chat,
  message: ChatMessage,
  { modelId, version }: Pick<RegenerateMessageInput, 'modelId' | 'version'>,
) {
  // Refused when the caller may no longer use the agent.
  const agent = await agentOfChat(deps, caller, chat, version);
  if (version !== undefined) {
    const model = await modelFor(deps, modelId ?? (agent === undefined ? '' : findModelId(deps, agent)));
    return { agent, ...(await planQuestion(deps, caller, chat, message, { agent, model, userInputs: chat.userInputs })) };
  }
  const before = message.runId === null ? undefined : await deps.storage.conversations.runs.findRequest(message.runId);
  const ofAgent = agent === undefined ? (chat.modelId ?? '') : findModelId(deps, agent);
  const model = await modelFor(deps, modelId ?? before?.modelId ?? ofAgent);
  if (before !== undefined) {
    const { approvals, isWhole: _isWhole, ...request } = before.request as StoredRequest;
    if (approvals === undefined) return { agent, request, modelId: model.id, warnings: [] };
    const text = 'A person approved calls for this answer, once: regenerate the answer before it';
    throw new DomainError('CONFLICT', text, { param: 'id' });
  }
  return { agent, ...(await planQuestion(deps, caller, chat, message, { agent, model, userInputs: chat.userInputs })) };
}

/** The plan of a run that answers a message of a chat as one without options. */
export async function planQuestion(
  deps: Deps,
  caller: Caller,
  chat: Chat,
  message: ChatMessage,
  { agent, model, userInputs }: Pick<AdmittedAnswerer, 'agent' | 'model' | 'userInputs'>,
) {
  const line = await deps.storage.conversations.chats.history(chat.id, questionMessagesMax, { messageId: message.id });
  const answerer = await admitAnswerer(deps, caller, plainRequest, { agent, model, userInputs });
  const subject = {
    chatId: chat.id,
    question: findVisibleQuestion(line),
    date: undefined,
    project: await projectOfRun(deps, caller, chat.projectId),
  };
  const request = planMessage(deps, caller, plainRequest, answerer, subject);
  return { request, modelId: model.id, warnings: answerer.warnings };
}
