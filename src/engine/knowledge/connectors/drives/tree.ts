import { membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import type { ListedItem, ListedPage, ListTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { DriveEntry, DriveService } from './drive.ts';
import type { WatchedIds } from './state.ts';

/** A folder that is still to be listed. */
export interface PendingFolder {
  readonly id: string;
  readonly name: string;
  readonly drive?: string;
}

/** Where a listing of folders is. */
export interface TreePlace {
  /** The last one is listed now. */
  readonly pending: readonly PendingFolder[];
  readonly page?: string;
  readonly isIncomplete: boolean;
}

/** A page of a listing of folders. */
type TreePage = ListedPage & { readonly place: TreePlace };

export interface TreeContext {
  readonly service: DriveService;
  readonly task: Pick<ListTask, 'signal' | 'progress' | 'known'>;
  readonly watched: WatchedIds;
  /** Where the changes of each drive go on; undefined where its service tells none. */
  readonly feeds: Map<string, string | undefined>;
  /** Where a run goes on that is cut off while it reads changes. */
  readonly changesPlace: unknown;
}

/** How often a listing begins a folder anew because a token of its pages is too old. */
const restartsMax = 10;

export function toPendingFolder({ id, name, drive }: DriveEntry): PendingFolder {
  return { id, name: name.slice(0, 100), ...(drive === undefined ? {} : { drive }) };
}

export function readTreePlace(value: unknown): TreePlace | undefined {
  const { pending, page, isIncomplete } = membersOf(value);
  const folders = readElements(pending).flatMap((one): PendingFolder[] => {
    const { id, name, drive } = membersOf(one);
    if (typeof id !== 'string') return [];
    return [{ id, name: readString(name) ?? id, ...(typeof drive === 'string' ? { drive } : {}) }];
  });
  if (folders.length === 0) return undefined;
  return { pending: folders, isIncomplete: isIncomplete === true, ...(typeof page === 'string' ? { page } : {}) };
}

/**
 * Lists folders with all that is in them, one after the other.
 *
 * Memory: the ids of the folders, so that none is listed twice: shortcuts make loops of a tree. The place holds only those that are not listed yet.
 *
 * @param rootId  a failure of this folder is one of the source; another folder that went away makes the listing incomplete.
 * @returns whether all was listed.
 */
export async function* listTree(
  context: TreeContext,
  begin: TreePlace,
  rootId?: string,
): AsyncGenerator<TreePage, { readonly isComplete: boolean }, void> {
  const { service, task, watched: watchedIds } = context;
  const pending = [...begin.pending];
  let { page, isIncomplete } = begin;
  let restarts = 0;
  for (const { id } of pending) watchedIds.folders.add(id);
  for (let folder = pending.at(-1); folder !== undefined; folder = pending.at(-1)) {
    task.signal.throwIfAborted();
    task.progress(folder.name);
    const { id, drive } = folder;
    const part = await service.children({ id, drive }, page).catch((error: unknown) => {
      if (id === rootId || !isHidden(error)) throw error;
      return undefined;
    });
    if (part === 'expired') {
      restarts += 1;
      if (restarts > restartsMax)
        throw new SourceError('BAD_REPLY', `${service.name} forgets the pages of a folder while they are read.`);
      page = undefined;
      continue;
    }
    const sortedEntries = part === undefined ? { items: [], folders: [] } : await sortOut(context, id, part.entries);
    // A folder that went away while it was listed: what was in it may be elsewhere. What was moved here meanwhile left a gap where it was.
    isIncomplete ||= part === undefined || part.isIncomplete || (await haveMoved(context, part.entries));
    page = part?.next;
    if (page === undefined) pending.pop();
    // Below the folder that is listed now: its pages are read to their end first, because tokens of pages expire.
    pending.splice(page === undefined ? pending.length : -1, 0, ...sortedEntries.folders);
    const place: TreePlace = { pending: [...pending], isIncomplete, ...(page === undefined ? {} : { page }) };
    if (sortedEntries.items.length > 0) yield { items: sortedEntries.items, place };
  }
  return { isComplete: !isIncomplete };
}

/** A listing within another one, which says where it goes on. */
export async function* atPlace<End>(
  pages: AsyncGenerator<ListedPage, End, void>,
  place: unknown,
): AsyncGenerator<ListedPage, End, void> {
  for (let step = await pages.next(); ; step = await pages.next()) {
    if (step.done === true) return step.value;
    yield { ...step.value, place };
  }
}

/** Those ids that items of the source have. */
export async function listExisting(task: Pick<ListTask, 'known'>, ids: readonly string[]): Promise<readonly string[]> {
  return ids.length === 0 ? [] : [...(await task.known(ids)).keys()];
}

/**
 * Whether this run found one of these in another folder before. Then that folder has one entry less, and its next page may have begun after a file that
 * no page named.
 */
export async function haveMoved(
  { task, watched: watchedIds }: Pick<TreeContext, 'task' | 'watched'>,
  entries: readonly DriveEntry[],
): Promise<boolean> {
  const present = entries.filter(({ isGone, parents }) => !isGone && parents.length > 0);
  const isElsewhere = ({ id, parents }: DriveEntry) => !parents.includes(watchedIds.parents.get(id) ?? parents[0] ?? '');
  if (present.some((entry) => entry.kind !== 'file' && isElsewhere(entry))) return true;
  const files = present.filter(({ kind }) => kind === 'file');
  if (files.length === 0) return false;
  const existingItems = await task.known(files.map(({ id }) => id));
  return files.some(({ id, parents }) => {
    const { isListed, parentUniqueId } = existingItems.get(id) ?? { isListed: false, parentUniqueId: null };
    return isListed && parentUniqueId !== null && !parents.includes(parentUniqueId);
  });
}

/** The documents among the entries of a folder, and the folders that were not seen before. */
export async function sortOut(
  context: TreeContext,
  folderId: string,
  entries: readonly DriveEntry[],
): Promise<{ readonly items: readonly ListedItem[]; readonly folders: readonly PendingFolder[] }> {
  const { watched: watchedIds, service } = context;
  const items: ListedItem[] = [];
  const folders: PendingFolder[] = [];
  const enter = async (folder: DriveEntry) => {
    if (watchedIds.folders.has(folder.id)) return;
    watchedIds.folders.add(folder.id);
    await followDrive(context, folder.drive);
    folders.push(toPendingFolder(folder));
  };
  for (const entry of entries) {
    if (entry.isGone) continue;
    if (entry.kind !== 'file' && !watchedIds.parents.has(entry.id)) watchedIds.parents.set(entry.id, folderId);
    if (entry.kind === 'folder') await enter(entry);
    else if (entry.kind === 'file') items.push(entry.listed(folderId));
    else {
      watchedIds.shortcuts.add(entry.id);
      const target = await findTarget(service, entry);
      if (target === undefined) items.push(listedDangling(entry, folderId));
      else if (target.kind === 'folder') {
        watchedIds.entries.add(target.id);
        await enter(target);
      } else {
        watchedIds.targets.add(target.id);
        await followDrive(context, target.drive);
        items.push(listedTarget(target));
      }
    }
  }
  return { items, folders };
}

/** Before something of a drive is listed: what changes there from now on must not be missed. */
export async function followDrive(
  { service, feeds }: Pick<TreeContext, 'service' | 'feeds'>,
  drive: string | undefined,
): Promise<void> {
  const key = drive ?? '';
  if (!feeds.has(key)) feeds.set(key, await service.changesFromNow(drive));
}

/** A file that a shortcut leads to: it lies in a folder of its own, wherever the shortcut is. */
export function listedTarget(target: DriveEntry): ListedItem {
  return target.listed(target.parents[0] ?? null);
}

/** What a shortcut leads to; undefined when that is gone or hidden. */
export async function findTarget(service: DriveService, { target }: DriveEntry): Promise<DriveEntry | undefined> {
  if (target === undefined) return undefined;
  try {
    const targetEntry = await service.entry(target);
    return targetEntry.isGone || targetEntry.kind === 'shortcut' ? undefined : targetEntry;
  } catch (error) {
    if (isHidden(error)) return undefined;
    throw error;
  }
}

function listedDangling(shortcut: DriveEntry, parentUniqueId: string): ListedItem {
  const message = 'The shortcut leads to something that was deleted, or that the connected account may not see.';
  return { ...shortcut.listed(parentUniqueId), changeKey: null, skipped: { code: 'NOT_FOUND', message } };
}

/** Whether something is not there, or not for this account. */
export function isHidden(error: unknown): boolean {
  return error instanceof SourceError && (error.code === 'NOT_FOUND' || error.code === 'FORBIDDEN');
}
