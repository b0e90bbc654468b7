import type { Citation } from '../../../entities/knowledge/citation.ts';
import {
  isTerminal,
  type RunError,
  type RunEvent,
  type RunItem,
  type RunSnapshot,
  type Subagent,
  type Usage,
} from '../../../entities/runs/event.ts';
import type { Tell } from '../../tools/server-tool.ts';
import type { SubagentFinding, SubagentLimits, SubagentTask } from '../../tools/subagents.ts';
import type { LoopDeps } from '../loop-deps.ts';
import type { RunPlan } from '../run-engine.ts';
import { RunScope } from '../scope.ts';
import { RunStop } from '../stop.ts';
import { addUsage } from '../usage/spending.ts';
import type { SubagentParent } from './parent.ts';

const instructions = [
  'You are a researcher: another assistant hands you one question and works on with what you find out.',
  'Answer the question from the passages you are given and with the tools you have, with the names, numbers and dates that matter.',
  'Say plainly what could not be found out; never guess. Write findings only: no introduction, no questions back.',
].join('\n');
const stopped = 'Stopped before it came to its end';
const paused = 'Stopped, as the answer was paused';
const cut = '\n(The answer was cut: it became too long, or took too many steps.)';

/**
 * Runs one subagent to its end: the same loop, with the model and the knowledge of its parent but without the parent's
 * instructions, conversation and functions. Its progress is emitted, and its model calls are in the ledger like any others.
 *
 * @returns also when it failed, or when the signal fired.
 */
export async function runSubagent(
  { question, task, secrets, roundsMax }: SubagentTask,
  parent: SubagentParent,
  limits: SubagentLimits,
  tell: Tell,
  signal: AbortSignal,
): Promise<SubagentFinding> {
  const { deps, runId } = parent;
  const subagent: Subagent = {
    id: deps.newId('subagent'),
    name: 'Researcher',
    agentId: parent.plan.charge.agentId,
    parentId: null,
    task: question,
    status: 'in_progress',
    depth: 1,
  };
  let usage: Usage | null = null;
  const ledger: LoopDeps['ledger'] = {
    ...deps.ledger,
    note(charge, purpose, modelId, spent, entryId = deps.newId('usageEntry')) {
      usage = addUsage(usage, spent);
      parent.spent({ entryId, modelId, usage: spent });
      deps.ledger.note(charge, purpose, modelId, spent, entryId);
    },
  };
  tell({ type: 'response.subagent.started', subagent });
  const plan = planOf(question, task, parent, limits);
  const steps = new Steps(subagent.id, tell);
  if (plan.knowledge !== undefined) steps.show('Searching the knowledge', 0, usage);
  const scope = new RunScope(limits.timeoutMs, signal);
  const onPause = () => scope.stop(new RunStop('paused', paused));
  if (parent.pause?.aborted === true) onPause();
  else parent.pause?.addEventListener('abort', onPause, { once: true });
  const start = {
    runId,
    firstSequence: 0,
    isEager: true,
    secrets,
    budget: parent.budget.share(roundsMax),
    keyPrefix: `${runId}:${subagent.id}`,
    ...(parent.hold === undefined ? {} : { hold: parent.hold }),
  };
  let run: RunSnapshot | undefined;
  try {
    for await (const batch of parent.run(plan, start, { ...deps, ledger }, scope.signal)) {
      for (const event of batch) {
        if (isTerminal(event) && 'run' in event) run = event.run;
        steps.take(event, usage);
      }
    }
  } finally {
    parent.pause?.removeEventListener('abort', onPause);
    scope.close(run !== undefined);
  }
  const finding = findingOf(subagent, run, usage, limits.timeoutMs, signal);
  tell({ type: 'response.subagent.completed', subagent: finding.subagent });
  return finding;
}

/** A subagent gets only tools that read, and `python` if the request has it: that reaches nothing outside its box. */
function planOf(question: string, task: string, parent: SubagentParent, { outputTokensMax }: SubagentLimits): RunPlan {
  const { plan, deps } = parent;
  const serviceTools = (plan.serviceTools ?? []).filter(
    (tool) => tool.type === 'python' || (deps.tools.isReadOnly(tool) && tool.type !== 'deep_research'),
  );
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
    parameters: { ...parameters, maxTokens: Math.min(maxTokens, outputTokensMax) },
    isStreaming: true,
    generateCitations: plan.generateCitations,
    charge: plan.charge,
    ...(plan.inputTokensMax === undefined ? {} : { inputTokensMax: plan.inputTokensMax }),
    ...(plan.knowledge === undefined ? {} : { knowledge: { ...plan.knowledge, question } }),
  };
}

/** The events of a subagent that a reader sees: a few steps, never the names of its documents. */
class Steps {
  readonly #subagentId: string;
  readonly #tell: Tell;
  #shown = '';

  constructor(subagentId: string, tell: Tell) {
    this.#subagentId = subagentId;
    this.#tell = tell;
  }

  take(event: RunEvent, usage: Usage | null): void {
    if (event.type === 'parley.step') this.show(foundText(event.detail), 0.25, usage);
    else if (event.type === 'response.output_item.added') this.#item(event.item, event.statusHints, usage);
  }

  show(message: string, progress: number | null, usage: Usage | null): void {
    if (message === this.#shown) return;
    this.#shown = message;
    this.#tell({ type: 'response.subagent.progress', subagentId: this.#subagentId, message, progress, usage });
  }

  #item({ type }: RunItem, hints: readonly string[] | undefined, usage: Usage | null): void {
    if (type === 'message') this.show('Writing', 0.5, usage);
    else if (type === 'reasoning') this.show('Thinking', null, usage);
    else if (type === 'server_tool_call') this.show(hints?.[0] ?? 'Using a tool', null, usage);
  }
}

function foundText({ passages, isUnavailable }: Readonly<Record<string, unknown>>): string {
  if (isUnavailable === true) return 'The knowledge cannot be searched now';
  return passages === 1 ? 'Reading 1 passage' : `Reading ${String(passages)} passages`;
}

function findingOf(
  subagent: Subagent,
  run: RunSnapshot | undefined,
  usage: Usage | null,
  timeoutMs: number,
  signal: AbortSignal,
): SubagentFinding {
  const isCancelled = signal.aborted && run?.status !== 'completed';
  const error: RunError | null = isCancelled ? { code: 'CLIENT_CLOSED_REQUEST', message: stopped } : errorOf(run, timeoutMs);
  const isPaused = run?.incompleteReason === 'paused';
  if (error !== null) {
    const status = isCancelled || isPaused ? 'cancelled' : 'failed';
    return { subagent: { ...subagent, status, summary: error.message, usage }, sources: [], error, isPaused };
  }
  const said = run === undefined ? undefined : lastMessage(run);
  const text = said === undefined ? '' : withoutMarkers(said.text, said.citations).trim();
  const summary = run?.incompleteReason === null ? text : text + cut;
  const sources = [...new Set(said?.citations.map(({ name }) => name))];
  return { subagent: { ...subagent, status: 'completed', summary, usage }, sources, error: null, isPaused: false };
}

function errorOf(run: RunSnapshot | undefined, timeoutMs: number): RunError | null {
  if (run === undefined || run.status === 'cancelled') return { code: 'SERVER_ERROR', message: stopped };
  if (run.error !== null) return run.error;
  if (run.incompleteReason === 'timeout') {
    return { code: 'UPSTREAM_TIMEOUT', message: `The subagent took longer than ${timeoutMs} ms` };
  }
  if (run.incompleteReason === 'paused') return { code: 'CLIENT_CLOSED_REQUEST', message: paused };
  if (run.incompleteReason === 'content_filter')
    return { code: 'CONTENT_FILTER', message: 'The answer was withheld by a filter' };
  return lastMessage(run) === undefined ? { code: 'UPSTREAM_ERROR', message: 'The model answered nothing' } : null;
}

function lastMessage(run: RunSnapshot) {
  return run.output.flatMap((item) => (item.type === 'message' && item.text.trim() !== '' ? [item] : [])).at(-1);
}

/** Removes the markers of passages: the run that reads the finding has a numbering of its own. */
function withoutMarkers(text: string, citations: readonly Citation[]): string {
  return citations.reduceRight((left, { answerStart, answerEnd }) => {
    return left.slice(0, answerStart).trimEnd() + left.slice(answerEnd);
  }, text);
}
