import type { Run } from '../../../entities/conversations/runs/run.ts';
import type { RunTag, SavedRunFilter } from '../../../entities/conversations/runs/saved-filter.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { oneLine, storableText } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { readTags } from '../chats/place-input.ts';
import { getAnyRun, loadReach } from './history.ts';
import { missingRun } from './runs.ts';

const filtersMax = 50;
const nameCharsMax = 100;
const queryCharsMax = 2_000;

/**
 * Gives a run that the caller may see other tags, in place of those before. Everybody sees them who sees the run.
 *
 * @throws DomainError NOT_FOUND, also for a run that the caller may not see; naming every faulty tag.
 */
export async function setRunTags(deps: Deps, caller: Caller, id: string, tags: readonly string[]): Promise<Run> {
  const run = await getAnyRun(deps, caller, id);
  const faults = new Faults();
  const names = readTags(faults, 'tags', tags) ?? [];
  faults.throwIfAny();
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.runTags.setTags(run.id, names))) throw missingRun();
    return { id: run.id };
  });
  return { ...run, tags: names };
}

/** The tags of runs that the caller may see, the ones of the most runs first. Cost: one statement, one more for callers who are no administrators. */
export async function listRunTags(deps: Deps, caller: Caller): Promise<readonly RunTag[]> {
  return deps.storage.conversations.runTags.tagsOf(await loadReach(deps, caller));
}

/** The caller's own filters of runs, by name; at most 50. */
export function listRunFilters({ storage }: Deps, { orgId, userId }: Caller): Promise<readonly SavedRunFilter[]> {
  return storage.conversations.runTags.filtersOf({ orgId, userId });
}

/**
 * Saves what the caller narrows the list of runs to. A filter with the same name is replaced.
 *
 * @param query  as the front end writes it into the address of its list; the service only keeps it.
 * @throws DomainError naming every faulty member; CONFLICT when the caller has as many filters as one may have.
 */
export async function saveRunFilter(
  deps: Deps,
  caller: Caller,
  input: { readonly name: string; readonly query: string },
): Promise<SavedRunFilter> {
  const { orgId, userId } = caller;
  const faults = new Faults();
  const name = oneLine(storableText(input.name)).trim();
  const query = storableText(input.query);
  faults.requireName('name', name, nameCharsMax);
  faults.requireLength('query', query, queryCharsMax);
  faults.throwIfAny();
  const filter = { id: deps.newId('runFilter'), createdAt: deps.now(), name, query };
  return deps.audit.change(caller, async () => {
    const saved = await deps.storage.conversations.runTags.saveFilter({ orgId, userId }, filter, filtersMax);
    if (saved === undefined) throw new DomainError('CONFLICT', `One has at most ${filtersMax} filters: delete one first`);
    return saved;
  });
}

/** Deletes a filter of the caller. @returns what it was. @throws DomainError NOT_FOUND. */
export async function deleteRunFilter(deps: Deps, caller: Caller, id: string): Promise<SavedRunFilter> {
  const { orgId, userId } = caller;
  return deps.audit.change(caller, async () => {
    const filter = isId('runFilter', id)
      ? await deps.storage.conversations.runTags.deleteFilter(id, { orgId, userId })
      : undefined;
    if (filter === undefined) throw new DomainError('NOT_FOUND', 'There is no such filter', { param: 'id' });
    return filter;
  });
}
