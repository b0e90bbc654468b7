import type { ItemAccess, ItemPermissions } from '../../../../entities/knowledge/permissions.ts';
import { inParts } from '../../../../lib/in-parts.ts';
import { membersOf, readString } from '../../../../lib/json/json.ts';
import type { Settings } from '../../../../settings.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import { noteGroups, readGroups } from '../permission-reading/groups.ts';
import { eachItem, hashJson } from '../permission-reading/pages.ts';
import { isRefused, toUnreadable } from '../permission-reading/unknown.ts';
import type { PermissionEnd, PermissionItem, PermissionKind, PermissionPage, PermissionTask } from '../permissions.ts';
import {
  createSharingApi,
  directoryRight,
  directoryScope,
  type SharedFile,
  type SharingApi,
  type SharingChanges,
} from './permission-api.ts';
import { readPlace, readSharingState, type SharingPlace, type SharingState } from './permission-state.ts';
import { recheckFiles } from './recheck.ts';

const neededRight = 'Needed: an account that may see who has access to the file.';
/** More folders are not followed: then everything is read each time. */
const foldersMax = 20_000;

/** Who may open files of Google Drive: their permissions and those of shared drives; members of groups, where the account may read them. */
export const googleDrivePermissions: PermissionKind = {
  service: 'google',
  scopes: [directoryScope],
  hasChangeFeed: true,
  directory: ({ oauthTokenId }) => `google ${readString(oauthTokenId) ?? ''}`,
  async account({ GOOGLE_API_URL }: Settings, ask) {
    // The id is that of permissions. Google does not say here whether the address is verified.
    const { user } = membersOf(await ask(`${GOOGLE_API_URL}/drive/v3/about?fields=user(permissionId)`));
    const accountId = readString(membersOf(user).permissionId);
    if (accountId === undefined) throw new SourceError('BAD_REPLY', 'Google Drive did not say which account it is.');
    return { accountId };
  },
  open: (services) => ({
    read: (task) => readSharing(services, task),
    recheck: (task) => recheckFiles(services, task),
  }),
};

interface Reading {
  readonly services: ConnectorServices;
  readonly task: PermissionTask;
  readonly api: SharingApi;
  /** What folders of shared drives open to, for files that have nothing of their own. */
  readonly ofFolders: Map<string, ItemPermissions>;
  readonly groupIds: Set<string>;
  readonly folderIds: Set<string>;
  readonly tokens: Map<string, string>;
  /** What shared drives open to, when they were followed. */
  readonly driveHashes: Map<string, string>;
}

async function* readSharing(
  services: ConnectorServices,
  task: PermissionTask,
): AsyncGenerator<PermissionPage, PermissionEnd, void> {
  const token = await services.tokens.open(String(task.source.data.oauthTokenId), task.source);
  const api = createSharingApi(services, token, task.signal);
  const place = readPlace(task.place);
  const state = task.isFull || place !== undefined ? undefined : readSharingState(task.state);
  const open = (before?: Omit<SharingPlace, 'after'>): Reading => ({
    ...{ services, task, api, ofFolders: new Map(), groupIds: new Set(before?.groupIds), folderIds: new Set(before?.folderIds) },
    tokens: new Map(Object.entries(before?.tokens ?? {})),
    driveHashes: new Map(Object.entries(before?.driveHashes ?? {})),
  });
  if (state !== undefined) {
    const end = yield* readChanges(open(state), state);
    if (end !== undefined) return end;
  }
  return yield* readAll(open(place), place);
}

/** Folder by folder: Drive says the permissions of a hundred files at once. */
async function* readAll(reading: Reading, begin: SharingPlace | undefined): AsyncGenerator<PermissionPage, PermissionEnd, void> {
  const { task, api, tokens, folderIds } = reading;
  const wantedIds = await groupByFolder(task);
  if (!tokens.has('')) tokens.set('', await api.startPageToken(undefined));
  let place: SharingPlace | null = begin ?? null;
  for (const folderId of [...wantedIds.keys()].sort()) {
    if (begin !== undefined && folderId <= begin.after) continue;
    const ids = wantedIds.get(folderId) ?? new Set();
    const pages = folderId === '' ? readEach(reading, ids) : readFolder(reading, folderId, ids);
    for await (const items of pages) yield { items, place };
    place = { after: folderId, ...toProgress(reading) };
    yield { items: [], place };
  }
  await noteAncestors(reading, [...folderIds]);
  const missingRights = yield* tellGroups(reading, place);
  const now = reading.services.now().toISOString();
  return { isFull: true, state: toState(reading, { fullAt: now, groupsAt: now, missingRights }), missingRights };
}

/** The ids of the items by the folder that they lie in; '' for those without one. Memory: the ids of the source. */
async function groupByFolder(task: PermissionTask): Promise<Map<string, Set<string>>> {
  const byFolder = new Map<string, Set<string>>();
  for await (const { uniqueId, parentUniqueId } of eachItem(task.items())) {
    const folderId = parentUniqueId ?? '';
    const ids = byFolder.get(folderId) ?? new Set();
    byFolder.set(folderId, ids.add(uniqueId));
  }
  return byFolder;
}

/** Tells of the wanted files of a folder, whatever folder they lie in now. */
async function* readFolder(
  reading: Reading,
  folderId: string,
  wanted: ReadonlySet<string>,
): AsyncGenerator<readonly ItemAccess[], void, void> {
  const left = new Set(wanted);
  try {
    for await (const files of childrenOf(reading, folderId)) {
      const told: ItemAccess[] = [];
      for (const file of files) if (left.delete(file.id)) told.push(await toAccess(reading, file));
      if (told.length > 0) yield told;
    }
  } catch (error) {
    // Who may see a file does not always see its folder.
    if (!isRefused(error)) throw error;
  }
  yield* readEach(reading, left);
}

/** Tells of files one by one, such as those that were moved since they were listed. */
async function* readEach(reading: Reading, ids: Iterable<string>): AsyncGenerator<readonly ItemAccess[], void, void> {
  for (const part of inParts([...ids], 100)) {
    const told: ItemAccess[] = [];
    for (const uniqueId of part) {
      reading.task.signal.throwIfAborted();
      const file = await reading.api.file(uniqueId).catch((error: unknown) => toUnreadable(error, neededRight));
      if ('unknown' in file) told.push({ uniqueId, permissions: file });
      else {
        await follow(reading, [file]);
        told.push(await toAccess(reading, file));
      }
    }
    yield told;
  }
}

/** The files of a folder, a hundred at a time. What changes from now on is not missed: a drive is followed before its files are told of. */
async function* childrenOf(reading: Reading, folderId: string): AsyncGenerator<readonly SharedFile[], void, void> {
  const { api, task, folderIds } = reading;
  folderIds.add(folderId);
  let pageToken: string | undefined;
  for (;;) {
    task.signal.throwIfAborted();
    const page = await api.children(folderId, pageToken);
    if (page.isIncomplete) throw new SourceError('BAD_REPLY', 'Google Drive did not search everywhere. It is tried again later.');
    if (await follow(reading, page.files)) continue;
    yield page.files;
    pageToken = page.nextPageToken;
    if (pageToken === undefined) return;
  }
}

/** @returns whether a drive came up that was not followed so far: what was read of it before is read again. */
async function follow({ api, tokens, driveHashes }: Reading, files: readonly SharedFile[]): Promise<boolean> {
  let isNew = false;
  for (const driveId of new Set(files.flatMap((file) => file.driveId ?? []))) {
    if (tokens.has(driveId)) continue;
    isNew = true;
    // Who may see a folder of a shared drive does not always see the drive.
    const token = await api.startPageToken(driveId).catch((error: unknown) => {
      if (isRefused(error)) return '';
      throw error;
    });
    tokens.set(driveId, token);
    driveHashes.set(driveId, await hashDrive(api, driveId));
  }
  return isNew;
}

async function toAccess(reading: Reading, file: SharedFile): Promise<ItemAccess> {
  const permissions = await loadPermissions(reading, file);
  noteGroups(permissions, reading.groupIds);
  return { uniqueId: file.id, permissions };
}

async function loadPermissions({ api, ofFolders }: Reading, file: SharedFile): Promise<ItemPermissions> {
  if (file.permissions !== undefined) return file.permissions;
  const [folderId] = file.parents;
  const load = (id: string) => api.permissions(id).catch((error: unknown) => toUnreadable(error, neededRight));
  if (file.driveId === undefined || folderId === undefined || !file.hasThoseOfFolder) return load(file.id);
  const ofFolder = ofFolders.get(folderId) ?? (await load(folderId));
  ofFolders.set(folderId, ofFolder);
  // A folder that the account may not see says nothing of the file.
  return 'unknown' in ofFolder && ofFolder.unknown.code === 'UNREADABLE' ? load(file.id) : ofFolder;
}

/** What changed since the last reading. @returns undefined where everything has to be read. */
async function* readChanges(
  reading: Reading,
  state: SharingState,
): AsyncGenerator<PermissionPage, PermissionEnd | undefined, void> {
  const { api } = reading;
  const { missingRights } = state;
  for (const [driveId, hash] of Object.entries(state.driveHashes)) if ((await hashDrive(api, driveId)) !== hash) return undefined;
  const untold = state.areFoldersTooMany || Object.values(state.tokens).includes('');
  if (untold && isDue(reading, state.fullAt)) return undefined;
  // Until then nothing is known of what changes there.
  if (state.areFoldersTooMany) return { isFull: false, missingRights };
  for (const [driveId, first] of Object.entries(state.tokens)) {
    if (first !== '' && !(yield* readFeed(reading, driveId, first))) return undefined;
  }
  yield* readNew(reading);
  if (!isDue(reading, state.groupsAt)) return { isFull: false, state: toState(reading, state), missingRights };
  const rights = yield* tellGroups(reading, null);
  const groupsAt = reading.services.now().toISOString();
  return { isFull: false, state: toState(reading, { ...state, groupsAt, missingRights: rights }), missingRights: rights };
}

/** The changes of one drive. @returns whether they told enough. */
async function* readFeed(reading: Reading, driveId: string, first: string): AsyncGenerator<PermissionPage, boolean, void> {
  const { api, tokens, folderIds, task } = reading;
  for (let pageToken: string | undefined = first; pageToken !== undefined; ) {
    const page: SharingChanges | undefined = await loadChanges(api, driveId, pageToken);
    if (page === undefined || page.hasDriveChange) return false;
    // What was in a folder that the account lost is not told.
    if (page.removedIds.some((id) => folderIds.has(id))) return false;
    const files = page.files.filter(({ isTrashed }) => !isTrashed);
    const existing = await task.known(files.filter(({ isFolder }) => !isFolder).map(({ id }) => id));
    const items: ItemAccess[] = [];
    for (const file of files) if (existing.has(file.id)) items.push(await toAccess(reading, file));
    if (items.length > 0) yield { items, place: null };
    yield* readAnew(reading, [...(await task.known(page.removedIds)).values()]);
    for (const { id } of files.filter((file) => file.isFolder && folderIds.has(file.id))) {
      if (!(yield* readBelow(reading, id))) return false;
    }
    if (page.newStartPageToken !== undefined) tokens.set(driveId, page.newStartPageToken);
    pageToken = page.nextPageToken;
  }
  return true;
}

/** @returns undefined for a token that Drive does not know any more, or for a drive that the account lost. */
async function loadChanges(api: SharingApi, driveId: string, pageToken: string) {
  try {
    return await api.changes(driveId === '' ? undefined : driveId, pageToken);
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

/** A folder was shared otherwise: so is all that is in it, which Drive does not tell file by file. @returns whether Drive told what is in it. */
async function* readBelow(reading: Reading, rootId: string): AsyncGenerator<PermissionPage, boolean, void> {
  const folders = new Set([rootId]);
  for (const folderId of folders) {
    try {
      for await (const files of childrenOf(reading, folderId)) {
        const existing = await reading.task.known(files.map(({ id }) => id));
        const told: ItemAccess[] = [];
        for (const file of files) {
          if (file.isFolder) folders.add(file.id);
          else if (existing.has(file.id)) told.push(await toAccess(reading, file));
        }
        if (told.length > 0) yield { items: told, place: null };
      }
    } catch (error) {
      if (!isRefused(error)) throw error;
      return false;
    }
  }
  return true;
}

async function* readNew(reading: Reading): AsyncGenerator<PermissionPage, void, void> {
  const folders = new Set<string>();
  for await (const items of reading.task.newItems()) {
    for (const { parentUniqueId } of items)
      if (parentUniqueId !== null && !reading.folderIds.has(parentUniqueId)) folders.add(parentUniqueId);
    yield* readAnew(reading, items);
  }
  for (const id of folders) reading.folderIds.add(id);
  await noteAncestors(reading, [...folders]);
}

async function* readAnew(reading: Reading, items: readonly PermissionItem[]): AsyncGenerator<PermissionPage, void, void> {
  const ids = items.map(({ uniqueId }) => uniqueId);
  for await (const told of readEach(reading, ids)) yield { items: told, place: null };
}

/** The folders above: what is shared there is shared here too. */
async function noteAncestors({ api, folderIds }: Reading, from: readonly string[]): Promise<void> {
  const waiting = [...from];
  const seen = new Set<string>();
  for (let id = waiting.pop(); id !== undefined && folderIds.size <= foldersMax; id = waiting.pop()) {
    if (id === '' || seen.has(id)) continue;
    seen.add(id);
    const folder = await api.file(id).catch((error: unknown) => (isRefused(error) ? undefined : Promise.reject(error)));
    for (const parent of folder?.parents ?? []) {
      if (!folderIds.has(parent)) waiting.push(parent);
      folderIds.add(parent);
    }
  }
}

async function* tellGroups(reading: Reading, place: unknown): AsyncGenerator<PermissionPage, readonly string[], void> {
  let isMissing = false;
  const groups = readGroups(reading.groupIds, reading.api.members, place, reading.task.signal);
  for await (const page of groups) {
    isMissing ||= page.groups?.some(({ members }) => 'unknown' in members && members.unknown.code === 'UNREADABLE') === true;
    yield page;
  }
  return isMissing ? [directoryRight] : [];
}

/** No feed tells of members: they are read as often as permissions without a feed. */
function isDue({ services }: Reading, lastAt: string): boolean {
  return services.now().getTime() - Date.parse(lastAt) >= services.settings.PERMISSION_SYNC_MINUTES * 60_000;
}

/** Who may open a whole shared drive: that is no change of a file. */
async function hashDrive(api: SharingApi, driveId: string): Promise<string> {
  return hashJson(await api.permissions(driveId).catch((error: unknown) => toUnreadable(error, '')));
}

function toProgress({ tokens, driveHashes, folderIds, groupIds }: Reading): Omit<SharingPlace, 'after'> {
  return {
    ...{ tokens: Object.fromEntries(tokens), driveHashes: Object.fromEntries(driveHashes) },
    ...{ folderIds: [...folderIds], groupIds: [...groupIds] },
  };
}

function toState(
  reading: Reading,
  { fullAt, groupsAt, missingRights }: Pick<SharingState, 'fullAt' | 'groupsAt' | 'missingRights'>,
): SharingState {
  const areFoldersTooMany = reading.folderIds.size > foldersMax;
  const progress = toProgress(reading);
  const folderIds = areFoldersTooMany ? [] : progress.folderIds;
  return { ...progress, folderIds, areFoldersTooMany, fullAt, groupsAt, missingRights };
}
