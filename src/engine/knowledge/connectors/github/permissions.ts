import type { ItemPermissions } from '../../../../entities/knowledge/permissions.ts';
import { membersOf, readString, readStrings } from '../../../../lib/json/json.ts';
import type { Settings } from '../../../../settings.ts';
import type { ConnectorServices, SyncedSource } from '../connector.ts';
import { SourceError } from '../error.ts';
import { readGroups } from '../permission-reading/groups.ts';
import { toUnknown } from '../permission-reading/unknown.ts';
import type {
  PermissionEnd,
  PermissionItem,
  PermissionKind,
  PermissionPage,
  PermissionTask,
  RecheckTask,
} from '../permissions.ts';
import { inPath, RepoHostApi } from './api.ts';
import { createRepoPermissionApi, type RepoPermissionApi, repositoryPrefix, type SharedRepository } from './permission-api.ts';

/** Who may open files of repositories: everybody those of a public one, and those of a private one whoever may read it. */
export const githubPermissions: PermissionKind = {
  service: 'github',
  scopes: [],
  hasChangeFeed: false,
  directory: ({ repoHostAppInstallationId }) => `github ${String(repoHostAppInstallationId)}`,
  async account({ GITHUB_API_URL }: Settings, ask) {
    const { id } = membersOf(await ask(`${GITHUB_API_URL}/user`));
    if (typeof id !== 'number') throw new SourceError('BAD_REPLY', 'The repository host did not say which account it is.');
    return { accountId: String(id) };
  },
  open: (services) => ({ read: (task) => readRepositories(services, task), recheck: (task) => recheckFiles(services, task) }),
};

/** Ids of repositories with whether they are public: their files are told again only when that changes. */
type Told = Readonly<Record<string, 'public' | 'private'>>;

/**
 * A private repository is a group of its readers, so a change of them is one of the group: of the items nothing is written.
 */
async function* readRepositories(
  services: ConnectorServices,
  task: PermissionTask,
): AsyncGenerator<PermissionPage, PermissionEnd, void> {
  const { source, signal } = task;
  const names = new Map<string, string>();
  const host = await open(services, source);
  const api = createRepoPermissionApi(services, host, names, signal);
  const repositories = await loadRepositories(host, api, task);
  for (const { id, fullName } of repositories.values()) names.set(String(id), fullName);
  const before = task.isFull || readString(membersOf(task.place).after) !== undefined ? undefined : readTold(task.state);
  const told: Told = Object.fromEntries([...repositories].map(([id, { isPublic }]) => [id, isPublic ? 'public' : 'private']));
  const isAll = before === undefined || hasChanged(before, told);
  if (isAll) yield* tellItems(task, repositories, readString(membersOf(task.place).after));
  else for await (const items of task.newItems()) yield { items: toAccess(items, repositories), place: null };
  const groupIds = [...repositories.values()].filter(({ isPublic }) => !isPublic).map(({ id }) => `${repositoryPrefix}${id}`);
  for await (const page of readGroups(groupIds, api.readers, null, signal)) yield page;
  return { isFull: isAll, state: { told }, missingRights: api.missingRights() };
}

async function* tellItems(
  task: PermissionTask,
  repositories: ReadonlyMap<string, SharedRepository>,
  after: string | undefined,
): AsyncGenerator<PermissionPage, void, void> {
  for await (const items of task.items(after)) {
    yield { items: toAccess(items, repositories), place: { after: items.at(-1)?.uniqueId ?? '' } };
  }
}

function toAccess(items: readonly PermissionItem[], repositories: ReadonlyMap<string, SharedRepository>) {
  return items.map(({ uniqueId }) => ({ uniqueId, permissions: permissionsOf(repositories.get(toRepositoryId(uniqueId))) }));
}

/** Files are named by their repository and their path. */
function toRepositoryId(uniqueId: string): string {
  return uniqueId.slice(0, Math.max(0, uniqueId.indexOf(':')));
}

function permissionsOf(repository: SharedRepository | undefined): ItemPermissions {
  if (repository === undefined)
    return toUnknown('UNREADABLE', 'The repository is not there any more, or hidden from the installation of the App.');
  return { lists: [[repository.isPublic ? { kind: 'anyone' } : { kind: 'group', id: `${repositoryPrefix}${repository.id}` }]] };
}

async function loadRepositories(
  host: RepoHostApi,
  api: RepoPermissionApi,
  { source, signal }: PermissionTask,
): Promise<ReadonlyMap<string, SharedRepository>> {
  const { mode, repos } = source.data;
  const repositories = new Map<string, SharedRepository>();
  const names: string[] = [];
  if (mode === 'all')
    for await (const page of host.installationRepositories(signal)) names.push(...page.map(({ fullName }) => fullName));
  else names.push(...readStrings(repos));
  for (const name of names) {
    const repository = await api.repository(name);
    if (repository !== undefined) repositories.set(String(repository.id), repository);
  }
  return repositories;
}

function hasChanged(before: Told, told: Told): boolean {
  const ids = new Set([...Object.keys(before), ...Object.keys(told)]);
  return [...ids].some((id) => before[id] !== told[id]);
}

function readTold(state: unknown): Told | undefined {
  const { told } = membersOf(state);
  if (told === undefined) return undefined;
  const entries = Object.entries(membersOf(told)).flatMap(([id, value]) =>
    value === 'public' || value === 'private' ? [[id, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

async function open(services: ConnectorServices, source: SyncedSource): Promise<RepoHostApi> {
  return new RepoHostApi(services, await services.installations.open(Number(source.data.repoHostAppInstallationId), source));
}

/** Asks whether the person may read the repositories of the files now: a call for each repository, all at one time. */
async function recheckFiles(
  services: ConnectorServices,
  { source, items, person, signal }: RecheckTask,
): Promise<ReadonlySet<string>> {
  const host = await open(services, source);
  const ask = async (path: string) => membersOf(await services.vendors.json(host.request(path, { attempts: 1 }), signal));
  const logins = Promise.all(
    person.accountIds.map(async (id) => readString((await ask(`/user/${encodeURIComponent(id)}`)).login)),
  );
  const mayRead = async (repository: string): Promise<boolean> => {
    const [{ private: isPrivate, visibility }, names] = await Promise.all([ask(`/repos/${inPath(repository)}`), logins]);
    if (isPrivate === false && (visibility === undefined || visibility === 'public')) return true;
    const replies = await Promise.all(
      names.map(async (login, index) => {
        if (login === undefined) return false;
        const { permission, user } = await ask(
          `/repos/${inPath(repository)}/collaborators/${encodeURIComponent(login)}/permission`,
        );
        return permission !== 'none' && permission !== undefined && String(membersOf(user).id) === person.accountIds[index];
      }),
    );
    return replies.includes(true);
  };
  const byRepository = Map.groupBy(items, ({ metadata }) => readString(metadata.repository) ?? '');
  byRepository.delete('');
  const opened = new Set<string>();
  await Promise.all(
    [...byRepository].map(async ([repository, files]) => {
      // A refusal is no answer: nothing of this repository is given.
      const isOpen = await mayRead(repository).catch(() => false);
      if (isOpen) for (const { uniqueId } of files) opened.add(uniqueId);
    }),
  );
  return opened;
}
