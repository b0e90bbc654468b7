import { loggedTools, subagentsIn, workInLog } from '../../engine/runs/record/log-steps.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { FlowStepRecord } from '../../entities/agents/flow.ts';
import { skillFunction } from '../../entities/agents/skill-offer.ts';
import { DomainError } from '../../entities/errors.ts';
import { isId } from '../../entities/ids.ts';
import type { EndedSubagent, RetrievalRecord, RunEvent, RunItem, RunStatus, Subagent } from '../../entities/runs/event.ts';
import type { Run } from '../../entities/runs/run.ts';
import type { RunStep } from '../../entities/runs/step.ts';
import { canEditAgent, visibleChats } from '../access/access.ts';
import type { Deps } from '../deps.ts';
import { readRuns } from './runs.ts';

/** What a stored run did between question and answer, as one caller may see it. */
export interface RunTraceView {
  readonly runId: string;
  readonly status: RunStatus;
  /** Whether the caller sees steps and retrievals: the agent shows them, or the caller may edit it. */
  readonly showsSteps: boolean;
  /** What the model was told first; null for callers who may not edit the agent. */
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
  /** Null for callers who may not edit the agent. */
  readonly content: string | null;
}

/**
 * The trace of a run of a chat or of a stored response, derived from the log of its events.
 *
 * @throws DomainError NOT_FOUND, also for a run of a chat that the caller may not read, and when the events are no longer kept.
 */
export async function getRunTrace(deps: Deps, caller: Caller, runId: string): Promise<RunTraceView> {
  const isRun = isId('run', runId) || isId('response', runId);
  const [run] = isRun ? await deps.storage.runs.findInChats([runId], visibleChats(caller)) : [];
  if (run === undefined) {
    const message = 'There is no such run. Runs that are not stored (completions, responses with "store": false) have no trace';
    throw new DomainError('NOT_FOUND', message, { param: 'runId' });
  }
  const events = await readLog(deps, run.id);
  if (events.length === 0) {
    throw new DomainError('NOT_FOUND', 'The events of this run are no longer kept, and its trace with them', { param: 'runId' });
  }
  readRuns(deps, caller, [run]);
  const { isEditor, showsSteps } = await readerOf(deps, caller, run);
  const { steps } = workInLog(events, (modelId) => deps.models.priceOf(modelId));
  const items = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
  const request = isEditor ? await deps.storage.runs.findRequest(run.id) : undefined;
  return {
    runId: run.id,
    status: run.status,
    showsSteps,
    instructions: request === undefined ? null : (request.request as { readonly instructions: string }).instructions,
    steps: showsSteps ? events.flatMap((event) => (event.type === 'parley.flow.step' ? [event.step] : [])) : [],
    retrievals: showsSteps ? retrievalsAmong(steps) : [],
    modelCalls: modelCallsAmong(steps),
    toolCalls: toolCallsIn(events),
    subagents: subagentsIn(events),
    skills: skillsIn(items, isEditor),
  };
}

/** The same; null instead of NOT_FOUND. */
export async function findRunTrace(deps: Deps, caller: Caller, runId: string): Promise<RunTraceView | null> {
  try {
    return await getRunTrace(deps, caller, runId);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

async function readLog({ storage }: Deps, runId: string): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const page = await storage.runs.readEvents(runId, events.at(-1)?.sequence ?? -1, 5_000);
    if (page === undefined) return events;
    // Texts are in the closing events.
    for (const event of page.events) if (!event.type.endsWith('.delta')) events.push(event);
    const last = page.events.at(-1);
    if (last !== undefined && events.at(-1)?.sequence !== last.sequence) events.push(last);
    if (!page.hasMore) return events;
  }
}

/** A run without an agent has no secrets from the caller. */
async function readerOf(
  deps: Deps,
  caller: Caller,
  { agentId }: Run,
): Promise<{ readonly isEditor: boolean; readonly showsSteps: boolean }> {
  if (agentId === null) return { isEditor: true, showsSteps: true };
  const agent = await deps.storage.agents.findRunnable(agentId, deps.now().getTime());
  if (agent === undefined) return { isEditor: false, showsSteps: false };
  const isEditor = canEditAgent(caller, agent);
  return { isEditor, showsSteps: isEditor || agent.intermediateStepsVisible };
}

/** The searches of the run itself, those of its subagents apart. A search that failed is none. */
function retrievalsAmong(steps: readonly RunStep[]): readonly RetrievalRecord[] {
  return steps.flatMap((step) => {
    if (step.type !== 'retrieval' || step.mode === null || step.subagentId !== undefined) return [];
    const { question = '', mode, reason, passages } = step;
    return [{ question, mode, reason, passages: passages.map(({ title, score }) => ({ title, score })) }];
  });
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

function skillsIn(items: readonly RunItem[], isEditor: boolean): readonly TracedSkill[] {
  return items.flatMap((item): readonly TracedSkill[] => {
    if (item.type !== 'server_tool_call' || item.name !== skillFunction) return [];
    const output = items.find((other) => other.type === 'server_tool_call_output' && other.callId === item.callId);
    const isRead = output?.type === 'server_tool_call_output' && output.isConfidential === true;
    return isRead ? [{ name: nameIn(item.arguments), content: isEditor ? output.output : null }] : [];
  });
}

function nameIn(args: string): string {
  const { name } = JSON.parse(args) as { readonly name?: unknown };
  return String(name);
}
