import { type JsonObject, membersOf, readElements, readString, readStrings } from '../../../../lib/json/json.ts';
import type { SiteApi } from '../atlassian/site.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import { CursorTrail } from '../service-client/cursor-trail.ts';

export interface Issue {
  readonly id: string;
  /** Such as `HELP-12`. */
  readonly key: string;
  /** Those that were asked for. */
  readonly fields: JsonObject;
}

export interface IssuePage {
  readonly issues: readonly Issue[];
  readonly nextPageToken: string | undefined;
  /** Jira warns about the search, or gives no next page of one that is not done: issues that are there may be missing. */
  readonly isCut: boolean;
}

export interface IssueQuery {
  readonly jql: string;
  readonly fields: readonly string[];
  readonly maxResults: number;
  readonly nextPageToken?: string | undefined;
}

export interface Comment {
  readonly author: string;
  readonly created: string;
  /** In the Atlassian Document Format. */
  readonly body: unknown;
}

export interface Project {
  readonly id: string;
  readonly key: string;
  readonly name: string;
}

/** Jira Cloud, REST v3. Every call throws SourceError, or the signal's reason. */
export interface TrackerApi {
  search(query: IssueQuery): Promise<IssuePage>;
  issue(id: string, fields: readonly string[]): Promise<Issue>;
  /** At most 100 comments, oldest first. */
  comments(issueId: string, startAt: number): Promise<{ readonly comments: readonly Comment[]; readonly total: number }>;
  projects(
    query: string | undefined,
    startAt: number,
  ): Promise<{ readonly projects: readonly Project[]; readonly isLast: boolean }>;
}

export const pageSizeMax = 100;
const root = '/rest/api/3';

export function createTrackerApi(
  { vendors }: Pick<ConnectorServices, 'vendors'>,
  site: SiteApi,
  signal: AbortSignal,
): TrackerApi {
  const get = async (path: string, query: Readonly<Record<string, string | undefined>>) =>
    membersOf(await vendors.json(site.request(root + path, query), signal));
  const trail = new CursorTrail('Jira');
  return {
    async search({ jql, fields, maxResults, nextPageToken }) {
      const body = { jql, fields, maxResults, ...(nextPageToken === undefined ? {} : { nextPageToken }) };
      const request = { ...site.request(`${root}/search/jql`), body, accept: [400] };
      const { status, body: bytes } = await vendors.send(request, signal);
      const reply = membersOf(parsed(bytes));
      if (status === 400) throw refusedQuery(reply);
      // It says neither how many issues there are nor always whether it is done: a page without a token is the last one, and where Jira says that
      // it is not, the search was cut.
      const issues = readList(reply.issues).map(readIssue);
      const next = trail.follow(jql, nextPageToken, readString(reply.nextPageToken));
      const isCut = readElements(reply.warningMessages).length > 0 || (reply.isLast === false && next === undefined);
      return { issues, isCut, nextPageToken: next };
    },
    issue: async (id, fields) => readIssue(await get(`/issue/${encodeURIComponent(id)}`, { fields: fields.join(',') })),
    async comments(issueId, startAt) {
      const query = { startAt: String(startAt), maxResults: String(pageSizeMax), orderBy: 'created' };
      const reply = await get(`/issue/${encodeURIComponent(issueId)}/comment`, query);
      const comments = readList(reply.comments).map((value) => {
        const { author, created, body } = membersOf(value);
        return { author: readString(membersOf(author).displayName) ?? '', created: readString(created) ?? '', body };
      });
      return { comments, total: typeof reply.total === 'number' ? reply.total : startAt + comments.length };
    },
    async projects(query, startAt) {
      const reply = await get('/project/search', {
        query,
        startAt: String(startAt),
        maxResults: String(pageSizeMax),
        orderBy: 'name',
      });
      const projects = readList(reply.values).map((value) => {
        const { id, key, name } = membersOf(value);
        return { id: readString(id) ?? '', key: readString(key) ?? '', name: readString(name) ?? '' };
      });
      return { projects, isLast: reply.isLast !== false || projects.length === 0 };
    },
  };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new SourceError('BAD_REPLY', 'Jira answered with something that is no JSON.');
  }
}

/** Jira answers a search in a project that is gone or hidden as one that is written wrongly. */
function refusedQuery({ errorMessages }: JsonObject): SourceError {
  const refusalTexts = readStrings(errorMessages);
  if (refusalTexts.some((message) => /does not exist|no permission|not found/i.test(message))) {
    return new SourceError(
      'NOT_FOUND',
      'Jira has no project with this key, or hides it from the connected account. Let that account browse it, or remove this source.',
    );
  }
  return new SourceError('BAD_REPLY', 'Jira refused the search for the issues of the project.');
}

/** A list without its member is a reply that was cut, and never an empty project. */
function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new SourceError('BAD_REPLY', 'Jira answered without the list that was asked for.');
  return value;
}

function readIssue(value: unknown): Issue {
  const { id, key, fields } = membersOf(value);
  const ownId = readString(id);
  if (ownId === undefined) throw new SourceError('BAD_REPLY', 'Jira listed an issue without its id.');
  return { id: ownId, key: readString(key) ?? ownId, fields: membersOf(fields) };
}
