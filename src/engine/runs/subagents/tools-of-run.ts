import type { SpentCall } from '../../../entities/runs/event.ts';
import type { ServerTools } from '../../tools/server-tool.ts';
import type { RunBudget } from '../budget.ts';
import type { LoopDeps, LoopStart } from '../loop-deps.ts';
import type { RunPlan } from '../run-engine.ts';
import type { SubagentParent } from './parent.ts';
import { createResearchTool } from './research-tool.ts';

interface OfRun extends Pick<SubagentParent, 'run'> {
  readonly plan: RunPlan;
  readonly deps: LoopDeps;
  readonly start: LoopStart;
  readonly budget: RunBudget;
  /** Called for every model call of a subagent. */
  spent(call: SpentCall): void;
}

/** The tools that work with the run itself; made for each run. */
export function toolsOfRun({ plan, deps, start, budget, run, spent }: OfRun): ServerTools {
  if (plan.serverTools?.includes('deep_research') !== true) return new Map();
  const { runId, control, hold } = start;
  const parent: SubagentParent = {
    plan,
    deps,
    runId,
    pause: control?.pause,
    hold,
    budget,
    run,
    spent,
    stopsShort: () => {
      if (control?.pause.aborted === true) return stopsShort.paused;
      if (control?.hasInput === true) return stopsShort.steered;
      return budget.roundsLeft > 1 ? undefined : stopsShort.bounded;
    },
  };
  return new Map([['deep_research', createResearchTool(parent, deps.subagents)]]);
}

/** Why a call stops before all of its questions are answered. */
const stopsShort = {
  paused: 'the answer was paused',
  steered: 'the user said something else in the meantime',
  bounded: 'this answer may ask the model no further questions',
} as const;
