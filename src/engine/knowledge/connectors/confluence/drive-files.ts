import { readStrings } from '../../../../lib/json/json.ts';
import type { Connector, ExistingItem, ListedItem, ListedPage, ListTask, SyncedSource } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { WikiPage } from './api.ts';
import type { WikiConfig } from './config.ts';

/** More links of one page are not followed. */
const linksMax = 100;
const fileId = '([A-Za-z0-9_-]{10,100})';
const documentLink = new RegExp(
  `https?://(?:docs|drive|spreadsheets|slides)\\.google\\.com/(?:a/[^/"'\\s<>]{1,100}/)?(?:document|spreadsheets|presentation|file)/(?:u/\\d+/)?d/${fileId}`,
  'g',
);
const openLink = new RegExp(
  `https?://(?:docs|drive)\\.google\\.com/(?:a/[^/"'\\s<>]{1,100}/)?(?:open|uc)\\?(?:[^"'\\s<>]{0,200}?(?:&amp;|&))?id=${fileId}`,
  'g',
);

/** The ids of files of Google Drive that a page links to, each once, in its storage format. Links to folders are not followed. */
export function driveLinksIn(storage: string): readonly string[] {
  const ids = new Set<string>();
  for (const link of [documentLink, openLink]) {
    for (const [, id] of storage.matchAll(link)) if (id !== undefined) ids.add(id);
  }
  return [...ids].slice(0, linksMax);
}

/** The links that were found when a page was read; undefined: it was not looked at. */
export function readDriveFileIds(metadata: ExistingItem['metadata'] | undefined): readonly string[] | undefined {
  if (metadata === undefined || !Array.isArray(metadata.driveFileIds)) return undefined;
  return readStrings(metadata.driveFileIds);
}

/** A linked file, as the drive's connector reads it: like a source of that one file. */
export function driveSource(source: SyncedSource, account: string, id: string, filename = id): SyncedSource {
  return { ...source, type: 'DRIVE_A', data: { oauthTokenId: account, fileId: id, filename } };
}

interface DriveListing {
  readonly services: { readonly drive: Connector };
  readonly task: ListTask;
  readonly config: WikiConfig;
}

/**
 * The files of a drive that a page links to, as the drive's connector lists them. A file that cannot be read is listed with the reason; one that was
 * read before and cannot be now, because the drive refuses the connection, is kept.
 */
export async function* listDriveFiles(
  { services: { drive }, task, config: { driveAccount } }: DriveListing,
  page: WikiPage,
  fileIds: readonly string[],
): AsyncGenerator<Omit<ListedPage, 'place'>, void, void> {
  for (const id of fileIds) {
    task.signal.throwIfAborted();
    if (driveAccount === undefined) yield { items: [unreadFile(page, id, 'UNSUPPORTED', withoutAccount)] };
    else yield await oneFile(drive, driveAccount, task, page, id);
  }
}

const withoutAccount =
  'The page links to this file of Google Drive, and the source names no account that reads it: add the source again with selectedDriveAccount, the id of your Google Drive connection.';
const missing = 'The page links to a file of Google Drive that is not there any more: change the link.';
const notAFile =
  'The page links to a folder or a shortcut of Google Drive: link to the file itself, or add the folder as a source.';

async function oneFile(
  drive: Connector,
  account: string,
  task: ListTask,
  page: WikiPage,
  id: string,
): Promise<Omit<ListedPage, 'place'>> {
  const source = driveSource(task.source, account, id);
  const listing = drive.list({ ...task, source, state: undefined, place: undefined, isForced: true, progress: () => undefined });
  try {
    for (let part = await listing.next(); part.done !== true; part = await listing.next()) {
      const item = part.value.items.find(({ uniqueId }) => uniqueId === id);
      if (item !== undefined) return { items: [ofPage(item, page)] };
      if (part.value.items.length > 0) return { items: [unreadFile(page, id, 'UNSUPPORTED', notAFile)] };
    }
    return { items: [unreadFile(page, id, 'NOT_FOUND', missing)] };
  } catch (error) {
    if (!(error instanceof SourceError) || error.isRetryable) throw error;
    const isIndexedBefore = error.code === 'AUTH' && (await task.known([id])).get(id)?.isIndexed === true;
    if (isIndexedBefore) return { items: [], unchangedIds: [id] };
    return { items: [unreadFile(page, id, error.code, `${error.message} A page links to this file of Google Drive.`)] };
  } finally {
    await listing.return({ isComplete: false }).catch(() => undefined);
  }
}

function ofPage(item: ListedItem, page: WikiPage): ListedItem {
  return { ...item, parentUniqueId: page.id, metadata: { ...item.metadata, driveFileId: item.uniqueId, linkedFrom: page.id } };
}

function unreadFile(page: WikiPage, id: string, code: string, message: string): ListedItem {
  return {
    uniqueId: id,
    parentUniqueId: page.id,
    name: `Google Drive file ${id}`,
    url: `https://drive.google.com/open?id=${id}`,
    changeKey: null,
    filename: id,
    mimeType: 'application/octet-stream',
    metadata: { driveFileId: id, linkedFrom: page.id },
    skipped: { code, message },
  };
}
