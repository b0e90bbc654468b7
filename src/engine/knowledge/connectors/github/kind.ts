import { installationIdMax } from '../../../../entities/knowledge/connection.ts';
import type { SourceKind } from '../kind.ts';
import { type AddFault, choiceMember, createListReader, createNumberReader } from '../members.ts';
import { githubAccount } from './account.ts';
import { browseRepoHost } from './browse.ts';
import { createRepoHost } from './github.ts';
import { githubPermissions } from './permissions.ts';

const reposMax = 500;

export const githubKind: SourceKind = {
  type: 'REPO_HOST',
  noun: 'RepoHost',
  description: 'A repository host.',
  content: 'Repositories at a repository host.',
  members: {
    mode: choiceMember(
      {
        name: 'RepoHostMode',
        description: 'Which repositories a source takes.',
        values: {
          repos: 'The named repositories.',
          all: 'All repositories that the installation can read, also future ones.',
        },
        isOfFormat: true,
      },
      { input: 'Which repositories.', setting: 'Which repositories.', isRequired: true, isEssential: true },
    ),
    repoHostAppInstallationId: {
      form: 'installation',
      read: createNumberReader(1, installationIdMax),
      graphName: 'connectionId',
      input: "An installation that is one of the caller's connections.",
      isRequired: true,
    },
    repos: {
      form: 'texts',
      read: createListReader(readRepository, reposMax),
      isSet: true,
      default: [],
      input: 'Names like `owner/repository`: 1 to 500 where `mode` is REPOS, none where it is ALL.',
      setting: 'Names like `owner/repository`; at most 500. Empty where `mode` is ALL.',
    },
  },
  check({ mode, repos }, fault) {
    const count = Array.isArray(repos) ? repos.length : 0;
    if (mode === 'repos' && count === 0) fault('repos', 'must name at least one repository where mode is repos', 'EMPTY_ARRAY');
    if (mode === 'all' && count > 0) fault('repos', 'must be empty where mode is all');
  },
  sourceName({ mode, repos }) {
    const [first, ...others] = Array.isArray(repos) ? repos : [];
    if (mode === 'all') return 'All repositories';
    return others.length === 0 ? String(first) : `${first} and ${others.length} more`;
  },
  neededSettings: ['GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY'],
  account: githubAccount,
  browse: browseRepoHost,
  permissions: githubPermissions,
  open: createRepoHost,
  route: {
    path: 'repo-host',
    summary: 'Add repository-host source',
    description: 'Repositories of an installation of the GitHub App: those that are named, or all that it sees.',
    isInContract: true,
    example: { mode: 'repos', repoHostAppInstallationId: 4_711, repos: ['example/handbook'], dataRefreshPeriod: 'DAILY' },
  },
};

function readRepository(value: unknown, fault: AddFault): void {
  const isName =
    typeof value === 'string' &&
    /^[\w.-]{1,100}(\/[\w.-]{1,100}){0,3}$/.test(value) &&
    !value.split('/').some((part) => /^\.+$/.test(part));
  if (!isName) fault('must be a name like owner/repository');
}
