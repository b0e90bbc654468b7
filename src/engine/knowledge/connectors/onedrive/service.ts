import type { ChangePage, DriveService } from '../drives/drive.ts';
import { SourceError } from '../error.ts';
import { type GraphApi, type ItemPage, latest } from './api.ts';
import { toEntry } from './item.ts';

/**
 * OneDrive and SharePoint libraries as a service that keeps files in folders. The changes of a folder are those of its drive: business drives tell
 * them of their root only.
 *
 * @param home  the drive that the source names; undefined: the account's own.
 */
export function driveBService(api: GraphApi, home: string | undefined, bytesMax: number): DriveService {
  const chooseDrive = (drive: string | undefined) => drive ?? home;
  const changePage = ({ items, nextLink, deltaLink }: ItemPage, drive: string | undefined): ChangePage => ({
    changes: items
      .filter(({ isRoot }) => !isRoot)
      .map((item) => ({ id: item.id, entry: item.isDeleted ? undefined : toEntry(item, drive, bytesMax) })),
    isReset: false,
    next: nextLink,
    last: nextLink === undefined ? deltaLink : undefined,
  });
  const changes = async (drive: string | undefined, page: string | undefined) => {
    try {
      return changePage(await api.delta(chooseDrive(drive), page), drive);
    } catch (error) {
      // Graph answers 410 to a link that is too old, 400 or 404 to one that it does not know.
      if (page !== undefined && isLost(error)) return 'expired' as const;
      throw error;
    }
  };
  return {
    name: 'OneDrive',
    entry: async ({ id, drive }) => toEntry(await api.item(chooseDrive(drive), id), drive, bytesMax),
    async children({ id, drive }, page) {
      try {
        const { items, nextLink } = await api.children(chooseDrive(drive), id, page);
        return { entries: items.map((item) => toEntry(item, drive, bytesMax)), next: nextLink, isIncomplete: false };
      } catch (error) {
        if (page !== undefined && error instanceof SourceError && error.code === 'UNSUPPORTED') return 'expired';
        throw error;
      }
    },
    async changesFromNow(drive) {
      try {
        for (
          let page = await api.delta(chooseDrive(drive), latest);
          ;
          page = await api.delta(chooseDrive(drive), page.nextLink)
        ) {
          if (page.deltaLink !== undefined) return page.deltaLink;
        }
      } catch (error) {
        // Who may see a shared folder does not always see the drive.
        if (isLost(error)) return undefined;
        throw error;
      }
    },
    changes,
    everything: (page) => changes(undefined, page),
  };
}

function isLost(error: unknown): boolean {
  return error instanceof SourceError && ['NOT_FOUND', 'FORBIDDEN', 'UNSUPPORTED'].includes(error.code);
}
