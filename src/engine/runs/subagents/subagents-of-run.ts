import type { SpentCall } from '../../../entities/conversations/runs/event.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { ModelQuestion, Subagents } from '../../tools/agents/subagents.ts';
import type { RunBudget } from '../../usage/budget.ts';
import type { TokenAllowance } from '../../usage/token-allowance.ts';
import type { LoopDeps, LoopStart } from '../control/loop-deps.ts';
import { findEarlierFinding } from './earlier-findings.ts';
import type { SubagentParent } from './parent.ts';
import { runSubagent } from './subagent.ts';
import { lastMessage, trackSpending, workOff } from './work.ts';

interface OfRun extends Pick<SubagentParent, 'run' | 'recorder'> {
  readonly plan: RunPlan;
  readonly deps: LoopDeps;
  readonly start: LoopStart;
  readonly budget: RunBudget;
  /** Called for every model call of a subagent. */
  spent(call: SpentCall): void;
}

/** The subagents of one run. */
export function subagentsOfRun({ plan, deps, start, budget, recorder, run, spent: recordSpending }: OfRun): Subagents {
  const { runId, control, hold, subagent } = start;
  const { subagents: limits } = deps;
  const parent: SubagentParent = {
    plan,
    deps,
    runId,
    subagent,
    pause: control?.pause,
    hold,
    budget,
    recorder,
    run,
    spent: recordSpending,
  };
  return {
    limits,
    mayStart: (subagent?.depth ?? 0) < limits.depthMax,
    tokens: budget.subagentTokens,
    researchTokens: budget.researchTokens,
    get roundsLeft() {
      return budget.roundsLeft;
    },
    earlierFinding: (question, pass) => findEarlierFinding(question, parent, pass),
    run: (task, tell, signal) => runSubagent(task, parent, limits, tell, signal),
    ask: (question, tokens, signal) => askModel(question, parent, tokens, signal),
    stopsShort() {
      if (control?.pause.aborted === true) return stopsShort.paused;
      if (control?.hasInput === true) return stopsShort.steered;
      if (budget.roundsLeft <= 1) return stopsShort.bounded;
      return budget.subagentTokens.left > 0 ? undefined : stopsShort.spent;
    },
  };
}

/** Why a call stops before all of its questions are answered. */
const stopsShort = {
  paused: 'the answer was paused',
  steered: 'the user said something else in the meantime',
  bounded: 'this answer may ask the model no further questions',
  spent: 'the tokens that subagents of this answer may use are used up',
} as const;

/** Asks the model of a run one question, without tools and knowledge. @returns undefined when there is no whole answer. */
async function askModel(
  { messages, responseFormat }: ModelQuestion,
  parent: SubagentParent,
  tokens: TokenAllowance,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { plan: own, deps, budget, runId } = parent;
  const { timeoutMs, outputTokensMax } = deps.subagents;
  const { stop: _stop, logprobs: _logprobs, maxTokens = outputTokensMax, ...parameters } = own.parameters;
  const plan: RunPlan = {
    ...{ modelId: own.modelId, messages, tools: [], onlyTools: [], responseFormat },
    parameters: { ...parameters, maxTokens: Math.min(maxTokens, outputTokensMax) },
    ...{ isStreaming: true, generateCitations: false, charge: own.charge },
  };
  const { ledger } = trackSpending(parent);
  const work = { timeoutMs, ledger, budget: budget.share(1, tokens), secrets: {}, keyPrefix: runId };
  const run = await workOff(plan, work, parent, signal, () => undefined);
  return run?.status === 'completed' ? lastMessage(run)?.text : undefined;
}
