import { membersOf, readString } from '../../../../lib/json/json.ts';
import type { ListedPage, ListingEnd, ListTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import { listChanges, listSince } from './changes.ts';
import type { DriveEntry, DriveService, EntryRef } from './drive.ts';
import { listEverything } from './everything.ts';
import { type FolderPlace, readFolderPlace } from './folder-place.ts';
import { isFullDue, placeIdsMax } from './full-listing.ts';
import { type DriveState, readState, WatchedIds } from './state.ts';
import { followDrive, isHidden, listTree, type TreeContext, type TreePlace, toPendingFolder } from './tree.ts';

/** What a source names, through a shortcut. */
export interface SourceRoot {
  readonly service: DriveService;
  readonly root: DriveEntry;
}

/**
 * Lists a file, or a folder with all that is in it: what changed since the last run, or everything.
 *
 * @param source  undefined when it is not there any more.
 */
export async function* listDrive(
  source: SourceRoot | undefined,
  task: ListTask,
  now: () => Date,
): AsyncGenerator<ListedPage, ListingEnd, void> {
  if (source === undefined) return yield* listMissing(task);
  const { root, service } = source;
  if (root.kind !== 'folder') {
    yield { items: [root.listed(null)], place: null };
    return { isComplete: true };
  }
  const state = readState(task.state, root.id);
  const wasReadingChanges = isChangesPlace(task.place, root.id);
  const isBegun = task.place !== undefined && task.place !== null;
  let hasNamed = isBegun;
  if ((!isBegun || wasReadingChanges) && !task.isForced && state !== undefined && !isFullDue(state, now())) {
    const feeds = new Map<string, string | undefined>(Object.entries(state.tokens));
    const changesPlace: ChangesPlace = { rootId: root.id, isChanges: true };
    const changes = listSince({ service, task, watched: new WatchedIds(state), feeds, changesPlace }, state);
    for (let step = await changes.next(); ; step = await changes.next()) {
      if (step.done !== true) {
        hasNamed = true;
        yield step.value;
      } else if (step.value === undefined) break;
      else return { isComplete: false, state: step.value };
    }
  }
  const since = { rootId: root.id, fullAt: now().toISOString(), runs: 0 };
  if (root.isHome && service.everything !== undefined) {
    return yield* listEverything({ ...service, everything: service.everything }, task, root, since, hasNamed);
  }
  return yield* listFolder({ service, task, root, since, hasNamed });
}

/** Where a run is that reads changes: it reads them anew. */
interface ChangesPlace {
  readonly rootId: string;
  readonly isChanges: true;
}

function isChangesPlace(value: unknown, rootId: string): boolean {
  const members = membersOf(value);
  return members.rootId === rootId && members.isChanges === true;
}

interface FolderListing {
  readonly service: DriveService;
  readonly task: ListTask;
  readonly root: DriveEntry;
  readonly since: Pick<DriveState, 'rootId' | 'fullAt' | 'runs'>;
  /** Whether this run named items before this part of it. */
  readonly hasNamed: boolean;
}

/**
 * Lists a folder, then what changed in its drives since the listing began. So a file that was moved from a folder which is still to be listed to one
 * that is listed already is not taken for a deleted one, and a file that went after it was listed is not kept: neither when the listing goes through in
 * one go, nor when it goes on after a break.
 */
async function* listFolder({
  service,
  task,
  root,
  since,
  hasNamed,
}: FolderListing): AsyncGenerator<ListedPage, ListingEnd, void> {
  const cut = readFolderPlace(task.place, root.id);
  const watchedIds = new WatchedIds(cut?.ids);
  const feeds = new Map(cut?.feeds);
  const initialState = {
    rootId: root.id,
    fullAt: cut?.fullAt ?? since.fullAt,
    // Items that were named before the changes are followed from: nothing tells whether they are still there.
    isMixed: cut === undefined ? hasNamed : cut.isMixed,
  };
  const placeAt = (tree: TreePlace | null): FolderPlace => ({
    ...initialState,
    tree,
    feeds: [...feeds].map(([drive, token]) => [drive, token ?? null]),
    entryIds: [...watchedIds.entries],
    ids: watchedIds.size > placeIdsMax ? null : { ...watchedIds.toState(), parents: [...watchedIds.parents] },
  });
  const context: TreeContext = {
    ...{ service, task, watched: watchedIds, feeds },
    get changesPlace() {
      return placeAt(null);
    },
  };
  watchedIds.entries.add(root.id);
  for (const [id, folderId] of cut?.parents ?? []) watchedIds.parents.set(id, folderId);
  // Shortcuts make loops: what they led to before the listing was cut off is not listed again.
  for (const id of cut?.entryIds ?? []) {
    watchedIds.entries.add(id);
    watchedIds.folders.add(id);
  }
  if (cut === undefined) await followDrive(context, root.drive);
  if (cut?.tree !== null) {
    const pages = listTree(context, cut?.tree ?? { pending: [toPendingFolder(root)], isIncomplete: false }, root.id);
    for (let step = await pages.next(); ; step = await pages.next()) {
      if (step.done !== true) {
        yield { ...step.value, place: placeAt(step.value.place) };
        continue;
      }
      // What was there before stays: its changes go on from before this listing.
      if (!step.value.isComplete) return { isComplete: false };
      break;
    }
  }
  // Without the folders of the first part nobody can say which changes are of this source.
  if (cut !== undefined && cut.ids === undefined) return { isComplete: false };
  return yield* catchUp(
    context,
    { ...since, fullAt: initialState.fullAt },
    { isResumed: cut !== undefined, isMixed: initialState.isMixed },
  );
}

/**
 * Reads what changed while folders were listed. A listing by pages may pass over a file when another one before it is deleted or moved away meanwhile:
 * then it removes nothing but what the service calls deleted, and the next run lists once more. So does a listing that was cut off where the changes of
 * the break cannot be read.
 */
async function* catchUp(
  context: TreeContext,
  since: Pick<DriveState, 'rootId' | 'fullAt' | 'runs'>,
  { isResumed, isMixed }: { readonly isResumed: boolean; readonly isMixed: boolean },
): AsyncGenerator<ListedPage, ListingEnd, void> {
  const { watched: watchedIds, feeds } = context;
  const startedFeeds = [...feeds].filter((feed): feed is [string, string] => feed[1] !== undefined);
  const hasAllFeeds = startedFeeds.length === feeds.size;
  if (isResumed && !hasAllFeeds) return { isComplete: false };
  const read = yield* listChanges(context, Object.fromEntries(startedFeeds));
  // Without changes to go on from, each run lists everything.
  const unfollowedEnd = { isComplete: true, state: { ...since, ...new WatchedIds().toState(), tokens: {}, goneIds: [] } };
  if (read === 'expired') return isResumed ? { isComplete: false } : unfollowedEnd;
  if (read === 'untold' || read.goneIds.length > 0 || read.isAnyMoved) return { isComplete: false };
  // Changes may lead to further drives.
  if (isMixed || watchedIds.areTooMany || feeds.size > startedFeeds.length || !hasAllFeeds) return unfollowedEnd;
  return {
    isComplete: true,
    state: { ...since, ...watchedIds.toState(), tokens: read.tokens, goneIds: [] } satisfies DriveState,
  };
}

/** A file that is not there any more was deleted. Whether a folder was, or is only hidden, nobody can say: what was in it is kept. */
async function* listMissing(task: ListTask): AsyncGenerator<ListedPage, ListingEnd, void> {
  const fileId = String(task.source.data.fileId);
  if ((await task.known([fileId])).size === 0) {
    throw new SourceError(
      'NOT_FOUND',
      'The drive has no file or folder with this id, or hides it from the connected account. Share it with that account, or remove this source.',
    );
  }
  yield { items: [], goneIds: [fileId], place: null };
  return { isComplete: true };
}

/** Finds what a source names. Undefined when it is not there; its errors say what to do. */
export async function findRoot(service: DriveService, ref: EntryRef): Promise<DriveEntry | undefined> {
  try {
    const rootEntry = await service.entry(ref);
    const root =
      rootEntry.kind === 'shortcut' && rootEntry.target !== undefined ? await service.entry(rootEntry.target) : rootEntry;
    if (!root.isGone) return root;
  } catch (error) {
    if (error instanceof SourceError && error.code === 'NOT_FOUND') return undefined;
    if (!isHidden(error)) throw error;
    const message = readString(membersOf(error).message) ?? '';
    throw new SourceError('FORBIDDEN', `${message} Share the file or folder with that account, or remove this source.`);
  }
  return undefined;
}
