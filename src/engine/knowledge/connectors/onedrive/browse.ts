import { decodePercents } from '../../../../lib/text/text.ts';
import { type BrowseEntry, type Browser, joinPlace } from '../../connections/browser.ts';
import { unreadableKind } from '../../extract/readable.ts';
import { isHidden } from '../drives/tree.ts';
import { SourceError } from '../error.ts';
import { createGraphApi, type GraphApi } from './api.ts';
import type { DriveItem } from './item.ts';
import { itemRef } from './item-ref.ts';

/** Lists the account's own drive from its top, and the other drives that it has: these come first at the top. Cost: one call; three at the top. */
export const browseDriveB: Browser = async (services, connection, { parent, search, cursor }, signal) => {
  const api = createGraphApi(services, await services.tokens.open(connection.id, connection), signal);
  const link = cursor === undefined ? undefined : readLink(cursor);
  const { drive, id } = parent === undefined ? { drive: undefined, id: 'root' } : itemRef(parent);
  const isSearch = search !== undefined && search.trim() !== '';
  const page = isSearch ? await api.search(undefined, search.trim(), link) : await api.children(drive, id, link);
  const first = parent === undefined && !isSearch && cursor === undefined ? await otherDrives(api) : [];
  const place = isSearch ? undefined : drive;
  return {
    entries: [...first, ...page.items.filter(({ isDeleted }) => !isDeleted).map((item) => browsed(item, place))],
    nextCursor: page.nextLink === undefined ? null : Buffer.from(page.nextLink).toString('base64url'),
  };
};

async function otherDrives(api: GraphApi): Promise<readonly BrowseEntry[]> {
  try {
    return (await api.drives()).map(({ id, name }) => {
      return { id: `${id}/root`, name, kind: 'drive', hasChildren: true, canBeAdded: true, path: name };
    });
  } catch (error) {
    // Personal accounts have one drive.
    if (isHidden(error) || (error instanceof SourceError && error.code === 'UNSUPPORTED')) return [];
    throw error;
  }
}

/** @param drive  where the item lies; undefined: in the account's own drive. */
function browsed(item: DriveItem, drive: string | undefined): BrowseEntry {
  const { name, isFolder, isPackage, mimeType, remote, path } = item;
  const id = remote === undefined ? (drive === undefined ? item.id : `${drive}/${item.id}`) : `${remote.driveId}/${remote.id}`;
  const hasChildren = isFolder && !isPackage;
  // "/drives/x/root:/Reports/2026"
  const names = (path?.split('root:')[1] ?? '').split('/').filter((part) => part !== '');
  return {
    ...{ id, name, kind: hasChildren ? 'folder' : 'file', hasChildren },
    canBeAdded: hasChildren || remote !== undefined || (!isPackage && unreadableKind(name, mimeType) === undefined),
    path: joinPlace(names.map(decodePercents).join(' / '), name),
  };
}

/** The API refuses one that leads elsewhere. */
function readLink(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString('utf8');
}
