import { membersOf, readString } from '../../../../lib/json/json.ts';
import { type AtlassianSite, openSite } from '../atlassian/site.ts';
import type { ConnectorServices, ListedItem, ListedPage, ListingEnd, ListTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import { RepeatedPageError } from '../service-client/cursor-trail.ts';
import { createTrackerApi, type Issue, type IssuePage, pageSizeMax, type TrackerApi } from './api.ts';
import { isFullDue, readState, type TrackerState } from './state.ts';

interface TrackerListing {
  readonly services: ConnectorServices;
  readonly task: ListTask;
  readonly api: TrackerApi;
  readonly site: AtlassianSite;
  readonly projectKey: string;
}

/** Where a listing is. */
interface Place {
  /** `ids` names the issues that are there; `issues` says what of them changed. A full listing has only `issues`. */
  readonly stage: 'ids' | 'issues';
  readonly token?: string;
  /** When the run began, ISO 8601: changes after it belong to the next run as well. */
  readonly begunAt: string;
  /** Changes of these days are listed; undefined: everything. */
  readonly days?: number;
  /** Jira cut one of the searches: issues that are there may be missing from them. */
  readonly isCut?: true;
}

/** Ids alone come in larger pages, as Jira offers it. They are kept for the time of one page. */
const idsPageSize = 1_000;
/** Tells whether the content changed, and what the issue is called. */
const listedFields = ['summary', 'updated', 'comment', 'parent'];
const dayMs = 86_400_000;

/**
 * Lists the issues of a project.
 *
 * A deleted issue shows up nowhere, so every run names all issues that are there, and what is missing is gone. A full listing reads the fields of all
 * of them. Between full listings, a run names the ids only, in large pages, and reads the fields of issues that were updated since the last run, of
 * new ones, and of those that are not indexed. The days overlap by one: Jira compares minutes in the time zone of the account.
 */
export async function* listTracker(services: ConnectorServices, task: ListTask): AsyncGenerator<ListedPage, ListingEnd, void> {
  const { source, signal } = task;
  const projectKey = readString(source.data.projectKey);
  if (projectKey === undefined)
    throw new SourceError('CONFIGURATION', 'The source names no project: add it again with projectKey.');
  const trackerSite = await openSite(services, 'jira', source, signal);
  const { site } = trackerSite;
  const listing = { services, task, site, projectKey, api: createTrackerApi(services, trackerSite, signal) };
  const state = readState(task.state, projectKey, site.cloudId);
  let place = readPlace(task.place) ?? firstPlace(services.now(), task.isForced ? undefined : state);
  if (place.stage === 'ids') place = yield* listIds(listing, place);
  const { isCut, begunAt, days } = yield* listIssues(listing, place);
  // The next run begins where this one did, and what it did not name stays.
  if (isCut === true) return { isComplete: false };
  const since =
    days === undefined || state === undefined ? { fullAt: begunAt, runs: 0 } : { fullAt: state.fullAt, runs: state.runs + 1 };
  const next: TrackerState = { projectKey, cloudId: site.cloudId, listedAt: begunAt, ...since };
  return { isComplete: true, state: next };
}

function firstPlace(now: Date, state: TrackerState | undefined): Place {
  const begunAt = now.toISOString();
  if (state === undefined || isFullDue(state, now)) return { stage: 'issues', begunAt };
  const days = Math.max(1, Math.ceil((now.getTime() - Date.parse(state.listedAt)) / dayMs)) + 1;
  return { stage: 'ids', begunAt, days };
}

function readPlace(value: unknown): Place | undefined {
  const { stage, token, begunAt, days, isCut } = membersOf(value);
  if ((stage !== 'ids' && stage !== 'issues') || typeof begunAt !== 'string') return undefined;
  return {
    stage,
    begunAt,
    ...(typeof token === 'string' ? { token } : {}),
    ...(typeof days === 'number' ? { days } : {}),
    ...(isCut === true ? { isCut } : {}),
  };
}

/** A search without a bound is refused. The order is one that changes of issues do not change, so that none is passed over. */
function toSearch({ projectKey }: TrackerListing, condition?: string): string {
  return `project = "${projectKey}"${condition === undefined ? '' : ` AND ${condition}`} ORDER BY key ASC`;
}

/** Names the issues that were not updated lately. New ones, and those that are not indexed, are listed whatever their age. */
async function* listIds(listing: TrackerListing, begin: Place): AsyncGenerator<ListedPage, Place, void> {
  const { task } = listing;
  const { begunAt, days = 1 } = begin;
  // Shares its last day with the changes, which are listed afterwards: an issue that changes meanwhile is in one of both.
  const jql = toSearch(listing, `updated <= -${days - 1}d`);
  let place = begin;
  for (;;) {
    task.signal.throwIfAborted();
    const page = await searchPage(listing, jql, ['id'], idsPageSize, place);
    const ids = page.issues.map(({ id }) => id);
    const existingItems = await task.known(ids);
    const isIndexedBefore = (id: string) =>
      existingItems.get(id)?.isIndexed === true && existingItems.get(id)?.changeKey !== null;
    let items: ListedItem[] = [];
    for (const id of ids.filter((one) => !isIndexedBefore(one))) {
      const issue = await issueIfThere(listing, id);
      if (issue !== undefined) items.push(listedIssue(listing, issue));
      if (items.length < pageSizeMax) continue;
      // A run that is cut off here names this page of ids again.
      yield { items, place };
      items = [];
    }
    const { nextPageToken: token } = page;
    const cut = toCutState(place, page);
    const after: Place = token === undefined ? { stage: 'issues', begunAt, days, ...cut } : { ...begin, ...cut, token };
    yield { items, unchangedIds: ids.filter(isIndexedBefore), place: after };
    if (token === undefined) return after;
    place = after;
  }
}

function toCutState({ isCut }: Place, page: IssuePage): Pick<Place, 'isCut'> {
  return isCut === true || page.isCut ? { isCut: true } : {};
}

async function issueIfThere({ api }: TrackerListing, id: string): Promise<Issue | undefined> {
  try {
    return await api.issue(id, listedFields);
  } catch (error) {
    if (error instanceof SourceError && (error.code === 'NOT_FOUND' || error.code === 'FORBIDDEN')) return undefined;
    throw error;
  }
}

async function* listIssues(listing: TrackerListing, begin: Place): AsyncGenerator<ListedPage, Place, void> {
  const { task } = listing;
  const { token: _token, ...start } = begin;
  const jql = toSearch(listing, begin.days === undefined ? undefined : `updated >= -${begin.days}d`);
  let place = begin;
  for (;;) {
    task.signal.throwIfAborted();
    const page = await searchPage(listing, jql, listedFields, pageSizeMax, place);
    const items = page.issues.map((issue) => listedIssue(listing, issue));
    if (items[0] !== undefined) task.progress(items[0].name);
    const { nextPageToken: token } = page;
    const rest = { ...start, ...toCutState(place, page) };
    place = token === undefined ? rest : { ...rest, token };
    yield { items, place };
    if (token === undefined) return place;
  }
}

/** A token of an earlier run may be too old: then the search begins anew, and items that were listed are listed again. */
async function searchPage(
  { api }: TrackerListing,
  jql: string,
  fields: readonly string[],
  maxResults: number,
  { token }: Place,
): Promise<IssuePage> {
  try {
    return await api.search({ jql, fields, maxResults, nextPageToken: token });
  } catch (error) {
    const mayBeTooOld = error instanceof SourceError && error.code === 'BAD_REPLY' && !(error instanceof RepeatedPageError);
    if (token === undefined || !mayBeTooOld) throw error;
    return api.search({ jql, fields, maxResults });
  }
}

function listedIssue({ site }: TrackerListing, { id, key, fields }: Issue): ListedItem {
  const summary = readString(fields.summary) ?? '';
  const updateTime = readString(fields.updated);
  const { total } = membersOf(fields.comment);
  return {
    uniqueId: id,
    parentUniqueId: readString(membersOf(fields.parent).id) ?? null,
    name: `${key}: ${summary}`,
    url: site.url === '' ? null : `${site.url}/browse/${encodeURIComponent(key)}`,
    // A comment that is deleted does not always count as an update.
    changeKey: updateTime === undefined ? null : `${updateTime} ${typeof total === 'number' ? total : ''}`,
    filename: `${key}.md`,
    mimeType: 'text/markdown',
    metadata: { cloudId: site.cloudId, key },
  };
}
