import { createHash } from 'node:crypto';
import type { ModelInfo } from '../../../engine/models/catalog.ts';
import type { StoredRequest } from '../../../engine/runs/stored/request.ts';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { type Chat, type NewMessage, newMessageDefaults } from '../../../entities/conversations/chats/chat.ts';
import type { ChatMode } from '../../../entities/conversations/runs/response.ts';
import type { NewRun, Run } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId, timeOfId } from '../../../entities/ground/ids.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Turn } from '../../../storage/conversations/chats/turns.ts';
import type { ProjectOfRun } from '../../../storage/conversations/projects/projects.ts';
import { agentForRun, findModelId } from '../../agents/agents.ts';
import { canaryKeyOfChat } from '../../agents/versions/canary-choice.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { projectOfRun } from '../projects.ts';
import { answersOfOutputs, settleApprovals } from '../runs/approvals.ts';
import { showsSteps } from '../runs/options.ts';
import { type AdmittedAnswerer, admitAnswerer, planRun, type RunRequest, type RunSubject } from '../runs/plan.ts';
import { getRun } from '../runs/runs.ts';
import { findHolder, firstEvents, queueFull, startPlaced, toChatName } from '../runs/thread.ts';
import { getOwnChat, missingChat, missingMessage, runActive } from './chats.ts';
import {
  type ReadMessage,
  readMessage,
  readToolOutputs,
  requireAwaited,
  type SendMessageInput,
  type SubmitToolOutputsInput,
  toolOutputConflict,
} from './message-input.ts';
import { contextOfPrompt } from './prompt-files.ts';
import { nameAfterAnswer } from './titles.ts';

/** Enough messages to contain the outputs of all calls of a message: no model makes more calls at once. */
const lastMessagesSeen = 300;

/**
 * Sends a message to a chat of the caller and begins the run that answers it. The run goes on when the caller leaves. While another run
 * answers in the chat, `threadMode` says what becomes of the message (docs/responses.md, "Threads").
 *
 * @param isWhole  whether the answer is read at its end only.
 * @returns the run that answers the message: a new one, which may wait, or the one that the message joined. Follow it with `followRun`.
 * @throws DomainError NOT_FOUND, FORBIDDEN, MODEL_NOT_FOUND, THREAD_QUEUE_FULL, OVERLOADED, or with every fault of the input.
 *
 * Cost: one transaction; files and addresses of the prompt are read before (domain/conversations/chats/prompt-files.ts).
 */
export async function sendMessage(
  deps: Deps,
  caller: Caller,
  chatId: string,
  input: SendMessageInput,
  isWhole = false,
): Promise<BegunRun> {
  const chat = await getOwnChat(deps, caller, chatId);
  const {
    run,
    said: userMessage,
    secrets,
    warnings,
    chatMode,
    batchKey,
  } = await prepareMessage(deps, caller, chat, input, isWhole);
  const result = await deps.storage.conversations.threads.begin({
    ...{ run, events: firstEvents(run.id, warnings), messages: [userMessage], items: [], previousId: null },
    approvalIds: [],
    mustBeNewest: false,
    isBackground: true,
    mode: input.threadMode ?? 'collect',
    ...{ chatMode, batchKey },
    waitingMax: deps.settings.THREAD_WAITING_MAX,
    leaseMs: deps.settings.RUN_LEASE_MS,
    holder: findHolder(deps, secrets),
  });
  if (result.kind === 'full') throw queueFull(deps);
  // A message names no response that it goes on from, so its place cannot have moved.
  if (result.kind === 'missing' || result.kind === 'moved') throw missingChat();
  await startPlaced(deps, run.id, secrets, result);
  if (chat.name === '' && result.kind === 'started' && deps.settings.CHAT_TITLES === 'model')
    nameAfterAnswer(deps, caller, { chat, question: userMessage.content, runId: run.id, modelId: run.modelId });
  if (result.kind !== 'attached') return { ...begunRun(run, result.kind === 'waiting'), warnings };
  return { ...(await getRun(deps, caller, result.runId)), attached: result.how, warnings };
}

/** What a message needs of its chat, which may not be stored yet either. */
export type ThreadOfMessage = Pick<Chat, 'id' | 'agentId' | 'modelId' | 'userInputs' | 'projectId'>;

/** A message of the user that is not stored yet, and the run that is to answer it. */
interface PreparedMessage {
  readonly run: NewRun & { readonly chatId: string };
  readonly said: NewMessage;
  readonly secrets: Readonly<Record<string, string>>;
  readonly warnings: readonly Warning[];
  readonly chatMode: ChatMode;
  readonly batchKey: string;
}

/** Reads a message with the files and addresses that it names, and plans its run. @throws DomainError as `sendMessage`. */
export async function prepareMessage(
  deps: Deps,
  caller: Caller,
  chat: ThreadOfMessage,
  input: SendMessageInput,
  isWhole: boolean,
): Promise<PreparedMessage> {
  const message = readMessage(input, deps.settings, deps.tools);
  const { secrets } = message;
  const agent = await agentOfChat(deps, caller, chat, input.version);
  const model = await modelFor(deps, input.modelId ?? (agent === undefined ? (chat.modelId ?? '') : findModelId(deps, agent)));
  const answerer = await admitAnswerer(deps, caller, message, { agent, model, userInputs: chat.userInputs });
  const planned = planMessage(deps, caller, message, answerer, {
    chatId: chat.id,
    question: message.text,
    date: input.date ?? undefined,
    project: await projectOfRun(deps, caller, chat.projectId),
  });
  const request = isWhole ? { ...planned, isWhole } : planned;
  const context = await contextOfPrompt(deps, caller, chat, message.parts, model, request.inputTokensMax);
  await deps.runs.requireRoom(caller);
  const run = newRun(deps, caller, { chat, modelId: model.id, request, secrets });
  const { text: content, parts } = message;
  const userMessage = newMessage(deps, run, { role: 'user', content, parts, toolCallId: null, toolStatus: null });
  const batchKey = toBatchKey(input, message, request, model, deps.runs.fingerprint(secrets));
  return { run, said: { ...userMessage, context }, secrets, warnings: answerer.warnings, chatMode: message.chatMode, batchKey };
}

/** What a message asks, and where. */
interface AskedMessage {
  readonly chatId: string;
  readonly question: string;
  readonly date: Date | undefined;
  readonly project: ProjectOfRun | undefined;
}

/** The plan of the run that answers a message. */
export function planMessage(
  deps: Deps,
  caller: Caller,
  runRequest: RunRequest,
  answerer: AdmittedAnswerer,
  { chatId, question, date, project }: AskedMessage,
): StoredRequest {
  const inputTokensMax = answerer.agent?.options.maxInputTokens?.[0];
  const now = deps.now();
  const subject = { question, project, date: date ?? now, ...datesOfPrompt(timeOfId(chatId), date, now), inputTokensMax };
  return { ...planRun(deps, caller, runRequest, answerer, subject), chatName: toChatName(question) };
}

/**
 * Answers the calls of a run and begins the run that continues with them: same model, tools and instructions. All awaited calls are
 * answered together, each once.
 *
 * @throws DomainError NOT_FOUND for a message without calls; INVALID_VALUE for unknown ids; MISSING_REQUIRED_PARAMETER when some
 * are missing; TOOL_OUTPUT_CONFLICT when they were answered or the chat went on; and like `sendMessage`.
 */
export async function submitToolOutputs(
  deps: Deps,
  caller: Caller,
  chatId: string,
  input: SubmitToolOutputsInput,
  isWhole = false,
): Promise<Run> {
  const chat = await getOwnChat(deps, caller, chatId);
  const { outputs, secrets, options } = readToolOutputs(input);
  const { systemMessageId } = input;
  const asking = isId('message', systemMessageId)
    ? await deps.storage.conversations.chats.findMessage(chat.id, systemMessageId)
    : undefined;
  const calls = asking?.toolCalls ?? [];
  const before = typeof asking?.runId === 'string' ? await deps.storage.conversations.runs.findRequest(asking.runId) : undefined;
  if (calls.length === 0 || before === undefined) {
    throw new DomainError('NOT_FOUND', 'There is no such message that waits for tool outputs', { param: 'systemMessageId' });
  }
  requireAwaited(
    outputs,
    calls.map(({ id }) => id),
  );
  const agent = await agentOfChat(deps, caller, chat);
  const model = await modelFor(deps, before.modelId);
  const faults = new Faults();
  const answers = answersOfOutputs(calls, outputs, faults);
  faults.throwIfAny();
  const { approvals, ids: approvalIds } = await settleApprovals(deps, caller, answers);
  const { approvals: _earlier, isWhole: _wasWhole, ...baseRequest } = before.request as StoredRequest;
  const hidesSteps = baseRequest.hidesSteps && !showsSteps(caller, agent, options);
  const request = {
    ...{ ...baseRequest, chatName: null, hidesSteps },
    ...(approvals === undefined ? {} : { approvals }),
    ...(isWhole ? { isWhole } : {}),
  };
  await deps.runs.requireRoom(caller);
  const run = newRun(deps, caller, { chat, modelId: model.id, request, secrets });
  return startTurn(deps, run, secrets, {
    lastMessages: lastMessagesSeen,
    approvalIds,
    messages: (last) => {
      // A later message means that the calls were answered, or that the chat went on without them.
      if (last.at(-1)?.id !== systemMessageId) throw toolOutputConflict();
      return outputs.map(({ toolCallId, status, output }) =>
        newMessage(deps, run, { role: 'tool', content: output, parts: null, toolCallId, toolStatus: status }),
      );
    },
  });
}

/** Begins a run that no other one of its chat may meet. @throws DomainError NOT_FOUND, RUN_ACTIVE, and what `messages` throws. */
export async function startTurn(
  deps: Deps,
  run: NewRun & { readonly chatId: string },
  secrets: Readonly<Record<string, string>>,
  turn: Omit<Turn, 'chatId' | 'run' | 'leaseMs'>,
): Promise<Run> {
  const { chatId } = run;
  const result = await deps.storage.conversations.chats.startTurn({ ...turn, chatId, run, leaseMs: deps.settings.RUN_LEASE_MS });
  if (result.kind === 'missing') throw missingChat();
  if (result.kind === 'message-missing') throw missingMessage();
  if (result.kind === 'run-active') throw runActive(result.runId);
  deps.runs.startStored(run.id, secrets);
  return begunRun(run, false);
}

/** A run that answers a message. */
export interface BegunRun extends Run {
  /** How the message joined a run that was there before. */
  readonly attached?: 'collect' | 'steer';
  /** What of the agent has no effect on the run. */
  readonly warnings?: readonly Warning[];
}

interface Beginning {
  readonly chat: ThreadOfMessage;
  readonly modelId: string;
  readonly request: StoredRequest;
  readonly secrets: Readonly<Record<string, string>>;
}

export function newRun(
  deps: Deps,
  { orgId, userId, keyId }: Caller,
  { chat, modelId, request: storedRequest, secrets }: Beginning,
): NewRun & { readonly chatId: string } {
  const request = { ...storedRequest, needsSecrets: Object.keys(secrets).length > 0 };
  const { id: chatId, agentId } = chat;
  const agentVersion = agentId === null ? null : (request.agentVersion ?? null);
  return { id: deps.newId('run'), createdAt: deps.now(), orgId, userId, keyId, agentId, agentVersion, chatId, modelId, request };
}

export function begunRun(run: NewRun, isWaiting: boolean): Run {
  const { id, createdAt, orgId, userId, keyId, agentId, agentVersion, chatId, modelId } = run;
  return {
    ...{
      id,
      createdAt,
      startedAt: null,
      endedAt: null,
      orgId,
      userId,
      keyId,
      agentId,
      agentVersion,
      chatId,
      kind: 'chat',
      isStored: true,
    },
    ...{ modelId, answeredModelId: null, firstTokenMs: null, durationMs: null, cost: null, retrieval: null },
    ...{ hasFoundNothing: false, ratedUp: 0, ratedDown: 0, tags: [] },
    ...{ status: 'in_progress', incompleteReason: null, error: null, usage: null, selection: null, lastSequence: -1 },
    ...{ isWaiting, previousId: null },
  };
}

/** Equal for messages that differ in their prompt only: while they wait, one run may answer them together. */
function toBatchKey(
  { date }: SendMessageInput,
  { tools: { serviceTools } }: ReadMessage,
  { agentVersion, tools, toolChoice, flow, hidesSteps, hidesOutputs, routing }: StoredRequest,
  model: ModelInfo,
  secrets: string | null,
): string {
  const request = [
    agentVersion,
    tools,
    toolChoice ?? null,
    serviceTools,
    date?.toISOString() ?? null,
    flow?.flowId,
    flow?.version,
    hidesSteps,
    hidesOutputs,
    routing,
  ];
  const facts = ['message', model.id, ...request, secrets];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url');
}

/** Undefined for a thread that was opened with a plain model. @throws DomainError NOT_FOUND; UNSUPPORTED_VALUE for a version of a model. */
export async function agentOfChat(
  deps: Deps,
  caller: Caller,
  chat: Pick<Chat, 'id' | 'agentId'>,
  version?: number,
): Promise<RunnableAgent | undefined> {
  if (chat.agentId === null) {
    if (version === undefined) return undefined;
    throw new DomainError('UNSUPPORTED_VALUE', 'version: a model has no versions; the chat has no AI', { param: 'version' });
  }
  try {
    return await agentForRun(deps, caller, chat.agentId, { version, canary: canaryKeyOfChat(chat.id) });
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'NOT_FOUND') || error.detail.param === 'version') throw error;
    throw new DomainError('NOT_FOUND', 'The AI of this chat is gone, or you may not use it any more');
  }
}

export async function modelFor(deps: Deps, modelId: string): Promise<ModelInfo> {
  const model = await deps.models.find(modelId);
  if (model !== undefined) return model;
  throw new DomainError('MODEL_NOT_FOUND', `There is no model "${modelId.slice(0, 100)}"`, { param: 'modelId' });
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** As `Current date: 2026-11-22 (Sunday), 14:05 UTC`. */
/** A conversation that began so long ago gets the time of the server with each message. */
const freshMs = 5 * 60_000;

/**
 * The instructions have the date at the beginning of the conversation, so that a provider's prompt cache serves them to its end. A later date stands
 * behind the last message: one that the message names, to the minute, or that of the server after five minutes.
 */
function datesOfPrompt(begunAt: Date, named: Date | undefined, now: Date): Pick<RunSubject, 'lastInstructions' | 'ending'> {
  const lastInstructions = currentDate(begunAt);
  const text = currentDate(named ?? now);
  const isFresh = named === undefined && now.getTime() - begunAt.getTime() < freshMs;
  if (isFresh || text === lastInstructions) return { lastInstructions };
  return { lastInstructions, ending: `${text}. The date in the instructions is that of the beginning of this conversation.` };
}

function currentDate(date: Date): string {
  const [day = '', time = ''] = date.toISOString().split('T');
  return `Current date: ${day} (${weekdays[date.getUTCDay()]}), ${time.slice(0, 5)} UTC`;
}

export function newMessage(
  deps: Deps,
  run: NewRun,
  message: Pick<NewMessage, 'role' | 'content' | 'parts' | 'toolCallId' | 'toolStatus'>,
): NewMessage {
  return { ...newMessageDefaults, ...message, id: deps.newId('message'), createdAt: run.createdAt, runId: run.id };
}
