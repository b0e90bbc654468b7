import { membersOf, readString } from '../../../../lib/json/json.ts';
import type { ListedItem, ListedPage, ListingEnd, ListTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { ChangePage, DriveEntry, DriveService } from './drive.ts';
import { type DriveState, WatchedIds } from './state.ts';
import { atPlace, listExisting, listTree, type PendingFolder, sortOut, type TreeContext } from './tree.ts';

/** How often a listing begins anew because the service forgot where it was. */
const restartsMax = 3;

interface EverythingPlace {
  readonly rootId: string;
  /** Null at the first page and after the last one. */
  readonly page: string | null;
}

/**
 * Lists a whole drive by its feed of changes, which begins with all that is there. Unlike folders that are listed by pages, it misses nothing that is
 * written meanwhile, and it asks once for a hundred files, however many folders they lie in.
 *
 * @param hasNamed  whether this run named items before, such as before it was cut off.
 */
export async function* listEverything(
  service: DriveService & { readonly everything: NonNullable<DriveService['everything']> },
  task: ListTask,
  root: DriveEntry,
  since: Pick<DriveState, 'rootId' | 'fullAt' | 'runs'>,
  hasNamed: boolean,
): AsyncGenerator<ListedPage, ListingEnd, void> {
  let page = readPage(task.place, root.id);
  const watchedIds = new WatchedIds();
  const context: TreeContext = { service, task, watched: watchedIds, feeds: new Map([['', undefined]]), changesPlace: null };
  watchedIds.entries.add(root.id);
  watchedIds.folders.add(root.id);
  let hasAllFolders = !hasNamed;
  let isComplete = true;
  let restarts = 0;
  for (;;) {
    task.signal.throwIfAborted();
    task.progress(root.name);
    const part = await service.everything(page);
    if (part === 'expired') {
      restarts += 1;
      if (restarts > restartsMax)
        throw new SourceError('BAD_REPLY', `${service.name} forgets where a listing is while it goes on.`);
      page = undefined;
      hasAllFolders = false;
      continue;
    }
    const { items, folders, goneIds } = await sortPart(context, root.id, part);
    // What shortcuts lead to comes first: the page is read anew when that is cut off.
    const elsewhere = yield* atPlace(listTree(context, { pending: folders, isIncomplete: false }), toPlace(root.id, page));
    isComplete &&= elsewhere.isComplete;
    if (items.length + goneIds.length > 0) yield { items, goneIds, place: toPlace(root.id, part.next) };
    page = part.next;
    if (part.last === undefined) continue;
    if (!isComplete) return { isComplete };
    context.feeds.set('', part.last);
    const feeds = [...context.feeds].filter((feed): feed is [string, string] => feed[1] !== undefined);
    // After an interruption the folders of the first part are not known, and what it named may be gone since. The next run lists everything.
    const isFollowed = hasAllFolders && feeds.length === context.feeds.size && !watchedIds.areTooMany;
    const ids = isFollowed ? watchedIds.toState() : new WatchedIds().toState();
    const tokens = isFollowed ? Object.fromEntries(feeds) : {};
    return { isComplete, state: { ...since, ...ids, tokens, goneIds: [] } satisfies DriveState };
  }
}

/** Sorts a page of the drive: every folder belongs to the source, whether its parent was told already or not. */
async function sortPart(context: TreeContext, rootId: string, part: ChangePage) {
  // Services repeat what changed meanwhile: the last one wins.
  const latest = new Map(part.changes.map(({ id, entry }) => [id, entry?.isGone === true ? undefined : entry]));
  const items: ListedItem[] = [];
  const folders: PendingFolder[] = [];
  const removedIds: string[] = [];
  for (const [id, entry] of latest) {
    if (id === rootId) continue;
    if (entry === undefined) removedIds.push(id);
    else if (entry.kind === 'folder') context.watched.folders.add(id);
    else {
      const sortedEntries = await sortOut(context, entry.parents[0] ?? rootId, [entry]);
      items.push(...sortedEntries.items);
      folders.push(...sortedEntries.folders);
    }
  }
  return { items, folders, goneIds: await listExisting(context.task, removedIds) };
}

function toPlace(rootId: string, page: string | undefined): EverythingPlace {
  return { rootId, page: page ?? null };
}

function readPage(place: unknown, rootId: string): string | undefined {
  const members = membersOf(place);
  return members.rootId === rootId ? readString(members.page) : undefined;
}
