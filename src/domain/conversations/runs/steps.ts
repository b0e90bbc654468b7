import { workInLog } from '../../../engine/runs/record/log-steps.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import type { FoundPassage, RunStep } from '../../../entities/conversations/runs/step.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { editableAgents, isAdministrator } from '../../ground/access/access.ts';
import { readableRuns } from './states.ts';

/** A step of a run as one caller may see it. */
export type RunStepView = RunStep & {
  readonly run: Run;
  /** From the start of the run to that of the step; null when it is not known. */
  readonly offsetMs: number | null;
};

/**
 * The steps of some runs, in the order of `runs`, each in the order in which they began. From the rows of runs that are over; of a run at work, from
 * its log. Searches, and steps of flows, only where the agent shows its steps, or the caller may edit it.
 *
 * Cost: two statements; one more for runs at work.
 */
export async function listRunSteps(
  deps: Deps,
  caller: Caller,
  runs: readonly Run[],
): Promise<readonly (readonly RunStepView[])[]> {
  const { runHistory, runEvents } = deps.storage.conversations;
  const atWork = runs.filter(({ status, isStored }) => isStored && status === 'in_progress');
  const [storedSteps, logs, showing] = await Promise.all([
    runHistory.stepsOf(runs.map(({ id }) => id)),
    atWork.length === 0 ? undefined : runEvents.readStates(atWork.map(({ id }) => id)),
    runsThatShowSteps(deps, caller, runs),
  ]);
  return runs.map((run) => {
    const steps =
      logs?.has(run.id) === true
        ? workInLog(logs.get(run.id) ?? [], deps.models.priceOf).steps
        : listSteps(run, storedSteps.get(run.id));
    const beganMs = (run.startedAt ?? run.createdAt).getTime();
    return steps
      .filter(({ type }) => showing.has(run.id) || (type !== 'retrieval' && type !== 'flow'))
      .map((step) => ({
        ...step,
        run,
        offsetMs: step.startedAtMs === null ? null : Math.max(0, step.startedAtMs - beganMs),
      }));
  });
}

/**
 * What the searches of some runs looked for, by the time at which each began, in the order of `runs`. Empty where the caller may not read what was
 * said, and when the events of the run are no longer kept.
 *
 * Cost: one statement; two more when some runs belong to other users.
 */
export async function listSearchedQuestions(
  deps: Deps,
  caller: Caller,
  runs: readonly Run[],
): Promise<readonly ReadonlyMap<number, string>[]> {
  const readable = (await readableRuns(deps, caller, runs)).filter(({ isStored }) => isStored).map(({ id }) => id);
  const logs = readable.length === 0 ? undefined : await deps.storage.conversations.runEvents.readStates(readable);
  return runs.map(({ id }) => {
    const { steps } = workInLog(logs?.get(id) ?? [], deps.models.priceOf);
    const searches = steps.flatMap((step) =>
      step.type !== 'retrieval' || step.startedAtMs === null || step.question === undefined
        ? []
        : [[step.startedAtMs, step.question] as const],
    );
    return new Map(searches);
  });
}

/** The ids of the runs whose searches, and steps of flows, the caller may see. Cost: one statement; none where no agent is involved. */
export async function runsThatShowSteps(deps: Deps, caller: Caller, runs: readonly Run[]): Promise<ReadonlySet<string>> {
  const isOpen = ({ agentId, orgId }: Run) => agentId === null || isAdministrator(caller, orgId);
  const agentIds = [...new Set(runs.flatMap((run) => (isOpen(run) ? [] : (run.agentId ?? []))))];
  const showing = await deps.storage.conversations.runHistory.agentsThatShowSteps(agentIds, editableAgents(caller));
  return new Set(runs.filter((run) => isOpen(run) || (run.agentId !== null && showing.has(run.agentId))).map(({ id }) => id));
}

/** The passages that searches of a run found, best first. */
export function listPassages(run: Run, steps: readonly RunStep[] | null | undefined): readonly FoundPassage[] {
  if (run.retrieval?.near !== undefined) return run.retrieval.near;
  const allPassages = (steps ?? []).flatMap((step) => (step.type === 'retrieval' ? step.passages : []));
  return allPassages.toSorted((a, b) => b.score - a.score).slice(0, passagesMax);
}

const passagesMax = 8;

/** Of a run without steps of its own, the row says what its one model call was. */
function listSteps(run: Run, storedSteps: readonly RunStep[] | null | undefined): readonly RunStep[] {
  if (storedSteps !== null && storedSteps !== undefined) return storedSteps;
  const { answeredModelId, modelId, startedAt, durationMs, firstTokenMs, usage, cost, error, status } = run;
  if (startedAt === null || status === 'in_progress' || (answeredModelId === null && error === null)) return [];
  return [
    {
      ...{ type: 'model_call', modelId: answeredModelId ?? modelId, startedAtMs: startedAt.getTime(), durationMs },
      ...{ firstTokenMs, usage, cost: cost === null ? null : String(cost), errorCode: error?.code ?? null },
    },
  ];
}
