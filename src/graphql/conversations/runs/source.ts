import { listRunMessages } from '../../../domain/conversations/runs/runs.ts';
import { listRunStates, readableRuns, stateWithoutContents } from '../../../domain/conversations/runs/states.ts';
import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { ServerCallItem } from '../../../entities/conversations/runs/event.ts';
import type { Run, RunState, RunView } from '../../../entities/conversations/runs/run.ts';
import { kindOfId } from '../../../entities/ground/ids.ts';
import type { GraphContext } from '../../ground/builder/context.ts';
import { loaded } from '../../ground/builder/loaded.ts';
import { loadNode } from '../../ground/builder/nodes.ts';

/**
 * What a `Run` is made of: the row of a stored run, or the state of any run. A field that needs the other one loads it, in one statement for all
 * runs of a list.
 */
export function isRow(run: RunView): run is Run {
  return 'orgId' in run;
}

/** The row; null where there is none yet: that of a run that is not stored is written after its end. */
export function findRow(run: RunView, context: GraphContext): Run | Promise<Run | null> | null {
  if (isRow(run)) return run;
  return rowById(run.id, context);
}

function rowById(id: string, context: GraphContext): Promise<Run | null> | null {
  return loadNode(context, kindOfId(id) ?? 'run', id);
}

/** The state: of a stored run, as far as its events are kept and the caller may read it. */
export async function loadState(run: RunView, context: GraphContext): Promise<RunState> {
  if (!isRow(run)) return run;
  return (await isReadable(context, run)) ? stateOfRow(context, run) : stateWithoutContents(run);
}

export async function findChatId(run: RunView, context: GraphContext): Promise<string | null> {
  if (!isRow(run) && run.head !== undefined) return run.head.conversationId;
  return (await findRow(run, context))?.chatId ?? null;
}

export async function findAgentId(run: RunView, context: GraphContext): Promise<string | null> {
  return run.agentId === undefined ? ((await findRow(run, context))?.agentId ?? null) : run.agentId;
}

export async function findKeyId(run: RunView, context: GraphContext): Promise<string | null> {
  const { keyId = '' } = (await findRow(run, context)) ?? {};
  return keyId === '' ? null : keyId;
}

/** The model that was asked for; of a run that an earlier version began, the one that answered. */
export async function findModelId(run: RunView, context: GraphContext): Promise<string> {
  const knownModelId = run.modelId ?? (await findRow(run, context))?.modelId;
  return knownModelId ?? (run.selection === null ? 'unknown' : `${run.selection.provider}/${run.selection.model}`);
}

/** A call of a tool of the service in the output of a stored run. */
export async function callInRun(runId: string, itemId: string, context: GraphContext): Promise<ServerCallItem | null> {
  const run = await rowById(runId, context);
  if (run === null) return null;
  const { output } = await loadState(run, context);
  const item = output.find(({ id }) => id === itemId);
  return item?.type === 'server_tool_call' ? item : null;
}

/** Whether the caller may read what a run says. */
const isReadable = loaded(async (runs: readonly Run[], { deps, caller }) => {
  const readable = new Set((await readableRuns(deps, caller, runs)).map(({ id }) => id));
  return runs.map(({ id }) => readable.has(id));
});

const stateOfRow = loaded((runs: readonly Run[], { deps }) => listRunStates(deps, runs));

/** The messages that a stored run began with and said; none for another run. */
export async function loadMessages(run: RunView, context: GraphContext): Promise<readonly ChatMessage[]> {
  const row = await findRow(run, context);
  return row !== null && (await isReadable(context, row)) ? messagesOfRow(context, row) : [];
}

/** The last message of the output. */
export async function findLastMessage(run: RunView, context: GraphContext): Promise<ChatMessage | null> {
  return (await loadMessages(run, context)).findLast(({ role }) => role === 'assistant') ?? null;
}

const messagesOfRow = loaded((runs: readonly Run[], { deps }) => listRunMessages(deps, runs));
