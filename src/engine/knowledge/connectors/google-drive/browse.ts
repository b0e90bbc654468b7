import { type BrowseEntry, type Browser, joinPlace } from '../../connections/browser.ts';
import { unreadableKind } from '../../extract/readable.ts';
import { isHidden } from '../drives/tree.ts';
import { createDriveApi, type DriveApi, quoted } from './api.ts';
import { type DriveFile, toEntry } from './file.ts';
import { findExport, isNative } from './native.ts';

/** The folder of what others share with the account; Drive has no folder for that. */
const sharedWithMe = 'shared-with-me';
const foldersFirst = 'folder,name_natural';
/** A place is named by at most this many folders. */
const depthMax = 8;

/**
 * Lists the account's own drive from its top, shared drives, and what others share. At the top, these others come first.
 *
 * Cost: one call, and one for each folder above `parent`; two more at the top.
 */
export const browseDriveA: Browser = async (services, connection, { parent, search, cursor }, signal) => {
  const api = createDriveApi(services, await services.tokens.open(connection.id, connection), signal);
  const query = { pageToken: cursor, orderBy: foldersFirst };
  if (search !== undefined && search.trim() !== '') {
    const q = `name contains ${quoted(search.trim())} and trashed=false`;
    const filePage = await api.files({ q, isEverywhere: true, pageToken: cursor });
    return { entries: filePage.files.map((file) => browsed(file, '')), nextCursor: filePage.nextPageToken ?? null };
  }
  if (parent === sharedWithMe) {
    const sharedPage = await api.files({ q: 'sharedWithMe and trashed=false', ...query });
    return {
      entries: sharedPage.files.map((file) => browsed(file, 'Shared with me')),
      nextCursor: sharedPage.nextPageToken ?? null,
    };
  }
  const isTop = parent === undefined || parent === 'root';
  const folderPage = await api.files({ q: `${quoted(parent ?? 'root')} in parents and trashed=false`, ...query });
  const place = isTop ? '' : await findPlace(api, parent);
  const first = parent === undefined && cursor === undefined ? await otherDrives(api) : [];
  return {
    entries: [...first, ...folderPage.files.map((file) => browsed(file, place))],
    nextCursor: folderPage.nextPageToken ?? null,
  };
};

async function otherDrives(api: DriveApi): Promise<readonly BrowseEntry[]> {
  const sharedEntry: BrowseEntry = {
    ...{ id: sharedWithMe, name: 'Shared with me', kind: 'drive', hasChildren: true, canBeAdded: false, path: 'Shared with me' },
  };
  const { drives } = await api.drives(undefined).catch((error: unknown) => {
    // Accounts outside of an organization have no shared drives.
    if (isHidden(error)) return { drives: [] };
    throw error;
  });
  const rest = drives.map(({ id, name }): BrowseEntry => {
    return { id, name, kind: 'drive', hasChildren: true, canBeAdded: true, path: name };
  });
  return [...rest, sharedEntry];
}

function browsed(file: DriveFile, place: string): BrowseEntry {
  const { id, name, mimeType } = file;
  const { kind } = toEntry(file, Number.POSITIVE_INFINITY);
  const isReadable = isNative(mimeType) ? findExport(mimeType) !== undefined : unreadableKind(name, mimeType) === undefined;
  const isFolder = kind === 'folder';
  return {
    ...{ id, name, kind: isFolder ? 'folder' : 'file', hasChildren: isFolder },
    canBeAdded: kind !== 'file' || (isReadable && file.canDownload),
    path: joinPlace(place, name),
  };
}

/** The names of a folder and of those above it. */
async function findPlace(api: DriveApi, folderId: string): Promise<string> {
  const names: string[] = [];
  let id: string | undefined = folderId;
  try {
    while (id !== undefined && names.length < depthMax) {
      const folder: DriveFile = await api.file(id);
      // The top of the own drive has a name of Google's, such as "My Drive".
      if (folder.parents.length > 0 || folder.driveId !== undefined) names.unshift(folder.name);
      id = folder.parents[0];
    }
  } catch (error) {
    // Who may see a folder does not always see the one above it.
    if (!isHidden(error)) throw error;
  }
  return names.join(' / ');
}
