import { createChat, getOwnChat } from '../domain/conversations/chats/chats.ts';
import { sendMessage } from '../domain/conversations/chats/messages.ts';
import { cancelRun, followRun } from '../domain/conversations/runs/runs.ts';
import { performOperation, requireOperation } from '../domain/ground/audit/operation.ts';
import { RunFold } from '../engine/runs/events/fold.ts';
import type { Chat } from '../entities/conversations/chats/chat.ts';
import type { RunEvent, RunSnapshot } from '../entities/conversations/runs/event.ts';
import { DomainError } from '../entities/ground/errors.ts';
import type { Warning } from '../entities/ground/warning.ts';
import type { CallContext } from '../http/context.ts';
import type { ListedAgent } from './directory.ts';

export interface Question {
  readonly question: string;
  /** The chat to go on with; absent: a new one. */
  readonly chatId: string | undefined;
  /** Values of the agent's user inputs, for a new chat. */
  readonly inputs: unknown;
}

export interface AskOptions {
  /** Fires when the client cancels the call: the run ends. */
  readonly cancelled: AbortSignal;
  /** Called with what the agent is doing. */
  readonly onProgress: (message: string) => void;
}

/** An agent's answer to a question. */
export interface Answer {
  readonly text: string;
  readonly chatId: string;
  readonly runId: string;
  readonly citations: readonly { readonly index: number; readonly title: string; readonly url: string }[];
}

/**
 * Asks an agent in a chat of the caller, as a message on the REST API does, and waits for the answer. A client that leaves ends nothing: the
 * answer stands in the chat.
 *
 * @throws DomainError INSUFFICIENT_SCOPE; NOT_FOUND for a chat that is not the caller's; INVALID_VALUE for a chat with another agent; and what
 * the run failed with.
 */
export async function ask(
  context: CallContext,
  agent: ListedAgent,
  { question, chatId, inputs }: Question,
  { cancelled: cancelSignal, onProgress }: AskOptions,
): Promise<Answer> {
  const { deps, caller } = context;
  requireOperation(context, 'Mutation.sendMessage', [agent.id]);
  const chat = chatId === undefined ? await newChat(context, agent, inputs) : await chatWith(context, agent, chatId);
  cancelSignal.throwIfAborted();
  const begunRun = await performOperation(context, 'Mutation.sendMessage', [chat.id], () =>
    sendMessage(deps, caller, chat.id, { prompt: question }),
  );
  const cancel = () =>
    void cancelRun(deps, caller, begunRun.id).catch((error: unknown) =>
      deps.logger.warn({ err: error }, 'a run was not cancelled'),
    );
  if (cancelSignal.aborted) cancel();
  else cancelSignal.addEventListener('abort', cancel, { once: true });
  try {
    const fold = new RunFold();
    const stream = await followRun(deps, caller, { id: begunRun.id }, -1, context.signal);
    for await (const batch of stream.batches()) {
      fold.add(batch);
      for (const event of batch) tell(event, onProgress);
    }
    context.signal.throwIfAborted();
    const run = fold.snapshot();
    return toAnswer(run, chat.id, [...(begunRun.warnings ?? []), ...(run.warnings ?? [])]);
  } finally {
    cancelSignal.removeEventListener('abort', cancel);
  }
}

function newChat(context: CallContext, agent: ListedAgent, inputs: unknown): Promise<Chat> {
  const { deps, caller } = context;
  return performOperation(context, 'Mutation.createChat', [agent.id], () =>
    createChat(deps, caller, agent.id, inputs === undefined ? {} : { userInputs: inputs }),
  );
}

async function chatWith({ deps, caller }: CallContext, agent: ListedAgent, chatId: string): Promise<Chat> {
  const chat = await getOwnChat(deps, caller, chatId);
  if (chat.agentId === agent.id) return chat;
  throw new DomainError('INVALID_VALUE', 'chat_id is a chat with another agent; leave it out to begin a new one', {
    param: 'chat_id',
  });
}

function tell(event: RunEvent, onProgress: (message: string) => void): void {
  if (event.type === 'response.in_progress') onProgress('Thinking');
  else if (event.type === 'response.output_item.added') {
    if (event.item.type === 'message') onProgress('Answering');
    else if (event.statusHints?.[0] !== undefined) onProgress(event.statusHints[0]);
  } else if (event.type === 'response.output_text.delta') onProgress(JSON.parse(event.json) as string);
}

/** Warnings that a person can act on. */
const toldCodes: readonly string[] = ['grant_required', 'mcp_unavailable'];

function toAnswer(run: RunSnapshot, chatId: string, warnings: readonly Warning[] = []): Answer {
  if (run.status === 'failed') throw new DomainError(run.error?.code ?? 'SERVER_ERROR', run.error?.message ?? 'The run failed');
  if (run.status === 'cancelled') throw new DomainError('CLIENT_CLOSED_REQUEST', 'The run was cancelled');
  const messages = run.output.flatMap((item) => (item.type === 'message' ? [item] : []));
  const calls = run.output.flatMap((item) => (item.type === 'function_call' ? [item.name] : []));
  const notes = [
    ...warnings.flatMap(({ code, message }) => (toldCodes.includes(code) ? [`(${message}.)`] : [])),
    ...(run.incompleteReason === null ? [] : [`(The answer is not complete: ${run.incompleteReason}.)`]),
    ...(calls.length === 0 ? [] : [`(The agent wants its user to run ${calls.join(', ')}, which a client of MCP cannot do.)`]),
  ];
  const citations = new Map(messages.flatMap((message) => message.citations).map((one) => [one.index, one]));
  return {
    text: [...messages.map(({ text }) => text), ...notes].join('\n\n'),
    chatId,
    runId: run.runId,
    citations: [...citations.values()].map(({ index, name, url }) => ({ index, title: name, url })),
  };
}
