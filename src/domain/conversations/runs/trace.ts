import { loggedTools, subagentsIn, workInLog } from '../../../engine/runs/record/log-steps.ts';
import type { FlowStepRecord } from '../../../entities/agents/flow.ts';
import { skillFunction } from '../../../entities/agents/skill-offer.ts';
import type {
  EndedSubagent,
  RetrievalRecord,
  RunEvent,
  RunItem,
  RunStatus,
  Subagent,
} from '../../../entities/conversations/runs/event.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import type { FoundPassage, RunStep } from '../../../entities/conversations/runs/step.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { editableAgents, visibleChats } from '../../ground/access/access.ts';
import { closePassages } from '../../knowledge/permissions/open-items.ts';
import { readRuns } from './runs.ts';

/** What a stored run did between question and answer, as one caller may see it. */
export interface RunTraceView {
  readonly runId: string;
  readonly status: RunStatus;
  /** Whether the caller sees steps and retrievals: the agent shows them, or the caller may edit it. */
  readonly showsSteps: boolean;
  /** What the model was told first, with the skills of the agent; null for callers who may not edit the agent, and for keys that may not read both. */
  readonly instructions: string | null;
  readonly steps: readonly FlowStepRecord[];
  readonly retrievals: readonly RetrievalRecord[];
  readonly modelCalls: readonly TracedModelCall[];
  readonly toolCalls: readonly TracedToolCall[];
  readonly subagents: readonly (Subagent | EndedSubagent)[];
  readonly skills: readonly TracedSkill[];
}
export interface TracedModelCall {
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null for runs of older versions. */
  readonly durationMs: number | null;
}
export interface TracedToolCall {
  readonly callId: string;
  readonly name: string;
  /** `awaited`: the caller is asked to make it. */
  readonly outcome: 'completed' | 'failed' | 'in_progress' | 'awaited';
  /** The code of the error; null for a good call. */
  readonly error: string | null;
  /** Null while the call is made, and for calls that the caller makes. */
  readonly durationMs: number | null;
}
export interface TracedSkill {
  readonly name: string;
  /** Null for callers who may not edit the agent, and for keys that may not read its skills. */
  readonly content: string | null;
}

/**
 * The trace of a run of a chat or of a stored response, derived from the log of its events.
 *
 * @throws DomainError NOT_FOUND, also for a run of a chat that the caller may not read, and when the events are no longer kept.
 */
export async function getRunTrace(deps: Deps, caller: Caller, runId: string): Promise<RunTraceView> {
  const [trace] = await listRunTraces(deps, caller, [runId]);
  if (trace !== undefined && trace !== 'unknown' && trace !== 'forgotten') return trace;
  const message =
    trace === 'forgotten'
      ? 'The events of this run are no longer kept, and its trace with them'
      : 'There is no such run. Runs that are not stored (completions, responses with "store": false) have no trace';
  throw new DomainError('NOT_FOUND', message, { param: 'runId' });
}

/**
 * The traces of some runs, in the order of their ids. `unknown`: there is no such stored run, or the caller may not read its chat. `forgotten`: its
 * events are no longer kept.
 *
 * @throws DomainError REPLY_TOO_LARGE
 *
 * Cost: six statements at most, for any number of runs.
 */
export async function listRunTraces(
  deps: Deps,
  caller: Caller,
  runIds: readonly string[],
): Promise<readonly (RunTraceView | 'unknown' | 'forgotten')[]> {
  const storedIds = runIds.filter((id) => isId('run', id) || isId('response', id));
  const runs = await deps.storage.conversations.runs.findInChats(storedIds, visibleChats(caller));
  const logs = await deps.storage.conversations.runEvents.readLogs(runs.map(({ id }) => id));
  const readable = runs.filter(({ id }) => logs.has(id));
  readRuns(deps, caller, readable);
  const { edited: editableIds, showing } = await findReaders(deps, caller, readable);
  // What belongs to an agent needs the scope of a direct look-up, too.
  const readsSkills = ({ id, agentId }: Run) => editableIds.has(id) && (agentId === null || caller.scopes.has('SKILLS:READ'));
  const readsAgent = (run: Run) => readsSkills(run) && (run.agentId === null || caller.scopes.has('AGENTS:READ'));
  const instructions = await deps.storage.conversations.runs.instructionsOf(readable.filter(readsAgent).map(({ id }) => id));
  const runsById = new Map(runs.map((run) => [run.id, run]));
  const traces = runIds.map((id) => {
    const run = runsById.get(id);
    const events = logs.get(id);
    if (run === undefined) return 'unknown';
    if (events === undefined) return 'forgotten';
    const reader = { showsSteps: showing.has(id), readsSkills: readsSkills(run), instructions: instructions.get(id) ?? null };
    return toTrace(deps, run, events, reader);
  });
  return Promise.all(traces.map((trace) => (typeof trace === 'string' ? trace : closeTrace(deps, caller, trace))));
}

/** Titles of documents that the caller may not open are hidden. */
async function closeTrace(deps: Deps, caller: Caller, { found, ...trace }: OpenTrace): Promise<RunTraceView> {
  if (found.length === 0) return trace;
  const closed = await closePassages(deps, caller, found.flat());
  let next = 0;
  const retrievals = trace.retrievals.map((retrieval) => {
    const passages = closed.slice(next, next + retrieval.passages.length).map(({ title, score }) => ({ title, score }));
    next += retrieval.passages.length;
    return { ...retrieval, passages };
  });
  return { ...trace, retrievals };
}

/** A trace with the passages of each of its searches. */
type OpenTrace = RunTraceView & { readonly found: readonly (readonly FoundPassage[])[] };

interface TraceReader {
  readonly showsSteps: boolean;
  readonly readsSkills: boolean;
  readonly instructions: string | null;
}

function toTrace(
  { models }: Deps,
  { id, status }: Run,
  events: readonly RunEvent[],
  { showsSteps, readsSkills, instructions }: TraceReader,
): OpenTrace {
  const { steps } = workInLog(events, (modelId) => models.priceOf(modelId));
  const items = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
  return {
    runId: id,
    status,
    showsSteps,
    instructions,
    steps: showsSteps ? events.flatMap((event) => (event.type === 'parley.flow.step' ? [event.step] : [])) : [],
    found: showsSteps ? searchesAmong(steps).map(({ passages }) => passages) : [],
    retrievals: showsSteps ? retrievalsAmong(steps) : [],
    modelCalls: modelCallsAmong(steps),
    toolCalls: toolCallsIn(events),
    subagents: subagentsIn(events),
    skills: skillsIn(items, readsSkills),
  };
}

/** The ids of the runs whose agent the caller may edit, and of those whose steps it sees. A run without an agent has no secrets from the caller. */
async function findReaders(
  {
    storage: {
      conversations: { runHistory },
    },
  }: Deps,
  caller: Caller,
  runs: readonly Run[],
): Promise<{ readonly edited: ReadonlySet<string>; readonly showing: ReadonlySet<string> }> {
  const agentIds = [...new Set(runs.flatMap(({ agentId }) => agentId ?? []))];
  const editable = editableAgents(caller);
  const [ofEditor, open] = await Promise.all([
    runHistory.agentsAmong(agentIds, editable),
    runHistory.agentsThatShowSteps(agentIds, editable),
  ]);
  const idsWith = (agents: ReadonlySet<string>) =>
    new Set(runs.filter(({ agentId }) => agentId === null || agents.has(agentId)).map(({ id }) => id));
  return { edited: idsWith(ofEditor), showing: idsWith(open) };
}

/** The searches of the run itself, those of its subagents apart. A search that failed is none. */
function searchesAmong(steps: readonly RunStep[]) {
  return steps
    .filter((step) => step.type === 'retrieval')
    .filter(({ mode, subagentId }) => mode !== null && subagentId === undefined);
}

function retrievalsAmong(steps: readonly RunStep[]): readonly RetrievalRecord[] {
  return searchesAmong(steps).flatMap(({ question = '', mode, reason, passages }) =>
    mode === null ? [] : [{ question, mode, reason, passages: passages.map(({ title, score }) => ({ title, score })) }],
  );
}

function modelCallsAmong(steps: readonly RunStep[]): readonly TracedModelCall[] {
  return steps.flatMap((step) => {
    if (step.type !== 'model_call' || step.usage === null) return [];
    const { modelId, usage, durationMs } = step;
    return [{ modelId, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, durationMs }];
  });
}

function toolCallsIn(events: readonly RunEvent[]): readonly TracedToolCall[] {
  return loggedTools(events).map(({ callId, name, outcome, errorCode: error, durationMs }) => ({
    ...{ callId, name, outcome, error, durationMs },
  }));
}

function skillsIn(items: readonly RunItem[], isReadable: boolean): readonly TracedSkill[] {
  return items.flatMap((item): readonly TracedSkill[] => {
    if (item.type !== 'server_tool_call' || item.name !== skillFunction) return [];
    const output = items.find((other) => other.type === 'server_tool_call_output' && other.callId === item.callId);
    const isRead = output?.type === 'server_tool_call_output' && output.isConfidential === true;
    return isRead ? [{ name: nameIn(item.arguments), content: isReadable ? output.output : null }] : [];
  });
}

function nameIn(args: string): string {
  const { name } = JSON.parse(args) as { readonly name?: unknown };
  return String(name);
}
