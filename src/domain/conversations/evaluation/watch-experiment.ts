import type { Experiment } from '../../../entities/conversations/evaluation/experiment.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { followChanges } from '../../ground/follow-changes.ts';
import { getExperiment } from './experiments.ts';

/**
 * Follows an experiment: yields it now and after its changes, at most five times a second. Ends when it has ended and its summary is there, when it is
 * deleted, and when the caller may not see it any more.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, before the first value.
 */
export async function watchExperiment(
  deps: Deps,
  caller: Caller,
  id: string,
  signal: AbortSignal,
): Promise<AsyncGenerator<Experiment, void, void>> {
  const first = await getExperiment(deps, caller, id);
  const read = () => findAgain(deps, caller, first.id);
  return followChanges(deps, { topic: 'experiment-changed', id: first.id, first, read, isOver }, signal);
}

function isOver({ endedAt, summary }: Experiment): boolean {
  return endedAt !== null && summary !== null;
}

async function findAgain(deps: Deps, caller: Caller, id: string): Promise<Experiment | undefined> {
  try {
    return await getExperiment(deps, caller, id);
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
