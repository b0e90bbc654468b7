import type { ListedItem, ListedPage } from '../connector.ts';
import type { DriveEntry, EntryChange } from './drive.ts';
import { goneIdsMax } from './full-listing.ts';
import type { DriveState } from './state.ts';
import {
  atPlace,
  haveMoved,
  listExisting,
  listedTarget,
  listTree,
  type PendingFolder,
  sortOut,
  type TreeContext,
} from './tree.ts';

/** What changes told. */
export interface ChangesRead {
  /** Where the changes go on, by drive. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Items that were deleted. */
  readonly goneIds: readonly string[];
  /** Whether a file that this run named before lies in another folder now. */
  readonly isAnyMoved: boolean;
}

/**
 * Lists what changed in the drives of a source.
 *
 * @param from  where the changes begin, by drive.
 * @returns 'expired' when the service has forgotten where it was, 'untold' when the changes do not tell enough, such as after a folder or a shortcut of
 *   the source was taken away: then everything has to be listed.
 */
export async function* listChanges(
  context: TreeContext,
  from: Readonly<Record<string, string>>,
): AsyncGenerator<ListedPage, ChangesRead | 'expired' | 'untold', void> {
  const { service, task, changesPlace: place } = context;
  let isAnyMoved = false;
  const tokens: Record<string, string> = {};
  const removedIds = new Set<string>();
  for (const [key, first] of Object.entries(from)) {
    for (let page: string | undefined = first; page !== undefined; ) {
      task.signal.throwIfAborted();
      const part = await service.changes(key === '' ? undefined : key, page);
      if (part === 'expired') return 'expired';
      if (part.isReset) return 'untold';
      const sortedChanges = await sortChanges(context, part.changes);
      if (sortedChanges === undefined) return 'untold';
      isAnyMoved ||= await haveMoved(
        context,
        part.changes.flatMap(({ entry }) => entry ?? []),
      );
      for (const { uniqueId } of sortedChanges.items) removedIds.delete(uniqueId);
      for (const id of sortedChanges.goneIds) removedIds.add(id);
      if (sortedChanges.items.length + sortedChanges.goneIds.length > 0)
        yield { items: sortedChanges.items, goneIds: sortedChanges.goneIds, place };
      if (sortedChanges.folders.length > 0) {
        // Changes that were cut off are read anew: a place within them would be taken for one of a listing.
        const { isComplete } = yield* atPlace(listTree(context, { pending: sortedChanges.folders, isIncomplete: false }), place);
        if (!isComplete) return 'untold';
      }
      if (part.last !== undefined) tokens[key] = part.last;
      page = part.next;
    }
  }
  return { tokens, goneIds: [...removedIds], isAnyMoved };
}

/** Lists what changed since the last run. @returns the state for the next run; undefined when everything has to be listed. */
export async function* listSince(
  context: TreeContext,
  state: DriveState,
): AsyncGenerator<ListedPage, DriveState | undefined, void> {
  const { task, watched: watchedIds, feeds } = context;
  // More than half of a source goes only when a second run agrees, and changes are told once.
  const again = await listExisting(task, state.goneIds);
  if (again.length > 0) yield { items: [], goneIds: again, place: context.changesPlace };
  const read = yield* listChanges(context, state.tokens);
  if (typeof read === 'string') return undefined;
  const goneIds = [...new Set([...read.goneIds, ...(await listExisting(task, again))])];
  // Shortcuts that are new may lead to other drives.
  const newFeeds = [...feeds].filter(([key]) => !(key in state.tokens));
  const isFollowed = newFeeds.every(([, token]) => token !== undefined) && !watchedIds.areTooMany && goneIds.length <= goneIdsMax;
  const tokens = isFollowed ? { ...(Object.fromEntries(newFeeds) as Record<string, string>), ...read.tokens } : {};
  return { ...state, ...watchedIds.toState(), tokens, goneIds: isFollowed ? goneIds : [], runs: state.runs + 1 };
}

/** Undefined: a folder or a shortcut of the source was taken away, and what it led to is not told. */
async function sortChanges(
  context: TreeContext,
  changes: readonly EntryChange[],
): Promise<
  | { readonly items: readonly ListedItem[]; readonly folders: readonly PendingFolder[]; readonly goneIds: readonly string[] }
  | undefined
> {
  const { watched: watchedIds, task } = context;
  // Services repeat what changed twice: the last one wins.
  const latest = new Map(changes.map(({ id, entry }) => [id, entry?.isGone === true ? undefined : entry]));
  const items: ListedItem[] = [];
  const outside: string[] = [];
  const enteredFolders: { readonly parent: string; readonly entry: DriveEntry }[] = [];
  for (const [id, entry] of latest) {
    const parent = entry?.parents.find((one) => watchedIds.folders.has(one));
    const isInside = entry !== undefined && (parent !== undefined || watchedIds.entries.has(id));
    if (watchedIds.folders.has(id) || watchedIds.shortcuts.has(id)) {
      if (!isInside) return undefined;
    } else if (entry !== undefined && parent !== undefined) {
      if (entry.kind === 'file') items.push(entry.listed(parent));
      else enteredFolders.push({ parent, entry });
    } else if (entry !== undefined && watchedIds.targets.has(id)) items.push(listedTarget(entry));
    else outside.push(id);
  }
  const folders: PendingFolder[] = [];
  for (const { parent, entry } of enteredFolders) {
    const sortedEntries = await sortOut(context, parent, [entry]);
    items.push(...sortedEntries.items);
    folders.push(...sortedEntries.folders);
  }
  return { items, folders, goneIds: await listExisting(task, outside) };
}
