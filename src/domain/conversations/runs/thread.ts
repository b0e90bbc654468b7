import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { ChatMessage, NewMessage } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent, RunSnapshot } from '../../../entities/conversations/runs/event.ts';
import type { ResponseHead } from '../../../entities/conversations/runs/response.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import { cutText } from '../../../lib/text/text.ts';
import type { ThreadResult } from '../../../storage/conversations/chats/threads.ts';
import type { Deps } from '../../deps.ts';

/** What messages and responses have in common when they take their place in a thread (docs/responses.md, "Threads"). */

/** A turn that has its place: its run works, waits, or became part of another run. */
export type PlacedTurn = Extract<ThreadResult, { kind: 'started' | 'waiting' | 'attached' }>;

const busyRetrySeconds = 5;

/** The first events of a run: readers get them at once, also while the run waits for its thread. */
export function firstEvents(runId: string, warnings: readonly Warning[], head?: ResponseHead): readonly RunEvent[] {
  const run: RunSnapshot = {
    runId,
    status: 'in_progress',
    incompleteReason: null,
    error: null,
    usage: null,
    selection: null,
    output: [],
  };
  const eventExtras = { ...(head === undefined ? {} : { head }), ...(warnings.length === 0 ? {} : { warnings }) };
  return [
    { sequence: 0, type: 'response.created', run: { ...run, ...eventExtras } },
    { sequence: 1, type: 'response.in_progress', run },
  ];
}

/** Starts the run that was written, or tells the run that it joined or replaces. */
export async function startPlaced(
  deps: Deps,
  id: string,
  secrets: Readonly<Record<string, string>>,
  result: PlacedTurn,
): Promise<void> {
  const { runs, logger } = deps;
  if (result.kind === 'started') runs.startStored(id, secrets);
  else if (result.kind === 'attached') {
    runs.expectStored(result.runId, secrets);
    if (result.how === 'steer') runs.announce(result.runId);
  } else {
    runs.expectStored(id, secrets);
    const { stop } = result;
    if (stop?.how === 'force') await runs.cutOff(stop.runId);
    else if (stop !== undefined) {
      runs
        .cancel(stop.runId)
        .catch((error: unknown) => logger.error({ err: error, runId: stop.runId }, 'a run could not be stopped'));
    }
  }
}

/** The only process that can work on a run with these secrets; null without secrets. */
export function findHolder({ runs }: Deps, secrets: Readonly<Record<string, string>>): string | null {
  return Object.keys(secrets).length === 0 ? null : runs.owner;
}

export function queueFull({ settings }: Deps): DomainError {
  const message = `This thread has as many requests waiting as it may (${settings.THREAD_WAITING_MAX})`;
  return new DomainError('THREAD_QUEUE_FULL', message, { retryAfterSeconds: busyRetrySeconds });
}

/** Whether editors may read the chats that begin now with an agent. It never crosses organizations. */
export function showsNewChats(agent: Pick<RunnableAgent, 'chatLogsVisible' | 'orgId'> | undefined, orgId: string): boolean {
  return agent?.chatLogsVisible === true && agent.orgId === orgId;
}

const chatNameLength = 60;

/** The name of a chat after its first exchange: the beginning of the first line of the prompt that is not blank. */
export function toChatName(text: string): string | null {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '');
  if (line === undefined) return null;
  const words = line.trim().replaceAll(/\s+/g, ' ');
  if (words.length <= chatNameLength) return words;
  const end = words.lastIndexOf(' ', chatNameLength);
  return cutText(words, end > chatNameLength / 2 ? end : chatNameLength);
}

/** The text of the last visible user message, without its invisible parts; '' for none. */
export function findVisibleQuestion(messages: readonly (ChatMessage | NewMessage)[]): string {
  return (
    messages
      .flatMap((message) => asVisible(message))
      .findLast(({ role }) => role === 'user')
      ?.content.trim() ?? ''
  );
}

/** A message as people may read it; `[]` for a hidden one. */
export function asVisible<Message extends ChatMessage | NewMessage>(message: Message): readonly Message[] {
  const { context: _context, isHidden, ...visibleMessage } = message;
  if (isHidden) return [];
  const parts = visibleMessage.parts?.filter((part) => !('invisible' in part && part.invisible === true)) ?? null;
  return [{ ...visibleMessage, parts } as Message];
}
