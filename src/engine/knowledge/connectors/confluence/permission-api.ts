import type { AccessEntry, AccessList, GroupMembers } from '../../../../entities/knowledge/permissions.ts';
import { inParts } from '../../../../lib/in-parts.ts';
import { type JsonObject, membersOf, readString } from '../../../../lib/json/json.ts';
import { isPerson, type PermissionGet, readListed } from '../atlassian/permission-requests.ts';
import { readText } from '../atlassian/site.ts';
import { SourceError } from '../error.ts';
import { toUnknown, toUnreadable } from '../permission-reading/unknown.ts';
import { CursorTrail } from '../service-client/cursor-trail.ts';

type Unknown = ReturnType<typeof toUnknown>;

/** Where a page or another content lies. */
export interface ContentPlace {
  readonly spaceId: string;
  readonly parentId: string | undefined;
  /** `page`, `folder`, `whiteboard`, `database`, `embed`. */
  readonly parentType: string;
}

export const wikiPermissionScopes = [
  'read:content-details:confluence',
  'read:content.restriction:confluence',
  'read:content.permission:confluence',
  'read:space.permission:confluence',
  'read:folder:confluence',
  'read:group:confluence',
  'read:user:confluence',
];
export const groupRight = 'read:group:confluence: members of groups';
/** Access classes of spaces with roles: Confluence does not say who is in one. */
export const classPrefix = 'class ';

const pageSize = 100;
const restrictionsAtOnce = 50;
const restrictionsMax = 200;
const needed =
  'Needed: read:space.permission:confluence and read:content.restriction:confluence, with an account that sees the page.';
const v1 = '/wiki/rest/api';
const v2 = '/wiki/api/v2';

/** Who may open contents of Confluence Cloud. Every call throws SourceError, or the signal's reason. */
export class WikiPermissionApi {
  readonly #get: PermissionGet;

  constructor(get: PermissionGet) {
    this.#get = get;
  }

  /** Who may open a space. */
  async spaceAccess(spaceId: string): Promise<AccessList | Unknown> {
    try {
      const grants = await this.#listAll(`${v2}/spaces/${encodeURIComponent(spaceId)}/permissions`, { limit: '250' });
      const list: AccessEntry[] = [];
      for (const { principal, operation } of grants) {
        const { key, targetType } = membersOf(operation);
        if (key !== 'read' || targetType !== 'space') continue;
        const { type, id: principalId } = membersOf(principal);
        const owner = readString(principalId) ?? '';
        const isRole = String(type).toLowerCase() === 'role';
        list.push(...(isRole ? await this.#roleAccess(spaceId, owner) : readPrincipal(String(type), owner)));
      }
      return list;
    } catch (error) {
      return toUnreadable(error, needed);
    }
  }

  /** Where pages lie; those that are gone or hidden are left out. */
  async pagePlaces(pageIds: readonly string[]): Promise<ReadonlyMap<string, ContentPlace>> {
    const places = new Map<string, ContentPlace>();
    for (const part of inParts(pageIds, pageSize)) {
      const query = { id: part.join(','), status: 'current,archived', limit: String(pageSize), sort: 'id' };
      for (const page of await this.#listAll(`${v2}/pages`, query)) places.set(readText(page.id), readPlaceOf(page));
    }
    return places;
  }

  /** Where another content lies; undefined where it is gone or hidden. */
  async place(type: string, contentId: string): Promise<ContentPlace | undefined> {
    const noun = { folder: 'folders', whiteboard: 'whiteboards', database: 'databases', embed: 'embeds' }[type] ?? 'pages';
    try {
      return readPlaceOf(await this.#get(`${v2}/${noun}/${encodeURIComponent(contentId)}`));
    } catch (error) {
      toUnreadable(error, '');
      return undefined;
    }
  }

  /** Who may open contents by their own restrictions; `open`: they have none. Fifty with one request. */
  async restrictions(contentIds: readonly string[]): Promise<ReadonlyMap<string, AccessList | 'open' | Unknown>> {
    const all = new Map<string, AccessList | 'open' | Unknown>();
    for (const part of inParts(contentIds, restrictionsAtOnce)) {
      const numbers = part.filter((one) => /^\d+$/.test(one));
      const reply = numbers.length === 0 ? undefined : await searchRestrictions(this.#get, numbers).catch(orUnreadable);
      if (reply !== undefined && 'unknown' in reply) {
        for (const one of part) all.set(one, reply);
        continue;
      }
      for (const one of part) all.set(one, reply?.get(one) ?? (await this.#restriction(one).catch(orUnreadable)));
    }
    return all;
  }

  members(groupId: string): Promise<GroupMembers> {
    return loadMembers(this.#get, groupId);
  }

  /** All of a list of v2, in parts that are named by cursors. */
  async #listAll(path: string, query: Readonly<Record<string, string>>): Promise<readonly JsonObject[]> {
    const trail = new CursorTrail('Confluence');
    const all: JsonObject[] = [];
    let next: string | undefined;
    do {
      const reply = await this.#get(path, {
        ...query,
        ...(next === undefined ? {} : Object.fromEntries(new URLSearchParams(next))),
      });
      all.push(...readListed(reply, 'results', 'confluence'));
      next = trail.follow(path, next, readQuery(membersOf(reply._links).next));
    } while (next !== undefined);
    return all;
  }

  /** Who has a role in a space. */
  async #roleAccess(spaceId: string, roleId: string): Promise<readonly AccessEntry[]> {
    const path = `${v2}/spaces/${encodeURIComponent(spaceId)}/role-assignments`;
    const assignments = await this.#listAll(path, { 'role-id': roleId, limit: '250' });
    return assignments.flatMap(({ principal }): readonly AccessEntry[] => {
      const { principalType, principalId } = membersOf(principal);
      return readPrincipal(String(principalType), readString(principalId));
    });
  }

  /** The paged form, for contents that a search does not name, and for lists that a search cut. */
  async #restriction(contentId: string): Promise<AccessList | 'open' | Unknown> {
    let list: readonly AccessEntry[] = [];
    const path = `${v1}/content/${encodeURIComponent(contentId)}/restriction/byOperation/read`;
    for (let start = 0; ; ) {
      const query = { expand: 'restrictions.user,restrictions.group', start: String(start), limit: String(restrictionsMax) };
      const part = readRestrictions(membersOf(await this.#get(path, query)).restrictions);
      if ('unknown' in part) return part;
      list = [...list, ...part.list];
      if (!part.isCut) return list.length === 0 ? 'open' : list;
      start += part.limit;
    }
  }
}

function orUnreadable(error: unknown): Unknown {
  return toUnreadable(error, needed);
}

/** The restrictions of contents by one search. What it cuts, or does not name, is left out. */
async function searchRestrictions(
  get: PermissionGet,
  contentIds: readonly string[],
): Promise<ReadonlyMap<string, AccessList | 'open' | Unknown>> {
  const reply = await get(`${v1}/content/search`, {
    cql: `id in (${contentIds.join(',')})`,
    expand: 'restrictions.read.restrictions.user,restrictions.read.restrictions.group',
    limit: String(contentIds.length),
  });
  const told = new Map<string, AccessList | 'open' | Unknown>();
  for (const content of readListed(reply, 'results', 'confluence')) {
    const part = readRestrictions(membersOf(membersOf(content.restrictions).read).restrictions);
    if ('unknown' in part) told.set(readText(content.id), part);
    else if (!part.isCut) told.set(readText(content.id), part.list.length === 0 ? 'open' : part.list);
  }
  return told;
}

/** @returns the entries of a page of at most `limit` persons and as many groups; `isCut`: there may be more. @throws SourceError BAD_REPLY where one of the lists is missing. */
function readRestrictions(
  restrictions: unknown,
): { readonly list: AccessList; readonly limit: number; readonly isCut: boolean } | Unknown {
  const { user, group } = membersOf(restrictions);
  const users = readListed(membersOf(user), 'results', 'confluence');
  const groups = readListed(membersOf(group), 'results', 'confluence');
  const list: AccessEntry[] = [];
  for (const { accountId } of users) {
    const account = readString(accountId);
    // Only whose id is hidden is left out: fewer may open the page.
    if (account !== undefined && account !== '') list.push({ kind: 'user', accountId: account });
  }
  for (const { id } of groups) {
    const groupId = readString(id);
    if (groupId !== undefined && groupId !== '') list.push({ kind: 'group', id: groupId });
  }
  const isEmptied = list.length === 0 && users.length + groups.length > 0;
  if (isEmptied) return toUnknown('INCOMPLETE', 'The page is restricted to somebody whom Confluence does not name by an id.');
  const limits = [user, group].flatMap((part) => {
    const { limit: said } = membersOf(part);
    return typeof said === 'number' && said > 0 ? [said] : [];
  });
  const limit = Math.min(restrictionsMax, ...limits);
  return { list, limit, isCut: users.length >= limit || groups.length >= limit };
}

/** Somebody who has a right in a space. */
function readPrincipal(type: string, principalId: string | undefined): readonly AccessEntry[] {
  if (principalId === undefined || principalId === '') return [];
  switch (type.toLowerCase()) {
    case 'user':
      return [{ kind: 'user', accountId: principalId }];
    case 'group':
      return [{ kind: 'group', id: principalId }];
    default:
      // Classes such as `anonymous-users` and `all-licensed-users`.
      return principalId === 'anonymous-users' ? [{ kind: 'anyone' }] : [{ kind: 'group', id: `${classPrefix}${principalId}` }];
  }
}

async function loadMembers(get: PermissionGet, groupId: string): Promise<GroupMembers> {
  if (groupId.startsWith(classPrefix)) {
    const name = groupId.slice(classPrefix.length);
    const message = `Confluence does not say who is in the class "${name}". Give the role to a group, and share with that.`;
    return { id: groupId, name, members: toUnknown('INEXPRESSIBLE', message) };
  }
  const limit = 200;
  const members: { kind: 'user'; accountId: string }[] = [];
  try {
    for (let start = 0; ; start += limit) {
      const path = `${v1}/group/${encodeURIComponent(groupId)}/membersByGroupId`;
      const reply = await get(path, { start: String(start), limit: String(limit) });
      const results = readListed(reply, 'results', 'confluence');
      for (const one of results) {
        const accountId = readString(one.accountId);
        if (accountId !== undefined && accountId !== '' && isPerson(one)) members.push({ kind: 'user', accountId });
      }
      const hasNext = readString(membersOf(reply._links).next) !== undefined;
      if (!hasNext && results.length < limit) return { id: groupId, members };
      if (results.length === 0) throw new SourceError('BAD_REPLY', 'Confluence gave a part of the members of a group.');
      if (results.length < limit) start += results.length - limit;
    }
  } catch (error) {
    return { id: groupId, members: toUnreadable(error, `Needed: ${groupRight}.`) };
  }
}

function readPlaceOf({ spaceId, parentId, parentType }: JsonObject): ContentPlace {
  const parent = readText(parentId);
  return {
    spaceId: readText(spaceId),
    parentId: parent === '' ? undefined : parent,
    parentType: readString(parentType) ?? 'page',
  };
}

function readQuery(link: unknown): string | undefined {
  const address = readString(link);
  return address === undefined || !address.includes('?') ? undefined : address.slice(address.indexOf('?') + 1);
}
