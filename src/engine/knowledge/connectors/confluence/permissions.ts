import type { AccessList, ItemAccess, ItemPermissions } from '../../../../entities/knowledge/permissions.ts';
import { inParts } from '../../../../lib/in-parts.ts';
import { membersOf, readString, readStrings } from '../../../../lib/json/json.ts';
import { identityScope, permissionCalls, readAtlassianAccount } from '../atlassian/permission-requests.ts';
import { openConnection, openSite, siteApi } from '../atlassian/site.ts';
import type { ConnectorServices } from '../connector.ts';
import { noteGroups, readGroups } from '../permission-reading/groups.ts';
import { isRefused, toUnknown } from '../permission-reading/unknown.ts';
import type {
  PermissionEnd,
  PermissionItem,
  PermissionKind,
  PermissionPage,
  PermissionTask,
  RecheckTask,
} from '../permissions.ts';
import { type ContentPlace, classPrefix, groupRight, WikiPermissionApi, wikiPermissionScopes } from './permission-api.ts';

type Rule = AccessList | ReturnType<typeof toUnknown>;

/** Pages lie in pages no deeper than this. */
const depthMax = 200;
const itemsAtOnce = 100;

/** Who may open pages: whoever may open the space, and the page, and each page and folder above it. */
export const confluencePermissions: PermissionKind = {
  service: 'atlassian',
  scopes: [...wikiPermissionScopes, identityScope],
  hasChangeFeed: false,
  directory: ({ oauthTokenId, cloudId }) => `confluence ${readString(oauthTokenId) ?? ''} ${readString(cloudId) ?? ''}`,
  account: readAtlassianAccount,
  open: (services) => ({ read: (task) => readWiki(services, task), recheck: (task) => recheckPages(services, task) }),
};

interface Reading {
  readonly api: WikiPermissionApi;
  readonly places: Map<string, ContentPlace | undefined>;
  readonly rules: Map<string, AccessList | 'open' | ReturnType<typeof toUnknown>>;
  readonly spaces: Map<string, Rule>;
  readonly groupIds: Set<string>;
  hasMissingRight: boolean;
}

/** Confluence has no feed of changes: all is read each time, a hundred pages with three requests. */
async function* readWiki(services: ConnectorServices, task: PermissionTask): AsyncGenerator<PermissionPage, PermissionEnd, void> {
  const site = await openSite(services, 'confluence', task.source, task.signal);
  const { after, groupIds } = membersOf(task.place);
  const reading: Reading = {
    api: new WikiPermissionApi(permissionCalls(services, 'confluence', site, task.signal).get),
    ...{ places: new Map(), rules: new Map(), spaces: new Map(), hasMissingRight: false },
    groupIds: new Set(readStrings(groupIds)),
  };
  let place = readString(after) === undefined ? null : task.place;
  for await (const page of task.items(readString(after))) {
    for (const part of inParts(page, itemsAtOnce)) {
      task.signal.throwIfAborted();
      const items = await tellItems(reading, part);
      place = { after: part.at(-1)?.uniqueId ?? '', groupIds: [...reading.groupIds] };
      yield { items, place };
    }
  }
  for await (const groupPage of readGroups(reading.groupIds, (id) => reading.api.members(id), place, task.signal)) {
    reading.hasMissingRight ||=
      groupPage.groups?.some(({ id, members }) => 'unknown' in members && !id.startsWith(classPrefix)) === true;
    yield groupPage;
  }
  return { isFull: true, missingRights: reading.hasMissingRight ? [groupRight] : [] };
}

async function tellItems(reading: Reading, items: readonly PermissionItem[]): Promise<readonly ItemAccess[]> {
  const pageIds = items.flatMap((item) => toPageId(item) ?? []);
  await loadPlaces(reading, pageIds);
  await loadRules(reading, pageIds);
  const told: ItemAccess[] = [];
  for (const item of items) {
    const pageId = toPageId(item);
    const permissions = pageId === undefined ? linkedFile : await combine(reading, pageId);
    noteGroups(permissions, reading.groupIds);
    told.push({ uniqueId: item.uniqueId, permissions });
  }
  return told;
}

const linkedFile = toUnknown(
  'INEXPRESSIBLE',
  'It is a file of Google Drive that a page links to: who may open it is known there. Add it as a source of Google Drive.',
);

/** The page that an item is, or is attached to; undefined for a linked file of a drive. */
function toPageId({ uniqueId, metadata }: PermissionItem): string | undefined {
  return readString(metadata.driveFileId) === undefined ? (readString(metadata.attachedTo) ?? uniqueId) : undefined;
}

/** Where pages lie now, and all above them: a page that was moved below a restricted one is restricted too. */
async function loadPlaces({ api, places }: Reading, pageIds: readonly string[]): Promise<void> {
  let waiting: readonly (readonly [id: string, type: string])[] = pageIds.map((id) => [id, 'page'] as const);
  for (let depth = 0; waiting.length > 0 && depth < depthMax; depth += 1) {
    const unseen = [...new Map(waiting)].filter(([id]) => !places.has(id));
    const pages = unseen.filter(([, type]) => type === 'page').map(([id]) => id);
    const pagePlaces = pages.length === 0 ? new Map<string, ContentPlace>() : await api.pagePlaces(pages);
    for (const id of pages) places.set(id, pagePlaces.get(id));
    for (const [id, type] of unseen) if (type !== 'page') places.set(id, await api.place(type, id));
    waiting = unseen.flatMap(([id]) => {
      const place = places.get(id);
      return place?.parentId === undefined ? [] : [[place.parentId, place.parentType] as const];
    });
  }
}

async function loadRules({ api, places, rules }: Reading, pageIds: readonly string[]): Promise<void> {
  const unseen = new Set(pageIds.flatMap((id) => chainOf(places, id) ?? []).filter((id) => !rules.has(id)));
  if (unseen.size > 0) for (const [id, rule] of await api.restrictions([...unseen])) rules.set(id, rule);
}

/** A page and what is above it; undefined where a part of that is hidden. */
function chainOf(places: Reading['places'], pageId: string): readonly string[] | undefined {
  const chain: string[] = [];
  for (let id: string | undefined = pageId; id !== undefined; ) {
    const place = places.get(id);
    if (place === undefined || chain.includes(id) || chain.length > depthMax) return undefined;
    chain.push(id);
    id = place.parentId;
  }
  return chain;
}

async function combine({ api, places, rules, spaces }: Reading, pageId: string): Promise<ItemPermissions> {
  const chain = chainOf(places, pageId);
  const spaceId = places.get(pageId)?.spaceId;
  if (chain === undefined || spaceId === undefined || spaceId === '')
    return toUnknown('INCOMPLETE', 'Confluence does not show the page, or something above it, to the connected account.');
  const space = spaces.get(spaceId) ?? (await api.spaceAccess(spaceId));
  spaces.set(spaceId, space);
  if ('unknown' in space) return space;
  const lists = new Map<string, AccessList>();
  for (const id of chain) {
    const rule = rules.get(id) ?? toUnknown('UNREPORTED', 'Confluence did not say how the page is restricted.');
    if (rule === 'open') continue;
    if ('unknown' in rule) return rule;
    lists.set(JSON.stringify(rule), rule);
  }
  return { lists: [space, ...lists.values()] };
}

/** Asks Confluence itself whether the person may read the pages, all at one time. */
async function recheckPages(
  services: ConnectorServices,
  { source, items, person, signal }: RecheckTask,
): Promise<ReadonlySet<string>> {
  const cloudId = readString(items[0]?.metadata.cloudId);
  // The listing noted the site: a second is short.
  const site =
    cloudId === undefined
      ? await openSite(services, 'confluence', source, signal)
      : siteApi(services, 'confluence', cloudId, await openConnection(services, source));
  const { post } = permissionCalls(services, 'confluence', site, signal, 1);
  const mayRead = async (pageId: string): Promise<boolean> => {
    const asked = person.accountIds.map(async (identifier) => {
      const body = { subject: { type: 'user', identifier }, operation: 'read' };
      return (await post(`/wiki/rest/api/content/${encodeURIComponent(pageId)}/permission/check`, body)).hasPermission === true;
    });
    return (await Promise.all(asked)).includes(true);
  };
  const byPage = Map.groupBy(items, (item) => toPageId(item) ?? '');
  byPage.delete('');
  const open = new Set<string>();
  await Promise.all(
    [...byPage].map(async ([pageId, ofPage]) => {
      const isOpen = await mayRead(pageId).catch((error: unknown) => {
        if (isRefused(error)) return false;
        throw error;
      });
      if (isOpen) for (const { uniqueId } of ofPage) open.add(uniqueId);
    }),
  );
  return open;
}
