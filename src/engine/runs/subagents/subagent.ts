import type {
  RetrievalDetail,
  RunError,
  RunEvent,
  RunItem,
  RunSnapshot,
  Subagent,
  SubagentRecord,
  SubagentUpdate,
} from '../../../entities/conversations/runs/event.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import type { Usage } from '../../../entities/conversations/runs/usage.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Citation } from '../../../entities/knowledge/citation.ts';
import { cutText } from '../../../lib/text/text.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { SubagentFinding, SubagentLimits, SubagentTask } from '../../tools/agents/subagents.ts';
import type { Tell } from '../../tools/server-tool.ts';
import { makeUnknownOutcome } from '../calls/unknown-outcome.ts';
import { snapshot } from '../control/ending.ts';
import { foldState, isSubagentRecord, type SubagentState, stoppedSummary } from '../events/subagent-records.ts';
import { toContext } from '../events/transcript.ts';
import { findResearcher } from './earlier-findings.ts';
import type { SubagentParent } from './parent.ts';
import { cutNote, lastMessage, paused, trackSpending, workOff } from './work.ts';

const instructions = [
  'You are a researcher: another assistant hands you one question and works on with what you find out.',
  'Answer the question from the passages you are given and with the tools you have, with the names, numbers and dates that matter.',
  'Say plainly what could not be found out; never guess. Write findings only: no introduction, no questions back.',
].join('\n');

/**
 * Runs one subagent to its end: the same loop. A researcher has the model and the knowledge of its parent but neither its instructions, nor its
 * conversation and functions; an agent answers as itself. Its progress is emitted, that of its own subagents too, and its model calls are in the
 * ledger like any others.
 *
 * @returns also when it failed, or when the signal fired.
 */
export async function runSubagent(
  subagentTask: SubagentTask,
  parent: SubagentParent,
  limits: SubagentLimits,
  tell: Tell,
  signal: AbortSignal,
): Promise<SubagentFinding> {
  const { secrets, roundsMax, tokens, pass } = subagentTask;
  const { runId, recorder } = parent;
  const startedMs = performance.now();
  const plan = await makePlan(subagentTask, parent, limits);
  const leftRecord = findLeftover(subagentTask, parent);
  const isNew = leftRecord === undefined || leftRecord.ended !== undefined;
  const subagent: Subagent = isNew ? newSubagent(subagentTask, parent) : leftRecord.subagent;
  const state = leftRecord === undefined ? undefined : foldState(leftRecord.events);
  const isRecorded = parent.hold !== undefined && pass.whenRecorded !== undefined;
  const keep = (events: readonly RunEvent[]) => {
    if (isRecorded && events.length > 0) tell({ type: 'parley.subagent.kept', subagentId: subagent.id, events });
  };
  const spending = trackSpending(parent);
  const { ledger } = spending;
  if (isNew) {
    tell({ type: 'response.subagent.started', subagent });
    keep(leftRecord?.events ?? []);
  }
  const lossError = findLoss(state);
  if (lossError !== undefined) {
    const failedSubagent = { ...subagent, status: 'failed', summary: lossError.message, usage: null } as const;
    tell({ type: 'response.subagent.completed', subagent: failedSubagent });
    recorder.subagent(failedSubagent, startedMs);
    return { subagent: failedSubagent, text: '', citations: [], error: lossError, isPaused: false, isOverBudget: false };
  }
  const steps = new Steps(subagent.id, tell, isNew);
  if (plan.knowledge !== undefined) steps.show('Searching the knowledge', 0, null);
  const work = {
    ...{ timeoutMs: limits.timeoutMs, ledger, subagent: { id: subagent.id, depth: subagent.depth } },
    ...{ budget: parent.budget.share(roundsMax, tokens), secrets, keyPrefix: `${runId}:${subagent.id}` },
    ...(state === undefined ? {} : { from: makeStart(state, runId) }),
    ...(isRecorded && pass.whenRecorded !== undefined ? { whenRecorded: pass.whenRecorded } : {}),
  };
  const priorMessages = state === undefined ? [] : toContext(state.closed);
  const run = await workOff({ ...plan, messages: [...plan.messages, ...priorMessages] }, work, parent, signal, (event) => {
    if (isSubagentRecord(event)) keep([event]);
    const nestedUpdate = toUpdate(event);
    if (nestedUpdate !== undefined) tell(nestedUpdate);
    steps.take(event, spending.usage);
  });
  const { usage } = spending;
  const finding = { ...toFinding(subagent, run, usage, limits, signal), isOverBudget: tokens.hasRefused };
  tell({ type: 'response.subagent.completed', subagent: finding.subagent });
  recorder.subagent(finding.subagent, startedMs);
  return finding;
}

function newSubagent({ question, agent }: SubagentTask, { deps, plan, subagent }: SubagentParent): Subagent {
  return {
    id: deps.newId('subagent'),
    name: agent?.name ?? 'Researcher',
    agentId: agent?.id ?? plan.charge.agentId,
    parentId: subagent?.id ?? null,
    task: question,
    status: 'in_progress',
    depth: (subagent?.depth ?? 0) + 1,
  };
}

/** The subagent that the same call started in a process that died. */
function findLeftover({ agent, question, pass }: SubagentTask, parent: SubagentParent): SubagentRecord | undefined {
  if (agent === undefined) return findResearcher(question, parent, pass);
  const above = parent.subagent?.id ?? null;
  return pass.before?.findLast(
    (earlierRecord) => earlierRecord.subagent.agentId === agent.id && earlierRecord.subagent.parentId === above,
  );
}

/** Why a subagent cannot go on: a call of it may have acted. The asking model reads it. */
function findLoss(state: SubagentState | undefined): RunError | undefined {
  if (state?.call === undefined || state.ifLost === 'repeat') return undefined;
  if (state.ifLost !== 'unknown') return { code: 'SERVER_ERROR', message: stoppedSummary };
  const { code, message } = makeUnknownOutcome(state.call.name);
  return { code, message };
}

function makeStart(
  { closed: closedItems, call, cited: citedPassages, researches, subagents, nextSequence }: SubagentState,
  runId: string,
) {
  if (closedItems.length === 0 && call === undefined) return { firstSequence: nextSequence, cited: citedPassages, researches };
  return {
    ...{ firstSequence: nextSequence, cited: citedPassages, researches },
    before: snapshot(runId, 'in_progress', closedItems),
    continues: { call, turnFrom: 0, subagents },
  };
}

/** @throws DomainError NOT_FOUND for an agent that the user may not use any more. */
async function makePlan(subagentTask: SubagentTask, parent: SubagentParent, limits: SubagentLimits): Promise<RunPlan> {
  const { question, agent } = subagentTask;
  if (agent === undefined) return makeResearchPlan(subagentTask, parent, limits);
  const { deps, plan } = parent;
  const own = await deps.subagentPlan?.(plan.charge, agent.id, question);
  if (own === undefined) throw new DomainError('NOT_FOUND', `${agent.name} is gone, or may not be asked any more`);
  const { maxTokens = limits.outputTokensMax } = own.parameters;
  return { ...own, parameters: { ...own.parameters, maxTokens }, askedBy: listChain(plan) };
}

/** The agents of a run and above it, the topmost first. */
function listChain({ askedBy = [], charge: { agentId } }: RunPlan): readonly string[] {
  return agentId === null ? askedBy : [...askedBy, agentId];
}

/**
 * A researcher gets only tools that read, and `python` if the request has it: that reaches nothing outside its box. It searches the web wherever this
 * instance can, with the filters of the run's `web_search` if it has one.
 */
function makeResearchPlan(
  { question, task }: SubagentTask,
  parent: SubagentParent,
  { outputTokensMax }: SubagentLimits,
): RunPlan {
  const { plan, deps } = parent;
  const givenTools = (plan.serviceTools ?? []).filter(
    (tool) => tool.type === 'python' || (deps.tools.isReadOnly(tool) && tool.type !== 'deep_research'),
  );
  const web = deps.tools.find('web_search');
  const isLacking = web !== undefined && web.unavailable === undefined && !givenTools.some(({ type }) => type === web.type);
  const serviceTools: readonly EnabledTool[] = isLacking ? [...givenTools, { type: web.type, options: {} }] : givenTools;
  const { stop: _stop, logprobs: _logprobs, maxTokens = outputTokensMax, ...parameters } = plan.parameters;
  return {
    modelId: plan.modelId,
    messages: [
      { role: 'system', content: instructions },
      { role: 'user', content: question === task ? question : `The whole task: ${task}\n\nYour question: ${question}` },
    ],
    tools: [],
    serviceTools,
    onlyTools: [],
    mayNotAsk: true,
    parameters: { ...parameters, maxTokens: Math.min(maxTokens, outputTokensMax) },
    isStreaming: true,
    generateCitations: plan.generateCitations,
    charge: plan.charge,
    ...(plan.askedBy === undefined ? {} : { askedBy: plan.askedBy }),
    ...(plan.inputTokensMax === undefined ? {} : { inputTokensMax: plan.inputTokensMax }),
    ...(plan.knowledge === undefined ? {} : { knowledge: { ...plan.knowledge, question } }),
  };
}

/** The event of a subagent's own subagent, as the run above shows it; undefined for other events. */
function toUpdate(event: RunEvent): SubagentUpdate | undefined {
  switch (event.type) {
    case 'response.subagent.started':
    case 'response.subagent.progress':
    case 'response.subagent.completed': {
      const { sequence: _sequence, outputIndex: _index, itemId: _itemId, ...update } = event;
      return update;
    }
    default:
      return undefined;
  }
}

/** The events of a subagent that a reader sees: a few steps, never the names of its documents. */
class Steps {
  readonly #subagentId: string;
  readonly #tell: Tell;
  /** Whether its progress begins at 0. How far one is that goes on after a dead process is not known. */
  readonly #isNew: boolean;
  #shown = '';

  constructor(subagentId: string, tell: Tell, isNew: boolean) {
    this.#subagentId = subagentId;
    this.#tell = tell;
    this.#isNew = isNew;
  }

  take(event: RunEvent, usage: Usage | null): void {
    if (event.type === 'parley.step') this.show(foundText(event.detail), 0.25, usage);
    else if (event.type === 'response.output_item.added') this.#item(event.item, event.statusHints, usage);
  }

  show(message: string, share: number | null, usage: Usage | null): void {
    if (message === this.#shown) return;
    this.#shown = message;
    const progress = this.#isNew ? share : null;
    this.#tell({ type: 'response.subagent.progress', subagentId: this.#subagentId, message, progress, usage });
  }

  #item({ type }: RunItem, hints: readonly string[] | undefined, usage: Usage | null): void {
    if (type === 'message') this.show('Writing', 0.5, usage);
    else if (type === 'reasoning') this.show('Thinking', null, usage);
    else if (type === 'server_tool_call') this.show(hints?.[0] ?? 'Using a tool', null, usage);
  }
}

function foundText({ passages, isUnavailable }: RetrievalDetail): string {
  if (isUnavailable === true) return 'The knowledge cannot be searched now';
  return passages === 1 ? 'Reading 1 passage' : `Reading ${String(passages)} passages`;
}

function toFinding(
  subagent: Subagent,
  run: RunSnapshot | undefined,
  usage: Usage | null,
  { timeoutMs, resultCharsMax }: SubagentLimits,
  signal: AbortSignal,
): Omit<SubagentFinding, 'isOverBudget'> {
  const isCancelled = signal.aborted && run?.status !== 'completed';
  const error: RunError | null = isCancelled
    ? { code: 'CLIENT_CLOSED_REQUEST', message: stoppedSummary }
    : toError(run, timeoutMs);
  const isPaused = run?.incompleteReason === 'paused';
  const finalMessage = run === undefined ? undefined : lastMessage(run);
  if (error !== null || finalMessage === undefined) {
    const status = isCancelled || isPaused ? 'cancelled' : 'failed';
    const summary = error?.message ?? stoppedSummary;
    return { subagent: { ...subagent, status, summary, usage }, text: '', citations: [], error, isPaused };
  }
  const end = run?.incompleteReason === null ? '' : cutNote;
  const summary = cutText(withoutMarkers(finalMessage.text, finalMessage.citations).trim(), resultCharsMax) + end;
  const completedSubagent = { ...subagent, status: 'completed', summary, usage } as const;
  return {
    subagent: completedSubagent,
    text: finalMessage.text.trimEnd() + end,
    citations: finalMessage.citations,
    error: null,
    isPaused: false,
  };
}

function toError(run: RunSnapshot | undefined, timeoutMs: number): RunError | null {
  if (run === undefined || run.status === 'cancelled') return { code: 'SERVER_ERROR', message: stoppedSummary };
  if (run.error !== null) return run.error;
  if (run.incompleteReason === 'timeout') {
    return { code: 'UPSTREAM_TIMEOUT', message: `The subagent took longer than ${timeoutMs} ms` };
  }
  if (run.incompleteReason === 'paused') return { code: 'CLIENT_CLOSED_REQUEST', message: paused };
  if (run.incompleteReason === 'content_filter')
    return { code: 'CONTENT_FILTER', message: 'The answer was withheld by a filter' };
  return lastMessage(run) === undefined ? { code: 'UPSTREAM_ERROR', message: 'The model answered nothing' } : null;
}

/** Removes the markers of passages: readers of the events do not see what they name. */
function withoutMarkers(text: string, citations: readonly Citation[]): string {
  return citations.reduceRight((restText, { answerStart, answerEnd }) => {
    return restText.slice(0, answerStart).trimEnd() + restText.slice(answerEnd);
  }, text);
}
