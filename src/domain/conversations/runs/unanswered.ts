import type { UnansweredRun } from '../../../entities/conversations/runs/history.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import type { RunStep } from '../../../entities/conversations/runs/step.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { visibleChats } from '../../ground/access/access.ts';
import { loadNarrowing, loadReach, type RunFilterInput } from './history.ts';
import { readRuns } from './runs.ts';
import { listPassages, runsThatShowSteps } from './steps.ts';

/**
 * Runs that did not answer their questions, newest first: their knowledge was searched and gave nothing, or their answer was rated down. Of the runs
 * that `listRuns` gives, with the question as far as the caller may read it, and the passages that were near.
 *
 * Cost: two statements; up to two more for callers who are no administrators.
 */
export async function listUnanswered(
  deps: Deps,
  caller: Caller,
  input: Pick<RunFilterInput, 'agentId' | 'since' | 'until'>,
  page: PageRequest,
): Promise<Page<UnansweredRun>> {
  const reach = await loadReach(deps, caller);
  const query = { ...(await loadNarrowing(deps, caller, reach, input)), isUnanswered: true } as const;
  const { page: runPage, steps } = await deps.storage.conversations.runHistory.listWithSteps(reach, query, page);
  readRuns(deps, caller, runPage.items);
  const items = await asUnanswered(deps, caller, runPage.items, steps);
  return { ...runPage, items, keyOf: ({ run }) => runPage.keyOf(run) };
}

async function asUnanswered(
  deps: Deps,
  caller: Caller,
  runs: readonly Run[],
  steps: ReadonlyMap<string, readonly RunStep[] | null>,
): Promise<readonly UnansweredRun[]> {
  const { runHistory } = deps.storage.conversations;
  const ids = runs.map(({ id }) => id);
  const [questions, showing] = await Promise.all([
    runHistory.questionsOf(ids, visibleChats(caller)),
    runsThatShowSteps(deps, caller, runs),
  ]);
  return runs.map((run) => ({
    run,
    reasons: [
      ...(run.hasFoundNothing ? (['nothing_found'] as const) : []),
      ...(run.ratedDown > 0 ? (['rated_down'] as const) : []),
    ],
    question: questions.get(run.id) ?? null,
    nearPassages: showing.has(run.id) ? listPassages(run, steps.get(run.id)) : [],
  }));
}
