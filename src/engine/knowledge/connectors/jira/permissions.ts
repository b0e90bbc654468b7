import type { AccessList, ItemAccess, ItemPermissions } from '../../../../entities/knowledge/permissions.ts';
import { inParts } from '../../../../lib/in-parts.ts';
import { membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import { identityScope, permissionCalls, readAtlassianAccount } from '../atlassian/permission-requests.ts';
import { openConnection, openSite, siteApi } from '../atlassian/site.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import { noteGroups, readGroups } from '../permission-reading/groups.ts';
import { hashJson } from '../permission-reading/pages.ts';
import { toUnknown } from '../permission-reading/unknown.ts';
import type { PermissionEnd, PermissionKind, PermissionPage, PermissionTask, RecheckTask } from '../permissions.ts';
import { createTrackerApi, type Issue, pageSizeMax, type TrackerApi } from './api.ts';
import { type HolderProject, type Holders, holdersOfIssue } from './holders.ts';
import {
  createTrackerPermissionApi,
  groupRight,
  levelRight,
  schemeRight,
  type TrackerPermissionApi,
  trackerPermissionScopes,
} from './permission-api.ts';
import {
  readPermissionPlace,
  readPermissionState,
  type TrackerPermissionPlace,
  type TrackerPermissionState,
} from './permission-state.ts';

type Rule = Holders | ReturnType<typeof toUnknown>;

/** Who may open issues: whoever may browse the project, and see the security level of the issue. */
export const jiraPermissions: PermissionKind = {
  service: 'atlassian',
  scopes: [...trackerPermissionScopes, identityScope],
  hasChangeFeed: false,
  directory: ({ oauthTokenId, cloudId }) => `jira ${readString(oauthTokenId) ?? ''} ${readString(cloudId) ?? ''}`,
  account: readAtlassianAccount,
  open: (services) => ({ read: (task) => readTracker(services, task), recheck: (task) => recheckIssues(services, task) }),
};

interface Reading {
  readonly task: PermissionTask;
  readonly api: TrackerPermissionApi;
  readonly issues: TrackerApi;
  readonly projectKey: string;
  readonly project: HolderProject;
  readonly browsers: Rule;
  readonly levels: Map<string, Rule>;
  readonly groupIds: Set<string>;
  readonly begunAt: string;
}

/**
 * Reads the rules of the project, and of its issues what the rules need. Between readings of everything, the rules are compared, and issues that changed
 * are read: a change of the security level is one of the issue.
 */
async function* readTracker(
  services: ConnectorServices,
  task: PermissionTask,
): AsyncGenerator<PermissionPage, PermissionEnd, void> {
  const place = readPermissionPlace(task.place);
  const reading = await openReading(services, task, place);
  const { browsers, projectKey } = reading;
  const state = task.isFull || place !== undefined ? undefined : readPermissionState(task.state, projectKey);
  const isSame = state !== undefined && (await haveSameRules(reading, state));
  if ('unknown' in browsers) yield* tellAll(task, browsers);
  else if (isSame) yield* readChanged(reading, state, services.now());
  else yield* readIssues(reading, '', place);
  let hasHiddenGroup = false;
  for await (const page of readGroups(reading.groupIds, reading.api.members, null, task.signal)) {
    hasHiddenGroup ||= page.groups?.some(({ members }) => 'unknown' in members) === true;
    yield page;
  }
  const hasHiddenLevel = [...reading.levels.values()].some((level) => 'unknown' in level && level.unknown.code === 'UNREADABLE');
  const missingRights = [
    ...('unknown' in browsers && browsers.unknown.code === 'UNREADABLE' ? [schemeRight] : []),
    ...(hasHiddenLevel ? [levelRight] : []),
    ...(hasHiddenGroup ? [groupRight] : []),
  ];
  return { isFull: !isSame || 'unknown' in browsers, state: toState(reading), missingRights };
}

async function openReading(
  services: ConnectorServices,
  task: PermissionTask,
  place: TrackerPermissionPlace | undefined,
): Promise<Reading> {
  const { source, signal } = task;
  const projectKey = readString(source.data.projectKey);
  if (projectKey === undefined)
    throw new SourceError('CONFIGURATION', 'The source names no project: add it again with projectKey.');
  const site = await openSite(services, 'jira', source, signal);
  const api = createTrackerPermissionApi(permissionCalls(services, 'jira', site, signal).get);
  const project = await api.project(projectKey);
  const levels = new Map<string, Rule>();
  for (const id of place?.levelIds ?? []) levels.set(id, await api.level(id, project));
  return {
    ...{ task, api, projectKey, project, levels, issues: createTrackerApi(services, site, signal) },
    browsers: await api.browsers(projectKey, project),
    groupIds: new Set(place?.groupIds),
    begunAt: place?.begunAt ?? services.now().toISOString(),
  };
}

async function haveSameRules(
  { api, browsers, levels, project, groupIds }: Reading,
  state: TrackerPermissionState,
): Promise<boolean> {
  let isSame = hashJson(browsers) === state.browsersHash;
  for (const [id, hash] of Object.entries(state.levelHashes)) {
    const level = await api.level(id, project);
    levels.set(id, level);
    isSame &&= hashJson(level) === hash;
  }
  if (isSame) for (const id of state.groupIds) groupIds.add(id);
  return isSame;
}

async function* tellAll({ items }: PermissionTask, permissions: ItemPermissions): AsyncGenerator<PermissionPage, void, void> {
  for await (const page of items()) yield { items: page.map(({ uniqueId }) => ({ uniqueId, permissions })), place: null };
}

/** The minutes overlap: Jira compares whole minutes. */
async function* readChanged(
  reading: Reading,
  state: TrackerPermissionState,
  now: Date,
): AsyncGenerator<PermissionPage, void, void> {
  const minutes = Math.max(1, Math.ceil((now.getTime() - Date.parse(state.begunAt)) / 60_000)) + 2;
  yield* readIssues(reading, ` AND updated >= -${minutes}m`);
  for await (const items of reading.task.newItems()) {
    for (const part of inParts(items, pageSizeMax)) {
      yield* readIssues(reading, ` AND id in (${part.map(({ uniqueId }) => uniqueId).join(',')})`);
    }
  }
}

async function* readIssues(
  reading: Reading,
  condition: string,
  begin?: TrackerPermissionPlace,
): AsyncGenerator<PermissionPage, void, void> {
  const { issues, task, projectKey, begunAt, groupIds, levels } = reading;
  const jql = `project = "${projectKey}"${condition} ORDER BY key ASC`;
  let nextPageToken = begin?.token;
  for (;;) {
    task.signal.throwIfAborted();
    const page = await issues.search({ jql, fields: listFields(reading), maxResults: pageSizeMax, nextPageToken });
    // What it does not name may still be there.
    if (page.isCut) throw new SourceError('BAD_REPLY', 'Jira cut the search for the issues of the project.');
    const known = new Set(levels.keys());
    await loadLevels(reading, page.issues);
    // A level may open by fields that were not asked for.
    if ([...levels.keys()].some((id) => !known.has(id) && needsMore(levels.get(id), reading, known))) continue;
    nextPageToken = page.nextPageToken;
    const items = page.issues.map((issue) => toAccess(reading, issue));
    const place: TrackerPermissionPlace | null =
      condition !== '' || nextPageToken === undefined
        ? null
        : { begunAt, token: nextPageToken, groupIds: [...groupIds], levelIds: [...levels.keys()] };
    yield { items, place };
    if (nextPageToken === undefined) return;
  }
}

/** The fields of an issue that decide who may open it. */
function listFields({ browsers, levels }: Pick<Reading, 'browsers' | 'levels'>): readonly string[] {
  const fields = new Set(['security']);
  for (const rule of [browsers, ...levels.values()]) {
    if ('unknown' in rule) continue;
    for (const name of [...rule.userFields, ...rule.groupFields]) fields.add(name);
  }
  return [...fields];
}

function needsMore(rule: Rule | undefined, { browsers, levels }: Reading, known: ReadonlySet<string>): boolean {
  if (rule === undefined || 'unknown' in rule) return false;
  const before = new Set(listFields({ browsers, levels: new Map([...levels].filter(([id]) => known.has(id))) }));
  return [...rule.userFields, ...rule.groupFields].some((name) => !before.has(name));
}

async function loadLevels({ api, levels, project }: Reading, issues: readonly Issue[]): Promise<void> {
  for (const { fields } of issues) {
    const id = readLevelId(fields.security);
    if (id !== undefined && !levels.has(id)) levels.set(id, await api.level(id, project));
  }
}

function readLevelId(security: unknown): string | undefined {
  const { id } = membersOf(security);
  return typeof id === 'number' ? String(id) : readString(id);
}

function toAccess(reading: Reading, { id: uniqueId, fields }: Issue): ItemAccess {
  const permissions = combine(reading, fields);
  noteGroups(permissions, reading.groupIds);
  return { uniqueId, permissions };
}

function combine({ browsers, levels }: Reading, fields: Issue['fields']): ItemPermissions {
  if ('unknown' in browsers) return browsers;
  const browse: AccessList = holdersOfIssue(browsers, fields);
  // Jira leaves out a field that nothing was asked of, and answers null for an issue without a level.
  if (!('security' in fields)) return toUnknown('INCOMPLETE', 'Jira did not say which security level the issue has.');
  if (fields.security === null) return { lists: [browse] };
  const level = levels.get(readLevelId(fields.security) ?? '');
  if (level === undefined) return toUnknown('INCOMPLETE', 'Jira did not say which security level the issue has.');
  return 'unknown' in level ? level : { lists: [browse, holdersOfIssue(level, fields)] };
}

function toState({ projectKey, begunAt, browsers, levels, groupIds }: Reading): TrackerPermissionState {
  const levelHashes = Object.fromEntries([...levels].map(([id, level]) => [id, hashJson(level)]));
  return { projectKey, begunAt, browsersHash: hashJson(browsers), levelHashes, groupIds: [...groupIds] };
}

/** Asks Jira itself which of the issues the person may browse: one call for each account, of which there is mostly one. */
async function recheckIssues(
  services: ConnectorServices,
  { source, items, person, signal }: RecheckTask,
): Promise<ReadonlySet<string>> {
  const cloudId = readString(items[0]?.metadata.cloudId);
  // The listing noted the site: a second is short.
  const site =
    cloudId === undefined
      ? await openSite(services, 'jira', source, signal)
      : siteApi(services, 'jira', cloudId, await openConnection(services, source));
  const { post } = permissionCalls(services, 'jira', site, signal, 1);
  const issues = items.map(({ uniqueId }) => Number(uniqueId)).filter(Number.isSafeInteger);
  const replies = await Promise.all(
    person.accountIds.map((accountId) =>
      post('/rest/api/3/permissions/check', { accountId, projectPermissions: [{ issues, permissions: ['BROWSE_PROJECTS'] }] }),
    ),
  );
  const open = new Set<string>();
  for (const reply of replies) {
    for (const grant of readElements(reply.projectPermissions).map(membersOf)) {
      if (grant.permission === 'BROWSE_PROJECTS') for (const id of readElements(grant.issues)) open.add(String(id));
    }
  }
  return open;
}
