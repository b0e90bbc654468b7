import { addApiDataSource } from '../../domain/knowledge/add-sources.ts';
import {
  type AddDriveAInput,
  type AddDriveBInput,
  type AddRepoHostInput,
  type AddTrackerInput,
  type AddWebUrlInput,
  type AddWikiInput,
  addDriveASources,
  addDriveBSource,
  addRepoHostSource,
  addTrackerSource,
  addWebUrlSource,
  addWikiSource,
} from '../../domain/knowledge/source-kinds.ts';
import { crawlBounds, type DataSource } from '../../entities/knowledge/data-source.ts';
import { repoHostSourceBody } from '../../wire/data-sources.ts';
import { builder } from '../ground/builder/builder.ts';
import type { GraphContext } from '../ground/builder/context.ts';
import { type Conversion, flatInput } from '../ground/builder/flat-inputs.ts';
import { describedOnRest } from '../ground/builder/one-api.ts';
import { DataSourceRef } from '../ground/refs.ts';
import { RepoHostModeType, WebUrlFileTypeType } from './settings.ts';
import { RefreshPeriodType } from './sources.ts';

const refresh = 'How often it is read again by itself. Default NEVER.';
const inBounds = (what: string, { min, max, default: fallback }: (typeof crawlBounds)[keyof typeof crawlBounds]) =>
  `${what}: ${min.toLocaleString('en')} to ${max.toLocaleString('en')}. Default ${fallback.toLocaleString('en')}.`;

const AddWebUrlDataSourceInput = flatInput<AddWebUrlInput>(
  builder.inputType('AddWebUrlDataSourceInput', {
    description: 'A web site, read from one address on.',
    fields: (t) => ({
      url: t.string({ description: 'Where reading begins: an http or https address.' }),
      refreshPeriod: t.field({ type: RefreshPeriodType, description: 'How often it is refreshed automatically.' }),
      includeFiles: t.boolean({ description: 'Whether files are taken as well as pages.' }),
      includedFileTypes: t.field({ type: [WebUrlFileTypeType], description: 'Which files, where files are taken.' }),
      includeUrlGlobs: t.stringList({
        required: false,
        description:
          'Patterns on whole addresses, of which one must fit: `https://example.com/docs/**`. At most 100. Default: the site of `url`.',
      }),
      excludeUrlGlobs: t.stringList({ required: false, description: 'Patterns of addresses left out; they win. At most 100.' }),
      maxPages: t.int({ required: false, description: inBounds('Most pages fetched', crawlBounds.maxPages) }),
      maxMemoryMb: t.int({
        required: false,
        description: inBounds('Most memory for what is being read, in MB', crawlBounds.maxMemory),
      }),
      timeoutSeconds: t.int({
        required: false,
        description: inBounds('Most time for one reading of the site, in seconds', crawlBounds.timeout),
      }),
    }),
  }),
  { members: { refreshPeriod: 'dataRefreshPeriod', maxMemoryMb: 'maxMemory', timeoutSeconds: 'timeout' } },
);

const DriveFileInput = builder.inputType('DriveFileInput', {
  description: 'A file or folder of a drive.',
  fields: (t) => ({
    id: t.string({ description: "The drive's own id of it." }),
    name: t.string({ description: 'Its name; the source is called so.' }),
  }),
});

const AddDriveADataSourcesInput = flatInput<AddDriveAInput>(
  builder.inputType('AddDriveADataSourcesInput', {
    description: 'Files of a drive of the first kind: a source is made for each.',
    fields: (t) => ({
      connectionId: t.id({
        required: false,
        description: "The caller's own connection of the kind DRIVE_A. Default: the newest one.",
      }),
      files: t.field({ type: [DriveFileInput], description: '1 to 100 files.' }),
      refreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
    }),
  }),
  { members: { refreshPeriod: 'dataRefreshPeriod', connectionId: 'oauthTokenId' } },
);

const AddDriveBDataSourceInput = flatInput<AddDriveBInput>(
  builder.inputType('AddDriveBDataSourceInput', {
    description: 'A file or a folder of a drive of the second kind.',
    fields: (t) => ({
      connectionId: t.id({ description: "The caller's own connection of the kind DRIVE_B." }),
      fileId: t.string({ description: "The drive's own id of the file, or of a folder: then all that is in it." }),
      filename: t.string({ description: 'Its name; the source is called so.' }),
      driveId: t.string({
        required: false,
        description: "The drive's own id, such as that of a shared library. Default: the drive of the account.",
      }),
      refreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
    }),
  }),
  { members: { refreshPeriod: 'dataRefreshPeriod', connectionId: 'oauthTokenId' } },
);

const siteDescription =
  "The id of one of the account's sites. Needed where the account has several and the connection's `baseUrl` names none; the source's `errorMessage` lists them then.";

const AddWikiDataSourceInput = flatInput<AddWikiInput>(
  builder.inputType('AddWikiDataSourceInput', {
    description: 'A wiki, or a part of it.',
    fields: (t) => ({
      connectionId: t.id({ description: "The caller's own connection of the kind WIKI." }),
      pageName: t.string({ description: 'The name of the page or the space; the source is called so.' }),
      pageId: t.string({ required: false, description: "The wiki's own id of the page." }),
      contentType: t.string({ required: false, description: "The wiki's own word for what that is: page, folder, space." }),
      spaceId: t.string({ required: false, description: "The wiki's own id of the space." }),
      driveAccount: t.string({
        required: false,
        description: 'The account that files of a drive, linked from pages, are read with.',
      }),
      cloudId: t.string({ required: false, description: siteDescription }),
      refreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
      indexChildPages: t.boolean({ required: false, description: 'Whether pages below it are taken. Default false.' }),
      indexDriveFiles: t.boolean({ required: false, description: 'Whether linked files of a drive are taken. Default false.' }),
      indexAttachments: t.boolean({ required: false, description: 'Whether attachments are taken. Default false.' }),
      archive: t.boolean({ required: false, description: 'Whether archived pages are taken. Default false.' }),
      allSpaces: t.boolean({ required: false, description: 'Whether every space that can be read is taken. Default false.' }),
    }),
  }),
  { members: { refreshPeriod: 'dataRefreshPeriod', connectionId: 'oauthTokenId', driveAccount: 'selectedDriveAccount' } },
);

const AddTrackerDataSourceInput = flatInput<AddTrackerInput>(
  builder.inputType('AddTrackerDataSourceInput', {
    description: 'A project of an issue tracker.',
    fields: (t) => ({
      connectionId: t.id({ description: "The caller's own connection of the kind TRACKER." }),
      projectName: t.string({ description: 'The name of the project; the source is called so.' }),
      projectKey: t.string({ description: 'Its key: 1 to 100 letters, digits, dots, hyphens or underscores.' }),
      cloudId: t.string({ required: false, description: siteDescription }),
      refreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
    }),
  }),
  { members: { refreshPeriod: 'dataRefreshPeriod', connectionId: 'oauthTokenId' } },
);

const AddRepoHostDataSourceInput = flatInput<AddRepoHostInput>(
  builder.inputType('AddRepoHostDataSourceInput', {
    description: 'Repositories at a repository host.',
    fields: (t) => ({
      mode: t.field({ type: RepoHostModeType, description: 'Which repositories.' }),
      connectionId: t.id({ description: "An installation that is one of the caller's connections." }),
      repos: t.stringList({
        required: false,
        description: 'Names like `owner/repository`: 1 to 500 where `mode` is REPOS, none where it is ALL.',
      }),
      refreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
    }),
  }),
  { body: repoHostSourceBody, members: { refreshPeriod: 'dataRefreshPeriod', connectionId: 'repoHostAppInstallationId' } },
);

const AddApiDataSourceInput = builder.inputType('AddApiDataSourceInput', {
  description: "A new source with a payload of one's own.",
  fields: (t) => ({
    name: t.string({ description: '1 to 200 characters.' }),
    data: t.field({
      type: 'JSON',
      description: "The knowledge: an object. JSON: it is the caller's own, of any form.",
      extensions: describedOnRest('The knowledge: any object.'),
    }),
  }),
});

/** The choice keeps its member; places of faults begin within it. */
function chosen(name: string): Conversion {
  return { flatten: (value) => ({ [name]: value }), place: (place) => place };
}

/** Exactly one of them. */
interface AddDataSourceChoice {
  readonly api?: { readonly name: string; readonly data: unknown };
  readonly webUrl?: AddWebUrlInput;
  readonly driveA?: AddDriveAInput;
  readonly driveB?: AddDriveBInput;
  readonly wiki?: AddWikiInput;
  readonly tracker?: AddTrackerInput;
  readonly repoHost?: AddRepoHostInput;
}

const AddDataSourceInput = flatInput<AddDataSourceChoice>(
  builder.inputType('AddDataSourceInput', {
    isOneOf: true,
    description: 'What is added: exactly one of these.',
    fields: (t) => ({
      api: t.field({ type: AddApiDataSourceInput, required: false, description: 'A JSON payload.' }),
      webUrl: t.field({ type: AddWebUrlDataSourceInput, required: false, description: 'A web site.' }),
      driveA: t.field({
        type: AddDriveADataSourcesInput,
        required: false,
        description: 'Files of a drive of the first kind: a source for each, all or none.',
      }),
      driveB: t.field({
        type: AddDriveBDataSourceInput,
        required: false,
        description: 'A file or a folder of a drive of the second kind.',
      }),
      wiki: t.field({ type: AddWikiDataSourceInput, required: false, description: 'A wiki, or a part of it.' }),
      tracker: t.field({ type: AddTrackerDataSourceInput, required: false, description: 'A project of an issue tracker.' }),
      repoHost: t.field({
        type: AddRepoHostDataSourceInput,
        required: false,
        description: 'Repositories at a repository host.',
      }),
    }),
  }),
  {
    choices: {
      ...{ api: chosen('api'), webUrl: chosen('webUrl'), driveA: chosen('driveA'), driveB: chosen('driveB') },
      ...{ wiki: chosen('wiki'), tracker: chosen('tracker'), repoHost: chosen('repoHost') },
    },
  },
);

interface AddedSources {
  readonly first: DataSource;
  readonly all: readonly DataSource[];
}

const AddDataSourcePayload = builder.objectRef<AddedSources>('AddDataSourcePayload').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What was added.',
  fields: (t) => ({
    dataSource: t.field({
      type: DataSourceRef,
      description: 'The new source; of several, the first.',
      resolve: ({ first }) => first,
    }),
    dataSources: t.field({
      type: [DataSourceRef],
      description: 'All of them, at most 100: one for each file of a drive of the first kind.',
      resolve: ({ all }) => [...all],
    }),
  }),
});

builder.mutationField('addDataSource', (t) =>
  t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: AddDataSourcePayload,
    description: 'Adds knowledge to an agent, and has it read. An uploaded file is added by `addFileDataSource`.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: AddDataSourceInput, description: 'What is added.' }),
    },
    resolve: async (_root, { agentId, input }, context) => {
      const all = await addSources(context, agentId, input);
      const [first] = all;
      if (first === undefined) throw new Error('a source that was just made is missing');
      return { first, all };
    },
  }),
);

async function addSources(
  { deps, caller }: GraphContext,
  agentId: string,
  { api, webUrl, driveA, driveB, wiki, tracker, repoHost }: AddDataSourceChoice,
): Promise<readonly DataSource[]> {
  if (api !== undefined) return [await addApiDataSource(deps, caller, agentId, api)];
  if (webUrl !== undefined) return [await addWebUrlSource(deps, caller, agentId, webUrl)];
  if (driveA !== undefined) return addDriveASources(deps, caller, agentId, driveA);
  if (driveB !== undefined) return [await addDriveBSource(deps, caller, agentId, driveB)];
  if (wiki !== undefined) return [await addWikiSource(deps, caller, agentId, wiki)];
  if (tracker !== undefined) return [await addTrackerSource(deps, caller, agentId, tracker)];
  if (repoHost !== undefined) return [await addRepoHostSource(deps, caller, agentId, repoHost)];
  throw new Error('a choice without a member');
}
