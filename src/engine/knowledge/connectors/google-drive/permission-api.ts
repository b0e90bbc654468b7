import type { AccessEntry, AccessList, GroupMembers, ItemPermissions } from '../../../../entities/knowledge/permissions.ts';
import { membersOf, readElements, readString, readStrings } from '../../../../lib/json/json.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import { toEmail } from '../permission-reading/pages.ts';
import { toUnknown, toUnreadable } from '../permission-reading/unknown.ts';
import type { ServiceReply, ServiceRequest, ServiceToken } from '../service-client/client.ts';
import { CursorTrail } from '../service-client/cursor-trail.ts';
import { driveRequests, readList } from './api.ts';
import { driveRefusal } from './refusal.ts';

/** What permissions need of a file or folder. */
export interface SharedFile {
  readonly id: string;
  readonly isFolder: boolean;
  readonly isTrashed: boolean;
  readonly parents: readonly string[];
  readonly driveId: string | undefined;
  /** Undefined where Drive does not say them with the file: in shared drives, and to accounts that may not share it. */
  readonly permissions: ItemPermissions | undefined;
  /** It lies in a shared drive, and has what its folder has. */
  readonly hasThoseOfFolder: boolean;
}

export interface SharingChanges {
  readonly files: readonly SharedFile[];
  /** Files and folders that are deleted, or that the account may not see any more. */
  readonly removedIds: readonly string[];
  readonly hasDriveChange: boolean;
  readonly nextPageToken: string | undefined;
  readonly newStartPageToken: string | undefined;
}

/** Who may open files, of Google Drive v3; members of groups, of the Directory API. Every call throws SourceError, or the signal's reason. */
export interface SharingApi {
  file(id: string): Promise<SharedFile>;
  /** At most 100 of what lies in a folder. */
  children(
    folderId: string,
    pageToken: string | undefined,
  ): Promise<{
    readonly files: readonly SharedFile[];
    readonly nextPageToken: string | undefined;
    readonly isIncomplete: boolean;
  }>;
  /** All permissions of a file, a folder or a shared drive, also those that it inherits. */
  permissions(id: string): Promise<ItemPermissions>;
  startPageToken(driveId: string | undefined): Promise<string>;
  changes(driveId: string | undefined, pageToken: string): Promise<SharingChanges>;
  /** @param email  the address of the group. */
  members(email: string): Promise<GroupMembers>;
}

export const directoryScope = 'https://www.googleapis.com/auth/admin.directory.group.member.readonly';
export const directoryRight = `${directoryScope}, with an account that may read groups: members of groups`;

export const permissionFields =
  'id,type,emailAddress,domain,role,allowFileDiscovery,expirationTime,deleted,view,inheritedPermissionsDisabled,permissionDetails(inherited)';
const sharingFields = `id,mimeType,parents,driveId,trashed,hasAugmentedPermissions,inheritedPermissionsDisabled,permissions(${permissionFields})`;
const pageSize = '100';
/** As many permissions as Drive gives with a file; of more, it is not said whether they are all. */
const inlineMax = 100;

export function createSharingApi(
  services: Pick<ConnectorServices, 'settings' | 'vendors'>,
  token: ServiceToken,
  signal: AbortSignal,
): SharingApi {
  const { vendors } = services;
  const request = driveRequests(services, token);
  const get = async (path: string, query: Readonly<Record<string, string | undefined>>) =>
    membersOf(await vendors.json(request(path, query), signal));
  const ofFile = (id: string) => `files/${encodeURIComponent(id)}`;
  const trail = new CursorTrail('Google Drive');
  const shared = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' };
  return {
    file: async (id) => readSharedFile(await get(ofFile(id), { fields: sharingFields, supportsAllDrives: 'true' })),
    async children(folderId, pageToken) {
      const fields = `nextPageToken,incompleteSearch,files(${sharingFields})`;
      const q = `'${folderId.replace(/[\\']/g, '\\$&')}' in parents and trashed=false`;
      const reply = await get('files', { q, fields, pageSize, pageToken, ...shared });
      return {
        files: readList(reply.files).map(readSharedFile),
        nextPageToken: trail.follow(`files ${folderId}`, pageToken, readString(reply.nextPageToken)),
        isIncomplete: reply.incompleteSearch === true,
      };
    },
    async permissions(id) {
      const all: unknown[] = [];
      let pageToken: string | undefined;
      do {
        const fields = `nextPageToken,permissions(${permissionFields})`;
        const reply = await get(`${ofFile(id)}/permissions`, { fields, pageSize, pageToken, supportsAllDrives: 'true' });
        all.push(...readList(reply.permissions));
        pageToken = trail.follow(`permissions ${id}`, pageToken, readString(reply.nextPageToken));
      } while (pageToken !== undefined);
      return readPermissions(all);
    },
    async startPageToken(driveId) {
      const start = readString((await get('changes/startPageToken', { driveId, supportsAllDrives: 'true' })).startPageToken);
      if (start === undefined) throw new SourceError('BAD_REPLY', 'Google Drive gave no token for its changes.');
      return start;
    },
    async changes(driveId, pageToken) {
      const fields = `nextPageToken,newStartPageToken,changes(changeType,removed,fileId,file(${sharingFields}))`;
      const reply = await get('changes', { pageToken, driveId, fields, pageSize, includeRemoved: 'true', ...shared });
      const changes = readList(reply.changes).map(membersOf);
      const nextPageToken = trail.follow(`changes ${driveId ?? ''}`, pageToken, readString(reply.nextPageToken));
      const newStartPageToken = readString(reply.newStartPageToken);
      if (nextPageToken === undefined && newStartPageToken === undefined)
        throw new SourceError('BAD_REPLY', 'Google Drive ended its changes without a token for the next ones.');
      return {
        files: changes.flatMap(({ removed, file }) =>
          removed === true || file === undefined || file === null ? [] : [readSharedFile(file)],
        ),
        removedIds: changes.flatMap(({ removed, fileId }) => (removed === true ? (readString(fileId) ?? []) : [])),
        hasDriveChange: changes.some(({ changeType }) => changeType === 'drive'),
        nextPageToken,
        newStartPageToken,
      };
    },
    members: (email) => loadMembers(services, token, email, signal),
  };
}

function readSharedFile(value: unknown): SharedFile {
  const members = membersOf(value);
  const id = readString(members.id);
  if (id === undefined || id === '') throw new SourceError('BAD_REPLY', 'Google Drive answered with a file that has no id.');
  const { permissions, hasAugmentedPermissions, inheritedPermissionsDisabled } = members;
  const isWhole = Array.isArray(permissions) && permissions.length < inlineMax;
  return {
    id,
    isFolder: members.mimeType === 'application/vnd.google-apps.folder',
    isTrashed: members.trashed === true,
    parents: readStrings(members.parents),
    driveId: readString(members.driveId),
    permissions: isWhole ? readPermissions(permissions) : undefined,
    hasThoseOfFolder: hasAugmentedPermissions === false && inheritedPermissionsDisabled !== true,
  };
}

/** What permissions of a file say. All that is there: an empty list is open to nobody. */
export function readPermissions(permissions: readonly unknown[]): ItemPermissions {
  const list: AccessEntry[] = [];
  for (const permission of permissions.map(membersOf)) {
    if (permission.deleted === true || !opensContent(permission)) continue;
    if (readString(permission.expirationTime) !== undefined)
      return toUnknown('INEXPRESSIBLE', 'A permission of the file ends at a time. Parley has no such permissions.');
    const entry = readEntry(permission);
    if (entry === undefined)
      return toUnknown(
        'INEXPRESSIBLE',
        `The file has a permission of the type ${String(permission.type)}, which Parley does not know.`,
      );
    list.push(entry);
  }
  return { lists: [list satisfies AccessList] };
}

/** Whether it opens the file itself: not its published form or its name only, as in a folder with limited access. */
function opensContent({
  view,
  inheritedPermissionsDisabled,
  permissionDetails,
  role,
}: Readonly<Record<string, unknown>>): boolean {
  if (readString(view) !== undefined) return false;
  if (inheritedPermissionsDisabled !== true || role === 'owner' || role === 'organizer') return true;
  return readElements(permissionDetails).some((detail) => membersOf(detail).inherited === false);
}

function readEntry({
  id,
  type,
  emailAddress,
  domain,
  allowFileDiscovery,
}: Readonly<Record<string, unknown>>): AccessEntry | undefined {
  const email = toEmail(emailAddress);
  const accountId = readString(id);
  const byLink = allowFileDiscovery === true ? {} : { isByLink: true as const };
  if (type === 'user') {
    if (accountId === undefined && email === undefined) return undefined;
    return { kind: 'user', ...(accountId === undefined ? {} : { accountId }), ...(email === undefined ? {} : { email }) };
  }
  if (type === 'group') {
    const group = email ?? (accountId === undefined ? undefined : `permission ${accountId}`);
    return group === undefined ? undefined : { kind: 'group', id: group };
  }
  if (type === 'domain' && typeof domain === 'string' && domain !== '')
    return { kind: 'domain', domain: domain.toLowerCase(), ...byLink };
  return type === 'anyone' ? { kind: 'anyone', ...byLink } : undefined;
}

async function loadMembers(
  { settings, vendors }: Pick<ConnectorServices, 'settings' | 'vendors'>,
  token: ServiceToken,
  email: string,
  signal: AbortSignal,
): Promise<GroupMembers> {
  if (!email.includes('@'))
    return { id: email, members: toUnknown('UNREADABLE', 'Google Drive does not say the address of this group.') };
  const trail = new CursorTrail('The Directory API of Google');
  const list: Extract<GroupMembers['members'], readonly unknown[]>[number][] = [];
  let pageToken: string | undefined;
  try {
    do {
      const query = new URLSearchParams({ maxResults: '200', ...(pageToken === undefined ? {} : { pageToken }) });
      const url = `${directoryUrl(settings.GOOGLE_API_URL)}/admin/directory/v1/groups/${encodeURIComponent(email)}/members?${query}`;
      const request: ServiceRequest = { service: 'the Directory API of Google', url, token, refusal: directoryRefusal };
      const reply = membersOf(await vendors.json(request, signal));
      // A group without members has no list, and a reply that was cut has no kind.
      if (reply.kind !== 'admin#directory#members')
        throw new SourceError('BAD_REPLY', 'The Directory API of Google answered without the list that was asked for.');
      for (const member of readElements(reply.members).map(membersOf)) {
        const address = toEmail(member.email);
        if (member.status === 'SUSPENDED' || member.status === 'ARCHIVED') continue;
        if (member.type === 'CUSTOMER')
          return {
            id: email,
            members: toUnknown('INEXPRESSIBLE', 'Everybody in the account of Google is a member of the group.'),
          };
        if (address === undefined)
          return {
            id: email,
            members: toUnknown('INCOMPLETE', 'The Directory API of Google names a member without an address.'),
          };
        list.push(member.type === 'GROUP' ? { kind: 'group', id: address } : { kind: 'user', email: address });
      }
      pageToken = trail.follow(email, pageToken, readString(reply.nextPageToken));
    } while (pageToken !== undefined);
  } catch (error) {
    return { id: email, members: toUnreadable(error, `Needed: ${directoryRight}.`) };
  }
  return { id: email, name: email, members: list };
}

/** The Directory API has a host of its own. */
function directoryUrl(api: string): string {
  const url = new URL(api);
  return url.host === 'www.googleapis.com' ? 'https://admin.googleapis.com' : api.replace(/(?<!\/)\/+$/, '');
}

/** A missing scope is a matter of this group only: documents can be read without it. */
function directoryRefusal(reply: ServiceReply): SourceError | undefined {
  const refusal = driveRefusal(reply);
  if (refusal === undefined || refusal.isRetryable) return refusal;
  return new SourceError('FORBIDDEN', 'Google does not let the connected account read the members of this group.');
}
