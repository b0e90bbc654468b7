import type { ModelInfo } from '../../engine/models/catalog.ts';
import type { StoredRequest } from '../../engine/runs/stored/request.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import { type Chat, type ChatMessage, type NewMessage, newMessageDefaults, type ThreadMode } from '../../entities/chats/chat.ts';
import { DomainError } from '../../entities/errors.ts';
import { isId } from '../../entities/ids.ts';
import type { RunEventStream } from '../../entities/runs/event.ts';
import type { NewRun, Run } from '../../entities/runs/run.ts';
import type { Turn } from '../../storage/chats/turns.ts';
import { canWriteChat, visibleChats } from '../access/access.ts';
import { agentForRun, modelIdOf } from '../agents/agents.ts';
import { fillVariables } from '../agents/parts/user-input.ts';
import { requireNoToolConflict, withAgentTools } from '../agents/tools.ts';
import { getOwnChat } from '../chats/chats.ts';
import {
  chatNameOf,
  type ReadMessage,
  readMessage,
  readToolOutputs,
  requireAwaited,
  type SendMessageInput,
  type SubmitToolOutputsInput,
  toolOutputConflict,
} from '../chats/message-input.ts';
import { contextOfPrompt } from '../chats/prompt-files.ts';
import { asShown } from '../chats/transcripts.ts';
import { parametersOf } from '../completions/completions.ts';
import type { Deps } from '../deps.ts';

/** Enough messages to contain the outputs of all calls of a message: no model makes more calls at once. */
const lastMessagesSeen = 300;
const interruptionsMax = 3;

/**
 * @param chatId  the chat that the run must be in, when the caller names one.
 * @throws DomainError NOT_FOUND, also for a run of a chat that the caller may not read.
 */
export async function getRun(deps: Deps, caller: Caller, id: string, chatId?: string | null): Promise<Run> {
  const [run] = isId('run', id) ? await deps.storage.runs.findInChats([id], visibleChats(caller)) : [];
  if (run === undefined || (typeof chatId === 'string' && run.chatId !== chatId))
    throw new DomainError('NOT_FOUND', 'There is no such run', { param: 'runId' });
  return run;
}

/**
 * The messages of some runs until now, one array for each run, in order, beginning with the message that began the run. Empty for a run of a chat
 * that the caller may not read: administrators see which runs are active, not what people write in them.
 *
 * @throws DomainError REPLY_TOO_LARGE.
 *
 * Cost: one statement; one more when some runs belong to other users.
 */
export async function listRunMessages(
  deps: Deps,
  caller: Caller,
  runs: readonly Run[],
): Promise<readonly (readonly ChatMessage[])[]> {
  const { storage } = deps;
  const isOwn = (run: Run) => canWriteChat(caller, run);
  const others = runs.filter((run) => !isOwn(run)).map(({ id }) => id);
  const readable = others.length === 0 ? [] : await storage.runs.findInChats(others, visibleChats(caller));
  const messages = await storage.chats.messagesOfRuns([...runs.filter(isOwn), ...readable].map(({ id }) => id));
  const byRun = Map.groupBy(messages, ({ runId }) => runId);
  return runs.map(({ id }) => (byRun.get(id) ?? []).flatMap(asShown));
}

/**
 * Sends a message to a chat of the caller and begins the run that answers it. The run continues when the caller disconnects.
 *
 * @returns the new run; follow it with `followRun`.
 * @throws DomainError NOT_FOUND, FORBIDDEN, MODEL_NOT_FOUND, RUN_ACTIVE while another run holds the chat, OVERLOADED, or with every fault of the
 * input.
 *
 * Cost: one transaction; files and addresses of the prompt are read before (domain/chats/prompt-files.ts).
 */
export async function sendMessage(deps: Deps, caller: Caller, chatId: string, input: SendMessageInput): Promise<Run> {
  const chat = await getOwnChat(deps, caller, chatId);
  const message = readMessage(input, deps.settings);
  const agent = await agentOfChat(deps, caller, chat);
  const model = await modelFor(deps, input.modelId ?? (agent === undefined ? (chat.modelId ?? '') : modelIdOf(deps, agent)));
  if (agent !== undefined) requireNoToolConflict(input.tools ?? [], agent);
  const request = requestOf(chat, agent, message, input.date ?? undefined);
  const context = await contextOfPrompt(deps, caller, chat, message.parts, model, request.inputTokensMax);
  return begin(
    deps,
    caller,
    { chat, modelId: model.id, request, secrets: message.secrets, threadMode: input.threadMode ?? 'collect' },
    {
      lastMessages: 0,
      messages: (_last, run) => [
        {
          ...newMessage(deps, run, {
            ...{ role: 'user', content: message.text, parts: message.parts, toolCallId: null, toolStatus: null },
          }),
          context,
        },
      ],
    },
  );
}

/**
 * Answers the calls of a run and begins the run that continues with them: same model, tools and instructions. All awaited calls are
 * answered together, each once.
 *
 * @throws DomainError NOT_FOUND for a message without calls; INVALID_VALUE for unknown ids; MISSING_REQUIRED_PARAMETER when some
 * are missing; TOOL_OUTPUT_CONFLICT when they were answered or the chat went on; and like `sendMessage`.
 */
export async function submitToolOutputs(deps: Deps, caller: Caller, chatId: string, input: SubmitToolOutputsInput): Promise<Run> {
  const chat = await getOwnChat(deps, caller, chatId);
  const { outputs, secrets } = readToolOutputs(input);
  const { systemMessageId } = input;
  const asking = isId('message', systemMessageId) ? await deps.storage.chats.findMessage(chat.id, systemMessageId) : undefined;
  const calls = asking?.toolCalls ?? [];
  const before = typeof asking?.runId === 'string' ? await deps.storage.runs.findRequest(asking.runId) : undefined;
  if (calls.length === 0 || before === undefined) {
    throw new DomainError('NOT_FOUND', 'There is no such message that waits for tool outputs', { param: 'systemMessageId' });
  }
  requireAwaited(
    outputs,
    calls.map(({ id }) => id),
  );
  await agentOfChat(deps, caller, chat);
  const model = await modelFor(deps, before.modelId);
  const request = { ...(before.request as StoredRequest), chatName: null };
  return begin(
    deps,
    caller,
    { chat, modelId: model.id, request, secrets, threadMode: 'collect' },
    {
      lastMessages: lastMessagesSeen,
      messages: (last, run) => {
        // A later message means that the calls were answered, or that the chat went on without them.
        if (last.at(-1)?.id !== systemMessageId) throw toolOutputConflict();
        return outputs.map(({ toolCallId, status, output }) =>
          newMessage(deps, run, { role: 'tool', content: output, parts: null, toolCallId, toolStatus: status }),
        );
      },
    },
  );
}

const sweepEveryMs = 3_600_000;

/** Registers the deletion of events of runs that ended more than RUN_EVENTS_RETENTION_DAYS ago. Their messages stay in the chat. */
export function registerRunEventSweep({ jobs, settings, storage }: Deps): void {
  jobs.every('runs.sweep-events', sweepEveryMs, async (signal) => {
    while (!signal.aborted && (await storage.runEvents.sweep(settings.RUN_EVENTS_RETENTION_DAYS)) > 0);
  });
}

/**
 * The events of a run after a sequence number (-1: all), then new events. A reader that leaves stops nothing.
 *
 * @throws DomainError NOT_FOUND before the stream opens, also for a run whose events were deleted.
 */
export async function followRun(
  deps: Deps,
  caller: Caller,
  { id, chatId }: { readonly id: string; readonly chatId?: string | null | undefined },
  afterSequence: number,
  signal: AbortSignal,
): Promise<RunEventStream> {
  const run = await getRun(deps, caller, id, chatId);
  const isOver = run.status !== 'in_progress' && run.lastSequence > afterSequence;
  if (isOver && !(await deps.storage.runEvents.has(run.id))) {
    throw new DomainError('NOT_FOUND', 'The events of this run are no longer kept; what was said stands in its chat');
  }
  return deps.runs.follow(run.id, afterSequence, signal);
}

/** Stops a run of the caller's chat in any process; a finished run is returned unchanged. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function cancelRun(deps: Deps, caller: Caller, id: string, chatId?: string | null): Promise<Run> {
  const run = await getRun(deps, caller, id, chatId);
  if (!canWriteChat(caller, run)) throw new DomainError('FORBIDDEN', 'Only the user of a chat may cancel its runs');
  if (run.status !== 'in_progress') return run;
  await deps.runs.cancel(run.id);
  return getRun(deps, caller, id);
}

interface Beginning {
  readonly chat: Chat;
  readonly modelId: string;
  readonly request: StoredRequest;
  readonly secrets: Readonly<Record<string, string>>;
  readonly threadMode: ThreadMode;
}

async function begin(
  deps: Deps,
  caller: Caller,
  { chat, modelId, request: given, secrets, threadMode }: Beginning,
  turn: Pick<Turn, 'lastMessages'> & { messages(last: readonly ChatMessage[], run: NewRun): readonly NewMessage[] },
): Promise<Run> {
  await deps.runs.requireRoom(caller);
  const { orgId, userId, keyId } = caller;
  const { id: chatId, agentId } = chat;
  const request = { ...given, needsSecrets: Object.keys(secrets).length > 0 };
  const run: NewRun = { id: deps.newId('run'), createdAt: deps.now(), orgId, userId, keyId, agentId, chatId, modelId, request };
  for (let attempt = 0; ; attempt += 1) {
    const result = await deps.storage.chats.startTurn({
      chatId,
      run,
      leaseMs: deps.settings.RUN_LEASE_MS,
      lastMessages: turn.lastMessages,
      messages: (last) => turn.messages(last, run),
    });
    if (result.kind === 'missing') throw new DomainError('NOT_FOUND', 'There is no such chat', { param: 'chatId' });
    if (result.kind === 'started') break;
    if (threadMode !== 'interrupt' || attempt >= interruptionsMax) throw runActive(result.runId);
    await deps.runs.cancel(result.runId);
  }
  deps.runs.startStored(run.id, secrets);
  return {
    ...{ id: run.id, createdAt: run.createdAt, startedAt: null, endedAt: null, orgId, userId, agentId, chatId, modelId },
    ...{ status: 'in_progress', incompleteReason: null, error: null, usage: null, selection: null, lastSequence: -1 },
    ...{ isWaiting: false, previousId: null },
  };
}

function runActive(runId: string): DomainError {
  return new DomainError(
    'RUN_ACTIVE',
    `This chat is being answered by ${runId}: wait for its end, cancel it, or send the message with threadMode "interrupt"`,
  );
}

/** Undefined for a thread that was opened with a plain model. */
async function agentOfChat(deps: Deps, caller: Caller, chat: Chat): Promise<RunnableAgent | undefined> {
  if (chat.agentId === null) return undefined;
  try {
    return await agentForRun(deps, caller, chat.agentId);
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'NOT_FOUND')) throw error;
    throw new DomainError('NOT_FOUND', 'The AI of this chat is gone, or you may not use it any more');
  }
}

async function modelFor(deps: Deps, modelId: string): Promise<ModelInfo> {
  const model = await deps.models.find(modelId);
  if (model !== undefined) return model;
  throw new DomainError('MODEL_NOT_FOUND', `There is no model "${modelId.slice(0, 100)}"`, { param: 'modelId' });
}

function requestOf(
  chat: Chat,
  agent: RunnableAgent | undefined,
  { text, tools, serverTools }: ReadMessage,
  date: Date | undefined,
): StoredRequest {
  const { options = {}, dataSourceIds = [], orgId = '' } = agent ?? {};
  const inputTokensMax = options.maxInputTokens?.[0];
  const question = text.trim();
  const instructions = agent === undefined ? '' : fillVariables(agent.instructions, agent.userInputs, chat.userInputs);
  const now = date === undefined ? [] : [`The user's date and time: ${date.toISOString()}`];
  return {
    instructions: [instructions.trim(), ...now].filter((part) => part !== '').join('\n\n'),
    ...withAgentTools(tools, agent),
    serverTools,
    parameters: parametersOf(options),
    knowledge: dataSourceIds.length === 0 ? null : { orgId, dataSourceIds, question },
    generateCitations: agent?.generateCitations ?? false,
    hidesSteps: agent?.intermediateStepsVisible !== true,
    chatName: chatNameOf(text),
    ...(inputTokensMax === undefined ? {} : { inputTokensMax }),
  };
}

function newMessage(
  deps: Deps,
  run: NewRun,
  message: Pick<NewMessage, 'role' | 'content' | 'parts' | 'toolCallId' | 'toolStatus'>,
): NewMessage {
  return { ...newMessageDefaults, ...message, id: deps.newId('message'), createdAt: run.createdAt, runId: run.id };
}
