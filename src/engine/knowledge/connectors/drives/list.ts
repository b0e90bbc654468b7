import { membersOf, stringOf } from '../../../../lib/json.ts';
import type { ListedPage, ListingEnd, ListTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import { listChanges, listSince } from './changes.ts';
import type { DriveEntry, DriveService, EntryRef } from './drive.ts';
import { listEverything } from './everything.ts';
import { isFullDue } from './full-listing.ts';
import { type DriveState, idsOf, readState, WatchedIds } from './state.ts';
import { followDrive, isHidden, listTree, pendingOf, readTreePlace, type TreeContext } from './tree.ts';

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
  const isBegun = task.place !== undefined && task.place !== null;
  if (!isBegun && !task.isForced && state !== undefined && !isFullDue(state, now())) {
    const feeds = new Map<string, string | undefined>(Object.entries(state.tokens));
    const next = yield* listSince({ service, task, watched: new WatchedIds(state), feeds }, state);
    if (next !== undefined) return { isComplete: false, state: next };
  }
  const since = { rootId: root.id, fullAt: now().toISOString(), runs: 0 };
  if (root.isHome && service.everything !== undefined) {
    return yield* listEverything({ ...service, everything: service.everything }, task, root, since);
  }
  return yield* listFolder(service, task, root, since);
}

/** Where the listing of a whole folder is. */
interface FolderPlace {
  readonly rootId: string;
  readonly tree: unknown;
  readonly entryIds: readonly string[];
}

function readFolderPlace(value: unknown, rootId: string): FolderPlace | undefined {
  const given = membersOf(value);
  if (given.rootId !== rootId || readTreePlace(given.tree) === undefined) return undefined;
  return { rootId, tree: given.tree, entryIds: idsOf(given.entryIds) };
}

async function* listFolder(
  service: DriveService,
  task: ListTask,
  root: DriveEntry,
  since: Pick<DriveState, 'rootId' | 'fullAt' | 'runs'>,
): AsyncGenerator<ListedPage, ListingEnd, void> {
  const place = readFolderPlace(task.place, root.id);
  const watched = new WatchedIds();
  const context: TreeContext = { service, task, watched, feeds: new Map() };
  watched.entries.add(root.id);
  // Shortcuts make loops: what they led to before the listing was cut off is not listed again.
  for (const id of place?.entryIds ?? []) {
    watched.entries.add(id);
    watched.folders.add(id);
  }
  if (place === undefined) await followDrive(context, root.drive);
  const begin = readTreePlace(place?.tree) ?? { pending: [pendingOf(root)], isIncomplete: false };
  const pages = listTree(context, begin, root.id);
  for (let step = await pages.next(); ; step = await pages.next()) {
    if (step.done === true) {
      // What was there before stays: its changes go on from before this listing.
      if (!step.value.isComplete) return { isComplete: false };
      // A listing that was cut off knows only the folders of its last part. The next run lists everything.
      if (place !== undefined) return { isComplete: true, state: { ...since, ...watched.toState(), tokens: {}, goneIds: [] } };
      return yield* catchUp(context, since);
    }
    const { place: tree } = step.value;
    yield { ...step.value, place: { rootId: root.id, tree, entryIds: [...watched.entries] } satisfies FolderPlace };
  }
}

/**
 * Reads what changed while folders were listed. A listing by pages may pass over a file when another one before it is deleted meanwhile: then it
 * removes nothing, and the next run lists everything once more.
 */
async function* catchUp(
  context: TreeContext,
  since: Pick<DriveState, 'rootId' | 'fullAt' | 'runs'>,
): AsyncGenerator<ListedPage, ListingEnd, void> {
  const { watched, feeds } = context;
  const begun = [...feeds].filter((feed): feed is [string, string] => feed[1] !== undefined);
  // Without changes to go on from, each run lists everything.
  const unfollowed = { isComplete: true, state: { ...since, ...new WatchedIds().toState(), tokens: {}, goneIds: [] } };
  if (begun.length < feeds.size || watched.areTooMany) return unfollowed;
  const read = yield* listChanges(context, Object.fromEntries(begun));
  if (read === 'expired') return unfollowed;
  if (read === 'untold' || read.goneIds.length > 0) return { isComplete: false };
  const isFollowed = feeds.size === begun.length;
  const { tokens } = isFollowed ? read : unfollowed.state;
  return { isComplete: true, state: { ...since, ...watched.toState(), tokens, goneIds: [] } satisfies DriveState };
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
    const named = await service.entry(ref);
    const root = named.kind === 'shortcut' && named.target !== undefined ? await service.entry(named.target) : named;
    if (!root.isGone) return root;
  } catch (error) {
    if (error instanceof SourceError && error.code === 'NOT_FOUND') return undefined;
    if (!isHidden(error)) throw error;
    const message = stringOf(membersOf(error).message) ?? '';
    throw new SourceError('FORBIDDEN', `${message} Share the file or folder with that account, or remove this source.`);
  }
  return undefined;
}
