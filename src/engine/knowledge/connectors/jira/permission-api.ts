import type { GroupMembers } from '../../../../entities/knowledge/permissions.ts';
import { type JsonObject, membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import { isPerson, type PermissionGet, readListed } from '../atlassian/permission-requests.ts';
import { SourceError } from '../error.ts';
import { toUnknown, toUnreadable } from '../permission-reading/unknown.ts';
import { applicationPrefix, type HolderProject, type Holders, namePrefix, readHolders, rolePrefix } from './holders.ts';

type Unknown = ReturnType<typeof toUnknown>;

/** Who may open issues of Jira Cloud. Every call throws SourceError, or the signal's reason. */
export interface TrackerPermissionApi {
  project(key: string): Promise<HolderProject>;
  /** Who may browse a project. */
  browsers(key: string, project: HolderProject): Promise<Holders | Unknown>;
  /** Who may see issues of a security level. */
  level(levelId: string, project: HolderProject): Promise<Holders | Unknown>;
  members(groupId: string): Promise<GroupMembers>;
}

/** Those of reading alone: the wider scopes that Jira recommends allow to write. */
export const trackerPermissionScopes = [
  'read:permission-scheme:jira',
  'read:permission:jira',
  'read:project-role:jira',
  'read:issue-security-level:jira',
  'read:issue-security-scheme:jira',
  'read:application-role:jira',
  'read:field:jira',
  'read:group:jira',
  'read:user:jira',
];
export const groupRight =
  'read:group:jira and read:project-role:jira, with "Browse users and groups": members of groups and roles';
export const schemeRight = 'read:permission-scheme:jira, with an account that may administer the project: who may browse it';
export const levelRight = 'read:issue-security-level:jira, with an account that may administer Jira: security levels of issues';

const root = '/rest/api/3';
const pageSize = 50;

export function createTrackerPermissionApi(get: PermissionGet): TrackerPermissionApi {
  const id = encodeURIComponent;
  return {
    async project(key) {
      const project = await get(`${root}/project/${id(key)}`);
      const projectId = readString(project.id);
      if (projectId === undefined) throw new SourceError('BAD_REPLY', 'Jira answered with a project that has no id.');
      return { id: projectId, leadId: readString(membersOf(project.lead).accountId) };
    },
    async browsers(key, project) {
      try {
        const scheme = await get(`${root}/project/${id(key)}/permissionscheme`, { expand: 'permissions' });
        const grants = readListed(scheme, 'permissions', 'jira').filter(({ permission }) => permission === 'BROWSE_PROJECTS');
        return readHolders(
          grants.map(({ holder }) => membersOf(holder)),
          project,
        );
      } catch (error) {
        return toUnreadable(error, `Needed: ${schemeRight}.`);
      }
    },
    async level(levelId, project) {
      try {
        const values = await listAll(get, `${root}/issuesecurityschemes/level/member`, { levelId });
        return readHolders(
          values.map(({ holder }) => membersOf(holder)),
          project,
        );
      } catch (error) {
        return toUnreadable(error, `Needed: ${levelRight}.`);
      }
    },
    async members(groupId) {
      try {
        return await loadMembers(get, groupId);
      } catch (error) {
        return { id: groupId, members: toUnreadable(error, `Needed: ${groupRight}.`) };
      }
    },
  };
}

/** All of a list that says with each part whether it is the last. @throws SourceError BAD_REPLY for one that ends before it is whole. */
async function listAll(
  get: PermissionGet,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  for (;;) {
    const reply = await get(path, { ...query, startAt: String(all.length), maxResults: String(pageSize) });
    const values = readListed(reply, 'values', 'jira');
    all.push(...values);
    if (reply.isLast === true || (typeof reply.total === 'number' && all.length >= reply.total)) return all;
    if (values.length === 0) throw new SourceError('BAD_REPLY', 'Jira gave a part of a list.');
  }
}

async function loadMembers(get: PermissionGet, id: string): Promise<GroupMembers> {
  if (id.startsWith(rolePrefix)) return loadRole(get, id);
  if (id.startsWith(applicationPrefix)) return loadApplication(get, id);
  const query = id.startsWith(namePrefix) ? { groupname: id.slice(namePrefix.length) } : { groupId: id };
  const values = await listAll(get, `${root}/group/member`, { ...query, includeInactiveUsers: 'false' });
  const members = values.filter(isPerson).flatMap(({ accountId }) => {
    const account = readString(accountId);
    return account === undefined || account === '' ? [] : [{ kind: 'user' as const, accountId: account }];
  });
  return { id, members };
}

/** @param id  `role <project> <role>` */
async function loadRole(get: PermissionGet, id: string): Promise<GroupMembers> {
  const [, projectId = '', roleId = ''] = id.split(' ');
  const role = await get(`${root}/project/${encodeURIComponent(projectId)}/role/${encodeURIComponent(roleId)}`);
  const name = readString(role.name) ?? id;
  const members: ({ kind: 'user'; accountId: string } | { kind: 'group'; id: string })[] = [];
  for (const { actorUser, actorGroup } of readListed(role, 'actors', 'jira')) {
    const accountId = readString(membersOf(actorUser).accountId);
    const { groupId, name: groupName } = membersOf(actorGroup);
    const group = readString(groupId) ?? (readString(groupName) === undefined ? undefined : `${namePrefix}${String(groupName)}`);
    if (accountId !== undefined) members.push({ kind: 'user', accountId });
    else if (group !== undefined) members.push({ kind: 'group', id: group });
    else return { id, name, members: toUnknown('INCOMPLETE', 'Jira names a member of the role without an id.') };
  }
  return { id, name, members };
}

/** Who may use a product: the groups that it is given to. */
async function loadApplication(get: PermissionGet, id: string): Promise<GroupMembers> {
  const key = id.slice(applicationPrefix.length);
  const roles = await loadApplicationRoles(get, key);
  const groups = new Set<string>();
  for (const { groupDetails, groups: names } of roles) {
    const details = readElements(groupDetails).map(membersOf);
    for (const { groupId, name } of details) groups.add(readString(groupId) ?? `${namePrefix}${String(name)}`);
    if (details.length === 0) for (const name of readElements(names)) groups.add(`${namePrefix}${String(name)}`);
  }
  return {
    id,
    name: key === 'any' ? 'Whoever may use Jira' : key,
    members: [...groups].map((group) => ({ kind: 'group', id: group })),
  };
}

/** One product, or all: that answer is an array. */
async function loadApplicationRoles(get: PermissionGet, key: string): Promise<readonly JsonObject[]> {
  if (key !== 'any') return [await get(`${root}/applicationrole/${encodeURIComponent(key)}`)];
  const list = await get(`${root}/applicationrole`);
  if (!Array.isArray(list)) throw new SourceError('BAD_REPLY', 'Jira answered without the list that was asked for.');
  return list.map(membersOf);
}
