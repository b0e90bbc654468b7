import type { GroupMembers } from '../../../../entities/knowledge/permissions.ts';
import { type JsonObject, membersOf, readString } from '../../../../lib/json/json.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import { isRefused, toUnreadable } from '../permission-reading/unknown.ts';
import { inPath, type RepoHostApi } from './api.ts';

type Member = Extract<GroupMembers['members'], readonly unknown[]>[number];

/** Who may read a repository. */
export interface SharedRepository {
  readonly id: number;
  readonly fullName: string;
  /** Everybody may read it, also without an account. */
  readonly isPublic: boolean;
}

/** Who may read repositories, and who is in teams. Every call throws SourceError, or the signal's reason. */
export interface RepoPermissionApi {
  /** Undefined: it is not there, or hidden from the installation. */
  repository(fullName: string): Promise<SharedRepository | undefined>;
  /** Everybody who may read a private repository: by name, by a team, by the organization. */
  readers(groupId: string): Promise<GroupMembers>;
  /** What the installation lacks, as far as it came up. */
  missingRights(): readonly string[];
}

export const repositoryPrefix = 'repository ';
const teamPrefix = 'team ';
export const metadataRight = 'Metadata: read (the App): collaborators of repositories';
const teamsRight = 'Members: read (the App), of the organization: teams of repositories';

const perPage = 100;
/** Lists with more pages are no lists of people. */
const pagesMax = 500;

/** @param names  names of repositories by their ids. */
export function createRepoPermissionApi(
  { vendors }: Pick<ConnectorServices, 'vendors'>,
  api: RepoHostApi,
  names: ReadonlyMap<string, string>,
  signal: AbortSignal,
): RepoPermissionApi {
  const missing = new Set<string>();
  const get = (path: string) => vendors.json(api.request(path), signal);

  const listAll = async (path: string): Promise<readonly JsonObject[]> => {
    const byId = new Map<unknown, JsonObject>();
    for (let page = 1; page <= pagesMax; page += 1) {
      const reply = await get(`${path}${path.includes('?') ? '&' : '?'}per_page=${perPage}&page=${page}`);
      // Pages are numbered: one that is cut says nothing of the rest.
      if (!Array.isArray(reply))
        throw new SourceError('BAD_REPLY', 'The repository host answered without the list that was asked for.');
      for (const one of reply.map(membersOf)) byId.set(one.id, one);
      if (reply.length < perPage) return [...byId.values()];
    }
    throw new SourceError('BAD_REPLY', 'The repository host names more people than can be read.');
  };

  const loadTeams = async (fullName: string): Promise<readonly Member[]> => {
    try {
      const teams = await listAll(`/repos/${inPath(fullName)}/teams`);
      return teams.filter(mayPull).flatMap(({ id, organization_id: owner }) => {
        return typeof id === 'number' ? [{ kind: 'group' as const, id: `${teamPrefix}${id} ${String(owner ?? '')}`.trim() }] : [];
      });
    } catch (error) {
      // Collaborators are told with those of the teams: without this right, members who hide that they are members may be missing.
      if (!isRefused(error)) throw error;
      missing.add(teamsRight);
      return [];
    }
  };

  const loadTeam = async (groupId: string): Promise<GroupMembers> => {
    const [, teamId = '', organizationId = ''] = groupId.split(' ');
    const path = organizationId === '' ? `/teams/${teamId}/members` : `/organizations/${organizationId}/team/${teamId}/members`;
    try {
      return { id: groupId, members: (await listAll(path)).flatMap(readMember) };
    } catch (error) {
      missing.add(teamsRight);
      return { id: groupId, members: toUnreadable(error, `Needed: ${teamsRight}.`) };
    }
  };

  return {
    async repository(fullName) {
      try {
        return readSharedRepository(await get(`/repos/${inPath(fullName)}`));
      } catch (error) {
        if (isRefused(error)) return undefined;
        throw error;
      }
    },
    async readers(groupId) {
      if (groupId.startsWith(teamPrefix)) return loadTeam(groupId);
      const name = names.get(groupId.slice(repositoryPrefix.length)) ?? '';
      try {
        const people = await listAll(`/repos/${inPath(name)}/collaborators?affiliation=all`);
        return { id: groupId, name, members: [...people.filter(mayPull).flatMap(readMember), ...(await loadTeams(name))] };
      } catch (error) {
        missing.add(metadataRight);
        return { id: groupId, name, members: toUnreadable(error, `Needed: ${metadataRight}.`) };
      }
    },
    missingRights: () => [...missing],
  };
}

export function readSharedRepository(value: unknown): SharedRepository {
  const { id, full_name: fullName, private: isPrivate, visibility } = membersOf(value);
  if (typeof id !== 'number' || typeof fullName !== 'string')
    throw new SourceError('BAD_REPLY', 'The repository host named a repository without an id.');
  // A repository is public where the host says so twice.
  return { id, fullName, isPublic: isPrivate === false && (visibility === undefined || visibility === 'public') };
}

function mayPull({ permissions, permission }: JsonObject): boolean {
  return membersOf(permissions).pull === true || (permissions === undefined && readString(permission) !== undefined);
}

/** People are known by their ids alone: addresses are hidden, and names can be taken over. */
function readMember({ id }: JsonObject): readonly Member[] {
  return typeof id === 'number' ? [{ kind: 'user', accountId: String(id) }] : [];
}
