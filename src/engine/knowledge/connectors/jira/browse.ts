import type { Browser } from '../../connections/browser.ts';
import { openFoundSite } from '../atlassian/site.ts';
import { SourceError } from '../error.ts';
import { createTrackerApi } from './api.ts';

/** Lists projects by name. The id of an entry is the key of its project, which a source is added by. Cost: two calls. */
export const browseTracker: Browser = async (services, connection, { parent, search, cursor }, signal) => {
  if (parent !== undefined && (search ?? '').trim() === '') return { entries: [], nextCursor: null };
  const startAt = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isInteger(startAt) || startAt < 0) throw new SourceError('BAD_REPLY', 'The cursor is not one of this list.');
  const site = await openFoundSite(services, 'jira', await services.tokens.open(connection.id, connection), signal);
  const { projects, isLast } = await createTrackerApi(services, site, signal).projects(search?.trim() || undefined, startAt);
  return {
    entries: projects.map(({ key, name }) => {
      return { id: key, name, kind: 'project', hasChildren: false, canBeAdded: true, path: `${name} (${key})` };
    }),
    nextCursor: isLast ? null : String(startAt + projects.length),
  };
};
