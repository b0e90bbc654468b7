import type { ChangePage, DriveService } from '../drives/drive.ts';
import { SourceError } from '../error.ts';
import { type DriveApi, quoted } from './api.ts';
import { toEntry } from './file.ts';

/** Google Drive as a service that keeps files in folders. */
export function driveAService(api: DriveApi, bytesMax: number): DriveService {
  return {
    name: 'Google Drive',
    entry: async ({ id }) => toEntry(await api.file(id), bytesMax),
    async children({ id }, page) {
      try {
        const filePage = await api.files({ q: `${quoted(id)} in parents and trashed=false`, pageToken: page });
        return {
          entries: filePage.files.map((file) => toEntry(file, bytesMax)),
          next: filePage.nextPageToken,
          isIncomplete: filePage.isIncomplete,
        };
      } catch (error) {
        // Drive answers 400 to a token that is too old.
        if (page !== undefined && error instanceof SourceError && error.code === 'UNSUPPORTED') return 'expired';
        throw error;
      }
    },
    async changesFromNow(drive) {
      try {
        return await api.startPageToken(drive);
      } catch (error) {
        // Who may see a folder of a shared drive does not always see the drive.
        if (error instanceof SourceError && !error.isRetryable && error.code !== 'AUTH') return undefined;
        throw error;
      }
    },
    async changes(drive, page) {
      try {
        const changePart = await api.changes(drive, page);
        return {
          changes: changePart.changes.map(({ fileId, file }) => ({
            id: fileId,
            entry: file === undefined ? undefined : toEntry(file, bytesMax),
          })),
          isReset: changePart.hasDriveChange && drive !== undefined,
          next: changePart.nextPageToken,
          last: changePart.newStartPageToken,
        } satisfies ChangePage;
      } catch (error) {
        // Drive answers 400, 404 or 410 to a token that is too old, 403 for a drive that the account lost.
        if (error instanceof SourceError && ['NOT_FOUND', 'FORBIDDEN', 'UNSUPPORTED'].includes(error.code)) return 'expired';
        throw error;
      }
    },
  };
}
