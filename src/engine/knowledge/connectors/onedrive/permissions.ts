import type { ItemAccess } from '../../../../entities/knowledge/permissions.ts';
import { inParts } from '../../../../lib/in-parts.ts';
import { membersOf, readString } from '../../../../lib/json/json.ts';
import type { Settings } from '../../../../settings.ts';
import type { ConnectorServices, SyncedSource } from '../connector.ts';
import { SourceError } from '../error.ts';
import { noteGroups, readGroups } from '../permission-reading/groups.ts';
import { eachItem, hashJson } from '../permission-reading/pages.ts';
import { isRefused } from '../permission-reading/unknown.ts';
import type {
  PermissionEnd,
  PermissionItem,
  PermissionKind,
  PermissionPage,
  PermissionTask,
  RecheckTask,
} from '../permissions.ts';
import { createGraphApi, type GraphApi, latest } from './api.ts';
import { siteGroupPrefix } from './grants.ts';
import { groupRight } from './group-members.ts';
import { itemRef } from './item-ref.ts';
import { GraphSharingApi, type ItemAddress } from './permission-api.ts';
import {
  type GraphProgress,
  type GraphSharingPlace,
  type GraphSharingState,
  readGraphState,
  readPlace,
} from './permission-state.ts';

const feedRight =
  'Sites.FullControl.All: a feed of changes of permissions; without it they are read every PERMISSION_SYNC_MINUTES';
/** More folders are not kept: then everything is read each time. */
const foldersMax = 20_000;
/** Items that are told together: five requests. */
const itemsAtOnce = 100;

/** Who may open items of OneDrive and of SharePoint libraries; members of groups, where the account may read them. */
export const oneDrivePermissions: PermissionKind = {
  service: 'microsoft',
  scopes: ['GroupMember.Read.All'],
  hasChangeFeed: true,
  directory: ({ oauthTokenId }) => `microsoft ${readString(oauthTokenId) ?? ''}`,
  async account({ MICROSOFT_API_URL }: Settings, ask) {
    // Addresses are left out: an administrator writes them, and Graph does not say whether one is verified.
    const accountId = readString(membersOf(await ask(`${MICROSOFT_API_URL}/me?$select=id`)).id);
    if (accountId === undefined) throw new SourceError('BAD_REPLY', 'Microsoft Graph did not say which account it is.');
    return { accountId };
  },
  open: (services) => ({ read: (task) => readSharing(services, task), recheck: (task) => recheckItems(services, task) }),
};

interface Reading {
  readonly services: ConnectorServices;
  readonly task: PermissionTask;
  readonly api: GraphSharingApi;
  readonly drives: GraphApi;
  readonly links: Map<string, string>;
  readonly rootHashes: Map<string, string>;
  readonly groupIds: Set<string>;
}

async function* readSharing(
  services: ConnectorServices,
  task: PermissionTask,
): AsyncGenerator<PermissionPage, PermissionEnd, void> {
  const { source, signal } = task;
  const token = await services.tokens.open(String(source.data.oauthTokenId), source);
  const [api, drives] = [new GraphSharingApi(services, token, signal), createGraphApi(services, token, signal)];
  const place = readPlace(task.place);
  const state = task.isFull || place !== undefined ? undefined : readGraphState(task.state);
  const open = (before?: GraphProgress): Reading => ({
    ...{ services, task, api, drives, groupIds: new Set(before?.groupIds) },
    links: new Map(Object.entries(before?.links ?? {})),
    rootHashes: new Map(Object.entries(before?.rootHashes ?? {})),
  });
  if (state !== undefined) {
    const end = yield* readChanges(open(state), state);
    if (end !== undefined) return end;
  }
  return yield* readAll(open(place), place);
}

async function* readAll(
  reading: Reading,
  begin: GraphSharingPlace | undefined,
): AsyncGenerator<PermissionPage, PermissionEnd, void> {
  const { task, services } = reading;
  let place: GraphSharingPlace | null = begin ?? null;
  for await (const page of task.items(begin?.after)) {
    for (const part of inParts(page, itemsAtOnce)) {
      task.signal.throwIfAborted();
      const items = await tellItems(reading, part);
      place = { after: part.at(-1)?.uniqueId ?? '', ...toProgress(reading) };
      yield { items, place };
    }
  }
  const folderIds = new Map<string, ItemAddress>();
  for await (const { parentUniqueId: id, metadata } of eachItem(task.items())) {
    if (id !== null) folderIds.set(id, { drive: toDrive(metadata), id });
  }
  const folders = await findFolders(reading, folderIds);
  const missingRights = yield* tellGroups(reading, place);
  const now = services.now().toISOString();
  const state = { ...toProgress(reading), ...toFolders(folders), fullAt: now, groupsAt: now, missingRights };
  return { isFull: true, state: state satisfies GraphSharingState, missingRights };
}

function toDrive(metadata: PermissionItem['metadata']): string | undefined {
  return readString(metadata.driveId);
}

/** The drive as it is asked for: the one of the item, else the one that the source names. */
function toAddress(source: SyncedSource, { drive, id }: ItemAddress): ItemAddress {
  return { drive: drive ?? itemRef(String(source.data.fileId), readString(source.data.driveId)).drive, id };
}

async function tellItems(
  reading: Reading,
  items: readonly Pick<PermissionItem, 'uniqueId' | 'metadata'>[],
): Promise<readonly ItemAccess[]> {
  const { api, task, groupIds } = reading;
  for (const drive of new Set(items.map(({ metadata }) => toDrive(metadata)))) await follow(reading, drive);
  const addresses = items.map(({ uniqueId, metadata }) => toAddress(task.source, { drive: toDrive(metadata), id: uniqueId }));
  const all = await api.permissions(addresses);
  return items.flatMap(({ uniqueId }, index) => {
    const permissions = all[index];
    if (permissions === undefined) return [];
    noteGroups(permissions, groupIds);
    return [{ uniqueId, permissions }];
  });
}

/** Before something of a drive is told of: what changes there from now on must not be missed. */
async function follow(reading: Reading, drive: string | undefined): Promise<void> {
  const { links, rootHashes, api } = reading;
  const key = drive ?? '';
  if (links.has(key)) return;
  const address = toAddress(reading.task.source, { drive, id: 'root' });
  let link: string | undefined = latest;
  let page: Awaited<ReturnType<GraphSharingApi['changes']>>;
  do {
    page = await api.changes(address.drive, link).catch(orRefused);
    link = page?.nextLink;
  } while (link !== undefined);
  links.set(key, page?.deltaLink ?? '');
  rootHashes.set(key, await hashRoot(reading, drive));
}

/** Who may see a shared folder does not always see the drive. */
function orRefused(error: unknown): undefined {
  if (!isRefused(error)) throw error;
  return undefined;
}

async function hashRoot({ api, task }: Reading, drive: string | undefined): Promise<string> {
  return hashJson(await api.permissions([toAddress(task.source, { drive, id: 'root' })]));
}

/** What changed since the last reading. @returns undefined where everything has to be read. */
async function* readChanges(
  reading: Reading,
  state: GraphSharingState,
): AsyncGenerator<PermissionPage, PermissionEnd | undefined, void> {
  const { missingRights } = state;
  for (const [key, hash] of Object.entries(state.rootHashes)) {
    if ((await hashRoot(reading, key === '' ? undefined : key)) !== hash) return undefined;
  }
  const isUntold = state.areFoldersTooMany || Object.values(state.links).includes('');
  if (isUntold && isDue(reading, state.fullAt)) return undefined;
  const folders = new Map(Object.entries(state.folders));
  for (const [key, link] of Object.entries(state.links)) {
    if (link !== '' && !state.areFoldersTooMany && !(yield* readFeed(reading, key, link, folders))) return undefined;
  }
  for await (const items of reading.task.newItems()) {
    yield* tellAgain(reading, items);
    const unseen = items.filter(({ parentUniqueId: id }) => id !== null && !folders.has(id));
    const added = new Map(
      unseen.map(({ parentUniqueId, metadata }) => [
        String(parentUniqueId),
        { drive: toDrive(metadata), id: String(parentUniqueId) },
      ]),
    );
    for (const [id, parent] of await findFolders(reading, added)) folders.set(id, parent);
  }
  const next = { ...state, ...toFolders(folders) };
  if (!isDue(reading, state.groupsAt)) return { isFull: false, state: { ...next, ...toProgress(reading) }, missingRights };
  const rights = yield* tellGroups(reading, null);
  const groupsAt = reading.services.now().toISOString();
  return { isFull: false, state: { ...next, ...toProgress(reading), groupsAt, missingRights: rights }, missingRights: rights };
}

/** @returns whether the changes told enough. */
async function* readFeed(
  reading: Reading,
  key: string,
  first: string,
  folders: Map<string, string>,
): AsyncGenerator<PermissionPage, boolean, void> {
  const { api, links, task } = reading;
  const drive = key === '' ? undefined : key;
  const address = toAddress(task.source, { drive, id: 'root' });
  for (let link: string | undefined = first; link !== undefined; ) {
    const page: Awaited<ReturnType<GraphSharingApi['changes']>> = await api.changes(address.drive, link).catch(orRefused);
    if (page === undefined || page.items.some(({ isRoot, isSharedAnew }) => isRoot && isSharedAnew)) return false;
    // What the account lost is told as deleted: of a file, Graph is asked anew, and refuses. What was in a folder is not told.
    if (page.items.some(({ id, isDeleted }) => isDeleted && folders.has(id))) return false;
    const items = page.items.filter(({ isRoot }) => !isRoot);
    const existing = [...(await task.known(items.map(({ id }) => id))).values()];
    yield* tellAgain(reading, existing);
    for (const { id, parentId, isSharedAnew } of items.filter(({ isFolder, isDeleted }) => isFolder && !isDeleted)) {
      const before = folders.get(id);
      if (parentId !== undefined) folders.set(id, parentId);
      const isChanged = isSharedAnew || (before !== undefined && before !== parentId);
      if (isChanged && !(yield* readBelow(reading, drive, id))) return false;
    }
    if (page.deltaLink !== undefined) links.set(key, page.deltaLink);
    link = page.nextLink;
  }
  return true;
}

/** A folder was shared otherwise, or moved: so was all that is in it and inherits. @returns whether Graph told what is in it. */
async function* readBelow(
  reading: Reading,
  drive: string | undefined,
  rootId: string,
): AsyncGenerator<PermissionPage, boolean, void> {
  const { drives, task } = reading;
  const address = toAddress(task.source, { drive, id: rootId });
  const folders = new Set([rootId]);
  for (const folderId of folders) {
    let link: string | undefined;
    do {
      task.signal.throwIfAborted();
      const page: Awaited<ReturnType<GraphApi['children']>> | undefined = await drives
        .children(address.drive, folderId, link)
        .catch(orRefused);
      if (page === undefined) return false;
      const existing = [...(await task.known(page.items.map(({ id }) => id))).values()];
      yield* tellAgain(reading, existing);
      for (const { id, isFolder } of page.items) if (isFolder) folders.add(id);
      link = page.nextLink;
    } while (link !== undefined);
  }
  return true;
}

async function* tellAgain(reading: Reading, items: readonly PermissionItem[]): AsyncGenerator<PermissionPage, void, void> {
  for (const part of inParts(items, itemsAtOnce)) yield { items: await tellItems(reading, part), place: null };
}

/** The folder that each of these lies in, and those above, up to the tops of the drives. */
async function findFolders(
  { api, task }: Reading,
  begin: ReadonlyMap<string, ItemAddress>,
): Promise<ReadonlyMap<string, string>> {
  const folders = new Map<string, string>();
  let waiting = [...begin.values()];
  while (waiting.length > 0 && folders.size <= foldersMax) {
    const parents = await api.parents(waiting.map((one) => toAddress(task.source, one)));
    const above = new Map<string, ItemAddress>();
    for (const [index, { id, drive }] of waiting.entries()) {
      const parent = parents[index];
      if (parent === undefined) continue;
      folders.set(id, parent);
      if (!folders.has(parent)) above.set(parent, { drive, id: parent });
    }
    waiting = [...above.values()];
  }
  return folders;
}

async function* tellGroups(reading: Reading, place: unknown): AsyncGenerator<PermissionPage, readonly string[], void> {
  let isMissing = false;
  for await (const page of readGroups(reading.groupIds, (id) => reading.api.group(id), place, reading.task.signal)) {
    // No right of Graph opens the groups of SharePoint.
    const unread = page.groups?.filter(({ id, members }) => 'unknown' in members && !id.startsWith(siteGroupPrefix)) ?? [];
    isMissing ||= unread.length > 0;
    yield page;
  }
  const isUntold = [...reading.links.values()].includes('');
  return [...(isMissing ? [groupRight] : []), ...(isUntold ? [feedRight] : [])];
}

/** What no feed tells of is read this often. */
function isDue({ services }: Reading, lastAt: string): boolean {
  return services.now().getTime() - Date.parse(lastAt) >= services.settings.PERMISSION_SYNC_MINUTES * 60_000;
}

function toProgress({ links, rootHashes, groupIds }: Reading): GraphProgress {
  return { links: Object.fromEntries(links), rootHashes: Object.fromEntries(rootHashes), groupIds: [...groupIds] };
}

function toFolders(folders: ReadonlyMap<string, string>): Pick<GraphSharingState, 'folders' | 'areFoldersTooMany'> {
  const areFoldersTooMany = folders.size > foldersMax;
  return { folders: areFoldersTooMany ? {} : Object.fromEntries(folders), areFoldersTooMany };
}

async function recheckItems(
  services: ConnectorServices,
  { source, items, signal, opens }: RecheckTask,
): Promise<ReadonlySet<string>> {
  const token = await services.tokens.open(String(source.data.oauthTokenId), source);
  const api = new GraphSharingApi(services, token, signal, 1);
  const all = await api.permissions(
    items.map(({ uniqueId, metadata }) => toAddress(source, { drive: toDrive(metadata), id: uniqueId })),
  );
  const open = new Set<string>();
  for (const [index, { uniqueId }] of items.entries()) {
    const permissions = all[index];
    if (permissions !== undefined && (await opens(permissions))) open.add(uniqueId);
  }
  return open;
}
