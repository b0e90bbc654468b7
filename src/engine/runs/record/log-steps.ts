import type {
  EndedSubagent,
  RunEvent,
  RunItem,
  RunRecord,
  SpentCall,
  Subagent,
} from '../../../entities/conversations/runs/event.ts';
import type {
  FlowRunStep,
  ModelCallStep,
  RetrievalStep,
  RunStep,
  SubagentStep,
  ToolCallStep,
} from '../../../entities/conversations/runs/step.ts';
import { timeOfId } from '../../../entities/ground/ids.ts';
import type { ModelPrice } from '../../models/providers/provider.ts';
import { computeCost, toDecimal } from '../../usage/cost.ts';

/** What the log of a stored run says of its work. */
export interface LoggedWork {
  readonly steps: readonly RunStep[];
  /** When the first process began that ended the run or paused it; undefined: none has. */
  readonly startedAtMs: number | undefined;
  /** Undefined unless the last event is of the process that worked on it. */
  readonly workedMs: number | undefined;
}

/**
 * The steps of a stored run, in the order in which they began. The last event of each process that ended or paused the run has what it recorded. What a
 * process did that died is gathered from its events, with the times that ids tell.
 */
export function workInLog(events: readonly RunEvent[], priceOf: (modelId: string) => ModelPrice | null): LoggedWork {
  const records = events.flatMap((event) => ('run' in event && event.run.record !== undefined ? [event.run.record] : []));
  const steps = records.flatMap((record) => stepsOfRecord(record, priceOf));
  const stepKeys = new Set(steps.map(toKey));
  for (const step of [
    ...loggedCalls(events, priceOf),
    ...loggedTools(events),
    ...loggedSubagents(events),
    ...loggedFlow(events),
  ]) {
    if (stepKeys.has(toKey(step))) continue;
    stepKeys.add(toKey(step));
    steps.push(step);
  }
  steps.sort((a, b) => (a.startedAtMs ?? 0) - (b.startedAtMs ?? 0));
  const startedAtMs = records.find((record) => record.startedAtMs !== undefined)?.startedAtMs;
  const last = events.at(-1);
  return { steps, startedAtMs, workedMs: last !== undefined && 'run' in last ? last.run.record?.workedMs : undefined };
}

/** Calls that the caller is asked to make. */
export function awaitedSteps(items: readonly RunItem[]): readonly ToolCallStep[] {
  return items.flatMap((item): readonly ToolCallStep[] => {
    if (item.type !== 'function_call') return [];
    const { id: itemId, callId, name } = item;
    const times = { startedAtMs: timeOfId(itemId).getTime(), durationMs: null };
    return [{ type: 'tool_call', ...times, itemId, callId, name, outcome: 'awaited', errorCode: null }];
  });
}

function toKey(step: RunStep): string {
  switch (step.type) {
    case 'model_call':
      return step.entryId ?? `call ${step.startedAtMs} ${step.modelId}`;
    case 'tool_call':
      return step.itemId;
    case 'subagent':
      return step.id;
    case 'flow':
      return `flow ${step.stepId}`;
    case 'retrieval':
      return `retrieval ${step.startedAtMs} ${step.question}`;
  }
}

function stepsOfRecord({ steps, calls = [], retrievals = [] }: RunRecord, priceOf: (modelId: string) => ModelPrice | null) {
  if (steps !== undefined) return steps;
  // Of an old log.
  const searches = retrievals.map((retrieval): RunStep => {
    const passages = retrieval.passages.map((passage) => ({
      ...passage,
      ...{ chunkId: null, knowledgeItemId: null, dataSourceId: null },
    }));
    const mode = retrieval.mode as RetrievalStep['mode'];
    return {
      type: 'retrieval',
      startedAtMs: null,
      durationMs: null,
      ...retrieval,
      mode,
      passageCount: passages.length,
      passages,
    };
  });
  return [...searches, ...calls.map((call) => callStep(call, priceOf))];
}

function loggedCalls(events: readonly RunEvent[], priceOf: (modelId: string) => ModelPrice | null): readonly RunStep[] {
  return events.flatMap((event) => (event.type === 'parley.usage' ? event.calls.map((call) => callStep(call, priceOf)) : []));
}

/** The id of its entry was made when the call was over. */
function callStep(call: SpentCall, priceOf: (modelId: string) => ModelPrice | null): ModelCallStep {
  const { entryId, modelId, usage, durationMs = null } = call;
  const cost = computeCost(priceOf(modelId), usage);
  const startedAtMs = timeOfId(entryId).getTime() - (durationMs ?? 0);
  return {
    ...{ type: 'model_call', startedAtMs, durationMs, entryId, modelId, firstTokenMs: null, usage, errorCode: null },
    cost: cost === null ? null : toDecimal(cost),
  };
}

/** The calls of tools in a log, in order. Ids of items tell when they were made: a call's output is made when the call is over. */
export function loggedTools(events: readonly RunEvent[]): readonly ToolCallStep[] {
  const items = new Map<string, RunItem>();
  const outputs = new Map<string, Extract<RunItem, { readonly type: 'server_tool_call_output' }>>();
  for (const event of events) {
    if (event.type !== 'response.output_item.added' && event.type !== 'response.output_item.done') continue;
    const { item } = event;
    if (item.type === 'server_tool_call_output') outputs.set(item.callId, item);
    else items.set(item.id, item);
  }
  return [...items.values()].flatMap((item): readonly ToolCallStep[] => {
    if (item.type !== 'server_tool_call') return awaitedSteps([item]);
    const { id: itemId, callId, name, status, result } = item;
    const startedAtMs = timeOfId(itemId).getTime();
    const output = outputs.get(callId);
    const durationMs = output === undefined ? null : timeOfId(output.id).getTime() - startedAtMs;
    const outcome = status === 'in_progress' ? status : status === 'failed' ? status : 'completed';
    const errorCode = (output?.error ?? result?.error)?.code ?? null;
    return [{ type: 'tool_call', startedAtMs, durationMs, itemId, callId, name, outcome, errorCode }];
  });
}

/** The subagents in a log, in order, each as its last event tells it. */
export function subagentsIn(events: readonly RunEvent[]): readonly (Subagent | EndedSubagent)[] {
  const subagents = new Map<string, Subagent | EndedSubagent>();
  for (const event of events) {
    if (event.type === 'response.subagent.started' || event.type === 'response.subagent.completed') {
      subagents.set(event.subagent.id, event.subagent);
    }
  }
  return [...subagents.values()];
}

function loggedSubagents(events: readonly RunEvent[]): readonly SubagentStep[] {
  return subagentsIn(events).map((subagent): SubagentStep => {
    const { id, name, agentId, parentId, depth, status } = subagent;
    const usage = 'usage' in subagent ? subagent.usage : null;
    const times = { startedAtMs: timeOfId(id).getTime(), durationMs: null };
    const place = parentId === null ? {} : { subagentId: parentId };
    return { type: 'subagent', ...times, id, name, agentId, depth, status, usage, cost: null, ...place };
  });
}

function loggedFlow(events: readonly RunEvent[]): readonly FlowRunStep[] {
  return events.flatMap((event): readonly FlowRunStep[] => {
    if (event.type !== 'parley.flow.step') return [];
    const { stepId, type: does, status, durationMs } = event.step;
    return [{ type: 'flow', startedAtMs: null, durationMs, stepId, does, status }];
  });
}
