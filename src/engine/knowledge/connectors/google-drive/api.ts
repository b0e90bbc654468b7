import { membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { ServiceRequest, ServiceToken } from '../service-client/client.ts';
import { CursorTrail } from '../service-client/cursor-trail.ts';
import { type DriveFile, fileFields, readFile } from './file.ts';
import { driveRefusal } from './refusal.ts';

export interface FilePage {
  readonly files: readonly DriveFile[];
  readonly nextPageToken: string | undefined;
  /** Drive did not search everywhere: what is missing may still be there. */
  readonly isIncomplete: boolean;
}

export interface DriveChange {
  readonly fileId: string;
  /** Undefined: deleted, or hidden from the account. */
  readonly file: DriveFile | undefined;
}

export interface ChangePage {
  readonly changes: readonly DriveChange[];
  /** Whether a whole shared drive changed. */
  readonly hasDriveChange: boolean;
  readonly nextPageToken: string | undefined;
  /** On the last page: where the next run begins. */
  readonly newStartPageToken: string | undefined;
}

export interface FileQuery {
  readonly q: string;
  /** Searches also the shared drives that the account has not opened so far. */
  readonly isEverywhere?: boolean;
  readonly orderBy?: string;
  readonly pageSize?: number;
  readonly pageToken?: string | undefined;
}

/** Google Drive v3 with one account. Every call throws SourceError, or the signal's reason. */
export interface DriveApi {
  file(id: string): Promise<DriveFile>;
  files(query: FileQuery): Promise<FilePage>;
  /** The shared drives of the account. */
  drives(pageToken: string | undefined): Promise<{
    readonly drives: readonly { readonly id: string; readonly name: string }[];
    readonly nextPageToken: string | undefined;
  }>;
  /** Links to the exports of a document, by type. */
  exportLinks(id: string): Promise<ReadonlyMap<string, string>>;
  /** @param driveId  a shared drive; undefined: all else that the account sees. */
  startPageToken(driveId: string | undefined): Promise<string>;
  changes(driveId: string | undefined, pageToken: string): Promise<ChangePage>;
  /** A request for content. */
  content(id: string, exportType: string | undefined): ServiceRequest;
}

export const pageSizeMax = 100;

/** The part of an address and query that says: shared drives too. */
const allDrives = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' };

export function createDriveApi(
  services: Pick<ConnectorServices, 'settings' | 'vendors'>,
  token: ServiceToken,
  signal: AbortSignal,
): DriveApi {
  const { vendors } = services;
  const trail = new CursorTrail('Google Drive');
  const request = driveRequests(services, token);
  const get = async (path: string, query: Readonly<Record<string, string | undefined>>) =>
    membersOf(await vendors.json(request(path, query), signal));
  const ofFile = (id: string) => `files/${encodeURIComponent(id)}`;
  return {
    file: async (id) => readFile(await get(ofFile(id), { fields: fileFields, supportsAllDrives: 'true' })),
    async files({ q, isEverywhere = false, orderBy, pageSize = pageSizeMax, pageToken }) {
      const fields = `nextPageToken,incompleteSearch,files(${fileFields})`;
      const where = isEverywhere ? { corpora: 'allDrives' } : {};
      const reply = await get('files', { q, fields, pageSize: String(pageSize), orderBy, pageToken, ...where, ...allDrives });
      return {
        files: readList(reply.files).map(readFile),
        nextPageToken: trail.follow(`files ${q}`, pageToken, readString(reply.nextPageToken)),
        isIncomplete: reply.incompleteSearch === true,
      };
    },
    async drives(pageToken) {
      const reply = await get('drives', { fields: 'nextPageToken,drives(id,name)', pageSize: String(pageSizeMax), pageToken });
      const drives = readElements(reply.drives).map((drive) => ({
        id: readString(membersOf(drive).id) ?? '',
        name: readString(membersOf(drive).name) ?? '',
      }));
      const nextPageToken = trail.follow('drives', pageToken, readString(reply.nextPageToken));
      return { drives: drives.filter(({ id }) => id !== ''), nextPageToken };
    },
    async exportLinks(id) {
      const reply = await get(ofFile(id), { fields: 'exportLinks', supportsAllDrives: 'true' });
      const links = Object.entries(membersOf(reply.exportLinks));
      return new Map(links.filter((link): link is [string, string] => typeof link[1] === 'string'));
    },
    async startPageToken(driveId) {
      const reply = await get('changes/startPageToken', { driveId, supportsAllDrives: 'true' });
      const start = readString(reply.startPageToken);
      if (start === undefined) throw new SourceError('BAD_REPLY', 'Google Drive gave no token for its changes.');
      return start;
    },
    async changes(driveId, pageToken) {
      const fields = `nextPageToken,newStartPageToken,changes(changeType,removed,fileId,file(${fileFields}))`;
      const query = { pageToken, driveId, fields, pageSize: String(pageSizeMax), includeRemoved: 'true', ...allDrives };
      const reply = await get('changes', query);
      const changes = readList(reply.changes).map(membersOf);
      const nextPageToken = trail.follow(`changes ${driveId ?? ''}`, pageToken, readString(reply.nextPageToken));
      const newStartPageToken = readString(reply.newStartPageToken);
      if (nextPageToken === undefined && newStartPageToken === undefined) {
        throw new SourceError('BAD_REPLY', 'Google Drive ended its changes without a token for the next ones.');
      }
      return {
        changes: changes.flatMap(({ fileId, removed, file }) =>
          typeof fileId === 'string' ? [{ fileId, file: removed === true ? undefined : knownFile(file) }] : [],
        ),
        hasDriveChange: changes.some(({ changeType }) => changeType === 'drive'),
        nextPageToken,
        newStartPageToken,
      };
    },
    content(id, exportType) {
      const target =
        exportType === undefined
          ? request(ofFile(id), { alt: 'media', supportsAllDrives: 'true' })
          : request(`${ofFile(id)}/export`, { mimeType: exportType });
      return { ...target, headers: { accept: '*/*' } };
    },
  };
}

/** Makes requests to Google Drive v3 with one account: a path below it, and a query. */
export function driveRequests(
  { settings }: Pick<ConnectorServices, 'settings'>,
  token: ServiceToken,
): (path: string, query: Readonly<Record<string, string | undefined>>) => ServiceRequest {
  const base = `${settings.GOOGLE_API_URL.replace(/(?<!\/)\/+$/, '')}/drive/v3`;
  return (path, query) => {
    const queryEntries = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return { service: 'Google Drive', url: `${base}/${path}?${new URLSearchParams(queryEntries)}`, token, refusal: driveRefusal };
  };
}

function knownFile(file: unknown): DriveFile | undefined {
  return file === undefined || file === null ? undefined : readFile(file);
}

/** A list without its member is a reply that was cut, and never an empty folder. */
export function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new SourceError('BAD_REPLY', 'Google Drive answered without the list that was asked for.');
  return value;
}

/** The value of a text in a query of `files`. */
export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
