import type { ChatMessage } from '../../../entities/conversations/chats/chat.ts';
import type { Feedback } from '../../../entities/conversations/chats/feedback.ts';
import type { CaseMessage, Dataset, RecordedCall } from '../../../entities/conversations/evaluation/dataset.ts';
import type { RunEvent, RunItem } from '../../../entities/conversations/runs/event.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { NewCase } from '../../../storage/conversations/evaluation/datasets.ts';
import type { Deps } from '../../deps.ts';
import { visibleChats } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';
import { readRuns } from '../runs/runs.ts';
import { asVisible } from '../runs/thread.ts';
import { caseBounds } from './case-input.ts';
import { changeCases } from './cases.ts';
import { getDataset } from './datasets.ts';

const runsAtOnce = 100;

/**
 * Adds cases made of runs of the dataset's agent: the question with the messages before it, and what its tools gave. An answer that was rated up is what
 * is expected; of one that was rated down, the comment is what a judge weighs. A case that expects nothing is a draft.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; INSUFFICIENT_SCOPE for a key that may not read chats; naming each run that the caller may not read.
 *
 * Cost: six statements, and one for each run.
 */
export async function addRunsToDataset(
  deps: Deps,
  caller: Caller,
  datasetId: string,
  runIds: readonly string[],
): Promise<Dataset> {
  const dataset = await getDataset(deps, caller, datasetId);
  if (!caller.scopes.has('CHATS:READ'))
    throw new DomainError('INSUFFICIENT_SCOPE', 'Cases of runs hold what was said in chats: the key needs CHATS:READ');
  const runs = await readableRuns(deps, caller, dataset, runIds);
  const { chats, feedback, runEvents } = deps.storage.conversations;
  const said = Map.groupBy(await chats.messagesOfRuns(runs.map(({ id }) => id)), ({ runId }) => runId ?? '');
  const ratings = await feedback.ofMessages([...said.values()].flat().map(({ id }) => id));
  const logs = await runEvents.readLogs(runs.map(({ id }) => id));
  const added: NewCase[] = [];
  for (const run of runs) {
    const messages = said.get(run.id) ?? [];
    const before = await messagesBefore(deps, run, messages);
    const rating = messages.map(({ id }) => ratings.get(id)).find((one) => one !== undefined);
    added.push(toRunCase(deps, run, { messages, before, rating, events: logs.get(run.id) ?? [] }));
  }
  return changeCases(deps, caller, dataset, { added });
}

/** In the order of the ids. @throws DomainError naming each run that is not there for the caller, is of another agent, or is in no chat. */
async function readableRuns(deps: Deps, caller: Caller, dataset: Dataset, runIds: readonly string[]): Promise<readonly Run[]> {
  const faults = new Faults();
  if (runIds.length === 0) faults.add('runIds', 'runIds must have at least one item', 'EMPTY_ARRAY');
  faults.requireCount('runIds', runIds, runsAtOnce);
  faults.throwIfAny();
  const ids = [...new Set(runIds)];
  const byId = new Map(
    (await deps.storage.conversations.runs.findInChats(ids, visibleChats(caller))).map((run) => [run.id, run]),
  );
  for (const [index, id] of runIds.entries()) {
    const run = byId.get(id);
    const param = `runIds[${index}]`;
    if (run === undefined || run.chatId === null)
      faults.add(param, `${param} is no run of a chat that you may read`, 'NOT_FOUND');
    else if (run.agentId !== dataset.agentId)
      faults.add(param, `${param} was answered by another agent than that of the dataset`);
    else if (run.status === 'in_progress') faults.add(param, `${param} has not ended yet`);
  }
  faults.throwIfAny();
  const runs = ids.flatMap((id) => byId.get(id) ?? []);
  readRuns(deps, caller, runs);
  return runs;
}

/** What people and the agent said in the chat before a run, oldest first. */
async function messagesBefore(deps: Deps, run: Run, messages: readonly ChatMessage[]): Promise<readonly CaseMessage[]> {
  const [first] = messages;
  if (run.chatId === null || first === undefined) return [];
  const history = await deps.storage.conversations.chats.history(run.chatId, caseBounds.messagesMax, { runId: run.id });
  return history
    .filter(({ ordinal }) => ordinal < first.ordinal)
    .flatMap(asVisible)
    .flatMap(({ role, content }) =>
      (role === 'user' || role === 'assistant') && content.trim() !== ''
        ? [{ role, content: content.slice(0, caseBounds.messageMax) }]
        : [],
    );
}

interface RunWords {
  readonly messages: readonly ChatMessage[];
  readonly before: readonly CaseMessage[];
  readonly rating: Feedback | undefined;
  readonly events: readonly RunEvent[];
}

function toRunCase(deps: Deps, run: Run, { messages, before, rating, events }: RunWords): NewCase {
  const visible = messages.flatMap(asVisible);
  const question = visible.findLast(({ role }) => role === 'user')?.content ?? '';
  const answer = visible.findLast(({ role, content }) => role === 'assistant' && content !== '');
  const expected = rating?.rating === 'UP' ? (answer?.content ?? null) : null;
  const correction = rating?.rating === 'DOWN' ? rating.comment : null;
  const rubric = correction === null ? null : `A person rated an earlier answer down and wrote: ${correction}`;
  const tags = [
    ...(rating?.rating === 'DOWN' ? ['rated-down'] : []),
    ...(run.hasFoundNothing ? ['unanswered'] : []),
    ...(rating?.tags ?? []),
  ];
  return {
    ...{ id: deps.newId('datasetCase'), sourceRunId: run.id, sourceChatId: run.chatId, sourceUserId: run.userId },
    content: {
      ...{ question: question.slice(0, caseBounds.questionMax), messages: before, userInputs: {}, files: [] },
      ...{ expected, mustContain: [], mustNotContain: [], mustCite: [], mustCall: [], mustNotCall: [], mustRefuse: null, rubric },
      recordedCalls: recordCalls(events),
    },
    ...{ tags: [...new Set(tags)].slice(0, caseBounds.tagsMax), weight: 1, isDraft: expected === null && rubric === null },
  };
}

/** The calls of a run of tools that work in the service, with what they gave. Skills are read anew, and MIRRORED sources searched anew. */
export function recordCalls(events: readonly RunEvent[]): readonly RecordedCall[] {
  const items = events.flatMap((event): readonly RunItem[] => (event.type === 'response.output_item.done' ? [event.item] : []));
  const outputs = new Map(
    items.flatMap((item) => (item.type === 'server_tool_call_output' ? [[item.callId, item] as const] : [])),
  );
  return items
    .flatMap((item): readonly RecordedCall[] => {
      if (item.type !== 'server_tool_call') return [];
      const result = item.result ?? outputs.get(item.callId);
      if (result === undefined || result.isConfidential === true || result.isMirrored === true) return [];
      const output = result.output.slice(0, caseBounds.outputMax);
      return [{ name: item.name, arguments: item.arguments, output, error: result.error?.message ?? null }];
    })
    .slice(0, caseBounds.callsMax);
}
