import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { UserInputValues } from '../../../entities/agents/part.ts';
import { type Chat, type ChatMessage, type NewMessage, newMessageDefaults } from '../../../entities/conversations/chats/chat.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { agentForRun, findModelId } from '../../agents/agents.ts';
import { readUserInputs } from '../../agents/parts/user-input.ts';
import type { Deps } from '../../deps.ts';
import { canWriteChat } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { firstEvents, showsNewChats } from '../runs/thread.ts';
import { buildRequest, getOwnMessage, isAnswerable, planQuestion } from './branches.ts';
import { missingChat, missingMessage } from './chats.ts';
import { agentOfChat, type BegunRun, begunRun, modelFor, newRun } from './messages.ts';

export interface CompareAnswersInput {
  /** Another agent than that of the chat. */
  readonly agentId?: string | null | undefined;
  /** Another model than that of the agent. */
  readonly modelId?: string | null | undefined;
  /** Another version of the agent; 0: the draft. For those who may edit the agent. */
  readonly version?: number | undefined;
}

/** What stands beside each other in a chat. */
export interface Comparison {
  /** The message that is answered. */
  readonly messageId: string;
  /** The runs that answer it beside the run of the active branch, in the order in which they began. */
  readonly runs: readonly Run[];
}

const besideMax = 3;

/**
 * Begins another answer beside one that is there, or that is being said, by another agent, version or model: on a branch of its own, which is not the
 * active one. Both go on at the same time. `selectBranch` goes on with one of them.
 *
 * @param id      the answer, or the message of the user.
 * @param chatId  the chat that it must be in, when the caller names one.
 * @throws DomainError NOT_FOUND, also for an agent that the caller may not use, and when the caller may no longer use the agent of the chat; FORBIDDEN
 * for others than the user of the chat; CONFLICT for a message that is no part of an exchange, for a request with secrets, and when as many answers stand
 * beside each other as may; MISSING_REQUIRED_PARAMETER for user inputs of the agent that the chat has no values for; and like `regenerateMessage`.
 */
export async function compareAnswers(
  deps: Deps,
  caller: Caller,
  id: string,
  input: CompareAnswersInput,
  chatId?: string,
): Promise<BegunRun> {
  const { message, chat } = await getOwnMessage(deps, caller, id, chatId, 'messageId');
  if (!isAnswerable(message)) {
    throw new DomainError('CONFLICT', 'This message is no answer, and asks for none', { param: 'messageId' });
  }
  const { agent, userInputs, request, modelId, warnings } = await planBeside(deps, caller, chat, message, input);
  if (request.needsSecrets === true) {
    throw new DomainError('CONFLICT', 'The request had secrets, which are kept nowhere: it cannot be answered beside', {
      param: 'messageId',
    });
  }
  await deps.runs.requireRoom(caller);
  const agentId = agent?.id ?? null;
  const run = newRun(deps, caller, { chat: { ...chat, agentId }, modelId, request: { ...request, chatName: null }, secrets: {} });
  const mark: NewMessage = {
    ...newMessageDefaults,
    ...{ id: deps.newId('message'), createdAt: run.createdAt, runId: run.id, context: [], isHidden: true },
    role: 'assistant',
  };
  const result = await deps.storage.conversations.comparisons.begin({
    ...{ run, mark, besideMax, userInputs, messageId: message.id, leaseMs: deps.settings.RUN_LEASE_MS },
    events: firstEvents(run.id, warnings),
    hidesChat: agentId !== chat.agentId && !showsNewChats(agent, chat.orgId),
  });
  if (result.kind === 'missing') throw missingChat();
  if (result.kind === 'message-missing') throw missingMessage('messageId');
  if (result.kind === 'full') {
    throw new DomainError('CONFLICT', `At most ${besideMax + 1} answers stand beside each other: go on with one of them`);
  }
  deps.runs.startStored(run.id, {});
  return { ...begunRun(run, false), warnings };
}

/** What stands beside each other in chats, in the order of `chats`; null where nothing does, and for chats of others. Cost: one statement. */
export async function listComparisons(
  { storage }: Deps,
  caller: Caller,
  chats: readonly Chat[],
): Promise<readonly (Comparison | null)[]> {
  const compared = chats.flatMap((chat) =>
    chat.comparedMessageId !== null && canWriteChat(caller, chat) ? [chat.comparedMessageId] : [],
  );
  const runs = await storage.conversations.comparisons.ofMessages(compared);
  return chats.map(({ comparedMessageId: messageId }) => {
    const ofMessage = messageId === null ? undefined : runs.get(messageId);
    return messageId === null || ofMessage === undefined ? null : { messageId, runs: ofMessage };
  });
}

/** Who answers beside, and what is asked: by the agent of the chat what was asked before, by another agent the question alone. */
async function planBeside(
  deps: Deps,
  caller: Caller,
  chat: Chat,
  message: ChatMessage,
  { agentId, modelId, version }: CompareAnswersInput,
) {
  if (typeof agentId !== 'string' || agentId === chat.agentId) {
    return { ...(await buildRequest(deps, caller, chat, message, { modelId, version })), userInputs: {} };
  }
  // Refused when the caller may no longer use the agent of the chat, as every other message.
  await agentOfChat(deps, caller, chat);
  const agent = await agentForRun(deps, caller, agentId, { version });
  const model = await modelFor(deps, modelId ?? findModelId(deps, agent));
  const userInputs = readValues(agent, chat.userInputs);
  return { ...(await planQuestion(deps, caller, chat, message, { agent, model, userInputs })), agent, userInputs };
}

/** The values of a chat that another agent asks for too. @throws DomainError naming those that it needs and the chat does not have. */
function readValues({ userInputs }: RunnableAgent, values: UserInputValues): UserInputValues {
  const names = new Set(userInputs.map(({ variableName }) => variableName));
  const shared = Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
  const faults = new Faults();
  const read = readUserInputs(userInputs, shared, faults);
  faults.throwIfAny();
  return read;
}
