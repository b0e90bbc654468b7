import type { z } from 'zod';
import { readSourceData } from '../../engine/knowledge/source-data.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import type { OauthProvider } from '../../entities/knowledge/connection.ts';
import {
  type ConnectedType,
  crawlBounds,
  type DataSource,
  type RefreshPeriod,
  type WebUrlFileType,
} from '../../entities/knowledge/data-source.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { repoHostSourceBody } from '../../wire/data-sources.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../ground/faults.ts';
import { addConnectedSources } from './connected-sources.ts';
import { readServiceUrl } from './connection-input.ts';
import { findOwnInstallation, listConnections, requireOwnInstallation, requireOwnToken } from './connections.ts';
import { type ReadWith, requireSite } from './sites.ts';
import { editableAgent } from './sources.ts';

type Optional<T> = T | null | undefined;

const textLengthMax = 500;
const filesMax = 100;

export interface AddWebUrlInput {
  readonly url: string;
  readonly dataRefreshPeriod: RefreshPeriod;
  readonly includeFiles: boolean;
  readonly includedFileTypes: readonly WebUrlFileType[];
  readonly includeUrlGlobs?: Optional<readonly string[]>;
  readonly excludeUrlGlobs?: Optional<readonly string[]>;
  readonly maxPages?: Optional<number>;
  readonly maxMemory?: Optional<number>;
  readonly timeout?: Optional<number>;
}

/**
 * Adds a web site to an agent. A source of this and the other kinds keeps its configuration, with defaults, in `data`, for its connector.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for an agent the caller may not edit; with every fault of the input.
 */
export async function addWebUrlSource(deps: Deps, caller: Caller, agentId: string, input: AddWebUrlInput): Promise<DataSource> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const url = readServiceUrl('url', input.url, faults);
  const { includeFiles, includedFileTypes, includeUrlGlobs, excludeUrlGlobs } = input;
  const data = {
    ...{ url: url ?? input.url, includeFiles, includedFileTypes: [...new Set(includedFileTypes)] },
    ...{ includeUrlGlobs: includeUrlGlobs ?? [], excludeUrlGlobs: excludeUrlGlobs ?? [] },
    maxPages: input.maxPages ?? crawlBounds.maxPages.default,
    maxMemory: input.maxMemory ?? crawlBounds.maxMemory.default,
    timeout: input.timeout ?? crawlBounds.timeout.default,
  };
  if (url !== null) checkSourceData('WEB_URL', data, faults);
  faults.throwIfAny();
  return addOne(deps, caller, agent, 'WEB_URL', { name: siteName(data.url), refreshPeriod: input.dataRefreshPeriod, data });
}

export interface AddDriveAInput {
  readonly oauthTokenId?: Optional<string>;
  readonly files: readonly { readonly id: string; readonly name: string }[];
  readonly dataRefreshPeriod?: Optional<RefreshPeriod>;
}

/** Adds files of drive A, one source for each. Default: the caller's newest token. @throws like `addWebUrlSource`. */
export async function addDriveASources(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: AddDriveAInput,
): Promise<readonly DataSource[]> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const { files } = input;
  const oauthTokenId = input.oauthTokenId ?? (await newestToken(deps, caller, 'DRIVE_A', faults));
  if (files.length === 0) faults.add('files', 'files must hold at least one file', 'EMPTY_ARRAY');
  faults.requireCount('files', files, filesMax);
  for (const [index, { id, name }] of files.slice(0, filesMax).entries()) {
    faults.requireName(`files[${index}].id`, id, textLengthMax);
    faults.requireName(`files[${index}].name`, name, textLengthMax);
  }
  if (oauthTokenId !== undefined) await requireOwnToken(deps, caller, oauthTokenId, 'DRIVE_A', 'oauthTokenId', faults);
  faults.throwIfAny();
  const refreshPeriod = input.dataRefreshPeriod ?? 'NEVER';
  const sources = files.map(({ id, name }) => ({ name, refreshPeriod, data: { oauthTokenId, fileId: id, filename: name } }));
  return addConnectedSources(deps, caller, agent, 'DRIVE_A', sources);
}

export interface AddDriveBInput {
  readonly oauthTokenId: string;
  readonly fileId: string;
  readonly filename: string;
  readonly driveId?: Optional<string>;
  readonly dataRefreshPeriod?: Optional<RefreshPeriod>;
}

/** Adds a file or a folder of drive B: of the account's own drive, or of the one that `driveId` names. @throws like `addWebUrlSource`. */
export async function addDriveBSource(deps: Deps, caller: Caller, agentId: string, input: AddDriveBInput): Promise<DataSource> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const { oauthTokenId, fileId, filename } = input;
  const driveId = input.driveId ?? undefined;
  const data = { oauthTokenId, fileId, filename, ...(driveId === undefined ? {} : { driveId }) };
  checkSourceData('DRIVE_B', data, faults);
  await requireOwnToken(deps, caller, oauthTokenId, 'DRIVE_B', 'oauthTokenId', faults);
  faults.throwIfAny();
  const refreshPeriod = input.dataRefreshPeriod ?? 'NEVER';
  return addOne(deps, caller, agent, 'DRIVE_B', { name: filename, refreshPeriod, data });
}

const wikiTexts = ['pageId', 'contentType', 'spaceId', 'selectedDriveAccount', 'cloudId'] as const;
const wikiFlags = ['indexChildPages', 'indexDriveFiles', 'indexAttachments', 'archive', 'allSpaces'] as const;

export type AddWikiInput = {
  readonly oauthTokenId: string;
  readonly pageName: string;
  readonly dataRefreshPeriod?: Optional<RefreshPeriod>;
} & { readonly [Name in (typeof wikiTexts)[number]]?: Optional<string> } & {
  readonly [Name in (typeof wikiFlags)[number]]?: Optional<boolean>;
};

/** Adds a wiki, or a part of it. @throws like `addWebUrlSource`. */
export async function addWikiSource(deps: Deps, caller: Caller, agentId: string, input: AddWikiInput): Promise<DataSource> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const { oauthTokenId, pageName } = input;
  const texts: Record<string, string> = {};
  for (const name of wikiTexts) {
    const text = input[name];
    if (text !== undefined && text !== null) texts[name] = text;
  }
  const flags = Object.fromEntries(wikiFlags.map((name) => [name, input[name] ?? false]));
  const own = { oauthTokenId, pageName, ...texts };
  checkSourceData('WIKI', { ...own, ...flags }, faults);
  await requireOwnToken(deps, caller, oauthTokenId, 'WIKI', 'oauthTokenId', faults);
  // An account is named by the provider's text, or by a connection id: then the connection must be the caller's.
  if (texts.selectedDriveAccount?.startsWith('oat_') === true) {
    await requireOwnToken(deps, caller, texts.selectedDriveAccount, 'DRIVE_A', 'selectedDriveAccount', faults);
  }
  faults.throwIfAny();
  const refreshPeriod = input.dataRefreshPeriod ?? 'NEVER';
  const site = await siteData(deps, caller, { type: 'WIKI', oauthTokenId, cloudId: texts.cloudId });
  const data = { ...own, ...site, ...flags };
  return addOne(deps, caller, agent, 'WIKI', { name: pageName, refreshPeriod, data });
}

export interface AddTrackerInput {
  readonly oauthTokenId: string;
  readonly projectName: string;
  readonly projectKey: string;
  readonly cloudId?: Optional<string>;
  readonly dataRefreshPeriod?: Optional<RefreshPeriod>;
}

/** Adds a project of an issue tracker. @throws like `addWebUrlSource`. */
export async function addTrackerSource(deps: Deps, caller: Caller, agentId: string, input: AddTrackerInput): Promise<DataSource> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const { oauthTokenId, projectName, projectKey } = input;
  const cloudId = input.cloudId ?? undefined;
  const own = { oauthTokenId, projectName, projectKey };
  checkSourceData('TRACKER', { ...own, cloudId }, faults);
  await requireOwnToken(deps, caller, oauthTokenId, 'TRACKER', 'oauthTokenId', faults);
  faults.throwIfAny();
  const refreshPeriod = input.dataRefreshPeriod ?? 'NEVER';
  const site = await siteData(deps, caller, { type: 'TRACKER', oauthTokenId, cloudId });
  const data = { ...own, ...site };
  return addOne(deps, caller, agent, 'TRACKER', { name: projectName, refreshPeriod, data });
}

export type AddRepoHostInput = Omit<z.output<typeof repoHostSourceBody>, 'repoHostAppInstallationId'> & {
  /** Its number at the host, or the id of the connection. */
  readonly repoHostAppInstallationId: number | string;
};

/** Adds repositories of an installation: the named ones, or all. @throws like `addWebUrlSource`. */
export async function addRepoHostSource(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: AddRepoHostInput,
): Promise<DataSource> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const { mode } = input;
  const installationInput = input.repoHostAppInstallationId;
  const repoHostAppInstallationId =
    typeof installationInput === 'number'
      ? installationInput
      : await findOwnInstallation(deps, caller, installationInput, 'repoHostAppInstallationId', faults);
  const repos = [...new Set(input.repos ?? [])];
  if (mode === 'repos' && repos.length === 0) {
    faults.add('repos', 'repos must name at least one repository where mode is repos', 'EMPTY_ARRAY');
  }
  if (mode === 'all' && repos.length > 0) faults.add('repos', 'repos must be empty where mode is all');
  const data = { mode, repoHostAppInstallationId, repos };
  checkSourceData('REPO_HOST', data, faults);
  if (typeof installationInput === 'number')
    await requireOwnInstallation(deps, caller, installationInput, 'repoHostAppInstallationId', faults);
  faults.throwIfAny();
  const refreshPeriod = input.dataRefreshPeriod ?? 'NEVER';
  const [first = ''] = repos;
  const name = mode === 'all' ? 'All repositories' : repos.length === 1 ? first : `${first} and ${repos.length - 1} more`;
  return addOne(deps, caller, agent, 'REPO_HOST', { name, refreshPeriod, data });
}

async function addOne(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  type: ConnectedType,
  source: Parameters<typeof addConnectedSources>[4][number],
): Promise<DataSource> {
  const [addedSource] = await addConnectedSources(deps, caller, agent, type, [source]);
  if (addedSource === undefined) throw new Error('a source that was just made is missing');
  return addedSource;
}

async function siteData(deps: Deps, { orgId, userId }: Caller, source: Omit<ReadWith, 'owner'>) {
  const cloudId = await requireSite(deps, { ...source, owner: { orgId, ownerUserId: userId } });
  return cloudId === undefined ? {} : { cloudId };
}

async function newestToken(deps: Deps, caller: Caller, provider: OauthProvider, faults: Faults): Promise<string | undefined> {
  const { items } = await listConnections(deps, caller, { provider }, { limit: 1, after: undefined });
  if (items[0] === undefined)
    faults.add('oauthTokenId', `oauthTokenId is required: you have no connection of the kind ${provider}`);
  return items[0]?.id;
}

/** Adds the faults of a source's data, whose members have the names of the input's. */
function checkSourceData(type: ConnectedType, data: JsonObject, faults: Faults): void {
  for (const { path, message, allowed: allowedValues } of readSourceData(type, data).faults) {
    faults.add(path, `${path} ${message}`, 'INVALID_VALUE', allowedValues);
  }
}

function siteName(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname === '/' ? '' : pathname}`.slice(0, 200);
}
