import type { Browser } from '../../connections/browser.ts';
import { SourceError } from '../error.ts';
import { RepoHostApi, type Repository } from './api.ts';

/** The repositories of an installation, a page of the host's at a time; a search looks at all pages. */
export const browseRepoHost: Browser = async (services, { installationId, orgId, ownerUserId }, { search, cursor }, signal) => {
  if (installationId === null) throw new SourceError('CONFIGURATION', 'The connection names no installation.');
  const api = new RepoHostApi(services, await services.installations.open(installationId, { orgId, ownerUserId }));
  const words = (search ?? '').trim().toLowerCase();
  const pageNumber = readCursor(cursor);
  const repositoryList: Repository[] = [];
  let page = 0;
  let isLast = true;
  for await (const repositories of api.installationRepositories(signal)) {
    page += 1;
    if (words !== '') repositoryList.push(...repositories.filter(({ fullName }) => fullName.toLowerCase().includes(words)));
    else if (page === pageNumber) repositoryList.push(...repositories);
    // One page further shows whether there is one.
    isLast = page <= pageNumber;
    if (words === '' && page > pageNumber) break;
  }
  const entries = repositoryList
    .slice(0, entriesMax)
    .map(
      ({ fullName }) =>
        ({ id: fullName, name: fullName, kind: 'repository', hasChildren: false, canBeAdded: true, path: fullName }) as const,
    );
  return { entries, nextCursor: words !== '' || isLast ? null : String(pageNumber + 1) };
};

const entriesMax = 100;

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined || cursor === '') return 1;
  if (!/^[1-9]\d{0,3}$/.test(cursor)) throw new SourceError('BAD_REPLY', 'cursor is none of this list');
  return Number(cursor);
}
