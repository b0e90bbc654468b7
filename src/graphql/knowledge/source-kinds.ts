import {
  addDriveASources,
  addDriveBSource,
  addRepoHostSource,
  addTrackerSource,
  addWebUrlSource,
  addWikiSource,
} from '../../domain/knowledge/source-kinds.ts';
import { crawlBounds, repoHostModes, webUrlFileTypes } from '../../entities/knowledge/data-source.ts';
import { builder } from '../builder/builder.ts';
import { enumOf, wireEnumOf } from '../types/enums.ts';
import { DataSourceType, RefreshPeriodType } from './sources.ts';

const WebUrlFileTypeType = enumOf('WebUrlFileType', 'Files that a web source may take besides pages.', webUrlFileTypes, {
  TEXT: 'Plain text.',
  CSV: 'Tables with separators.',
  PDF: 'PDF documents.',
  MARKDOWN: 'Markdown.',
  DOC: 'Documents of word processors.',
  XLS: 'Spreadsheets.',
});

const RepoHostModeType = wireEnumOf('RepoHostMode', 'Which repositories a source takes.', repoHostModes, {
  repos: 'The named repositories.',
  all: 'All repositories that the installation can read, also future ones.',
});

const refresh = 'How often it is read again by itself. Default NEVER.';
const inBounds = (what: string, { min, max, default: fallback }: (typeof crawlBounds)[keyof typeof crawlBounds]) =>
  `${what}: ${min.toLocaleString('en')} to ${max.toLocaleString('en')}. Default ${fallback.toLocaleString('en')}.`;

const AddWebUrlDataSourceInput = builder.inputType('AddWebUrlDataSourceInput', {
  description: 'A web site, read from one address on.',
  fields: (t) => ({
    url: t.string({ description: 'Where reading begins: an http or https address.' }),
    dataRefreshPeriod: t.field({ type: RefreshPeriodType, description: 'How often it is refreshed automatically.' }),
    includeFiles: t.boolean({ description: 'Whether files are taken as well as pages.' }),
    includedFileTypes: t.field({ type: [WebUrlFileTypeType], description: 'Which files, where files are taken.' }),
    includeUrlGlobs: t.stringList({
      required: false,
      description:
        'Patterns on whole addresses, of which one must fit: `https://example.com/docs/**`. At most 100. Default: the site of `url`.',
    }),
    excludeUrlGlobs: t.stringList({ required: false, description: 'Patterns of addresses left out; they win. At most 100.' }),
    maxPages: t.int({ required: false, description: inBounds('Most pages fetched', crawlBounds.maxPages) }),
    maxMemory: t.int({
      required: false,
      description: inBounds('Most memory for what is being read, in MB', crawlBounds.maxMemory),
    }),
    timeout: t.int({
      required: false,
      description: inBounds('Most time for one reading of the site, in seconds', crawlBounds.timeout),
    }),
  }),
});

const DriveFileInput = builder.inputType('DriveFileInput', {
  description: 'A file or folder of a drive.',
  fields: (t) => ({
    id: t.string({ description: "The drive's own id of it." }),
    name: t.string({ description: 'Its name; the source is called so.' }),
  }),
});

const AddDriveADataSourcesInput = builder.inputType('AddDriveADataSourcesInput', {
  description: 'Files of a drive of the first kind: a source is made for each.',
  fields: (t) => ({
    oauthTokenId: t.id({
      required: false,
      description: "The caller's own connection of the kind DRIVE_A. Default: the newest one.",
    }),
    files: t.field({ type: [DriveFileInput], description: '1 to 100 files.' }),
    dataRefreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
  }),
});

const AddDriveBDataSourceInput = builder.inputType('AddDriveBDataSourceInput', {
  description: 'A file or a folder of a drive of the second kind.',
  fields: (t) => ({
    oauthTokenId: t.id({ description: "The caller's own connection of the kind DRIVE_B." }),
    fileId: t.string({ description: "The drive's own id of the file, or of a folder: then all that is in it." }),
    filename: t.string({ description: 'Its name; the source is called so.' }),
    driveId: t.string({
      required: false,
      description: "The drive's own id, such as that of a shared library. Default: the drive of the account.",
    }),
    dataRefreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
  }),
});

const siteDescription =
  "The id of one of the account's sites. Needed where the account has several and the connection's `baseUrl` names none; the source's `errorMessage` lists them then.";

const AddWikiDataSourceInput = builder.inputType('AddWikiDataSourceInput', {
  description: 'A wiki, or a part of it.',
  fields: (t) => ({
    oauthTokenId: t.id({ description: "The caller's own connection of the kind WIKI." }),
    pageName: t.string({ description: 'The name of the page or the space; the source is called so.' }),
    pageId: t.string({ required: false, description: "The wiki's own id of the page." }),
    contentType: t.string({ required: false, description: "The wiki's own word for what that is: page, folder, space." }),
    spaceId: t.string({ required: false, description: "The wiki's own id of the space." }),
    selectedDriveAccount: t.string({
      required: false,
      description: 'The account that files of a drive, linked from pages, are read with.',
    }),
    cloudId: t.string({ required: false, description: siteDescription }),
    dataRefreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
    indexChildPages: t.boolean({ required: false, description: 'Whether pages below it are taken. Default false.' }),
    indexDriveFiles: t.boolean({ required: false, description: 'Whether linked files of a drive are taken. Default false.' }),
    indexAttachments: t.boolean({ required: false, description: 'Whether attachments are taken. Default false.' }),
    archive: t.boolean({ required: false, description: 'Whether archived pages are taken. Default false.' }),
    allSpaces: t.boolean({ required: false, description: 'Whether every space that can be read is taken. Default false.' }),
  }),
});

const AddTrackerDataSourceInput = builder.inputType('AddTrackerDataSourceInput', {
  description: 'A project of an issue tracker.',
  fields: (t) => ({
    oauthTokenId: t.id({ description: "The caller's own connection of the kind TRACKER." }),
    projectName: t.string({ description: 'The name of the project; the source is called so.' }),
    projectKey: t.string({ description: 'Its key: 1 to 100 letters, digits, dots, hyphens or underscores.' }),
    cloudId: t.string({ required: false, description: siteDescription }),
    dataRefreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
  }),
});

const AddRepoHostDataSourceInput = builder.inputType('AddRepoHostDataSourceInput', {
  description: 'Repositories at a repository host.',
  fields: (t) => ({
    mode: t.field({ type: RepoHostModeType, description: 'Which repositories.' }),
    repoHostAppInstallationId: t.int({ description: "The number of an installation that is one of the caller's connections." }),
    repos: t.stringList({
      required: false,
      description: 'Names like `owner/repository`: 1 to 500 where `mode` is repos, none where it is all.',
    }),
    dataRefreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: refresh }),
  }),
});

builder.mutationFields((t) => {
  const agentId = t.arg.id({ description: 'The id of the agent.' });
  return {
    addWebUrlDataSource: t.field({
      authScopes: { key: 'DATA_SOURCES:WRITE' },
      type: DataSourceType,
      description: 'Adds a web site to an agent.',
      args: { agentId, input: t.arg({ type: AddWebUrlDataSourceInput, description: 'The members of the new source.' }) },
      resolve: (_root, args, { deps, caller }) => addWebUrlSource(deps, caller, args.agentId, args.input),
    }),
    addDriveADataSources: t.field({
      authScopes: { key: 'DATA_SOURCES:WRITE' },
      type: [DataSourceType],
      description: 'Adds files of a drive of the first kind to an agent, all or none.',
      args: { agentId, input: t.arg({ type: AddDriveADataSourcesInput, description: 'The members of the new sources.' }) },
      resolve: async (_root, args, { deps, caller }) => [...(await addDriveASources(deps, caller, args.agentId, args.input))],
    }),
    addDriveBDataSource: t.field({
      authScopes: { key: 'DATA_SOURCES:WRITE' },
      type: DataSourceType,
      description: 'Adds a file of a drive of the second kind to an agent.',
      args: { agentId, input: t.arg({ type: AddDriveBDataSourceInput, description: 'The members of the new source.' }) },
      resolve: (_root, args, { deps, caller }) => addDriveBSource(deps, caller, args.agentId, args.input),
    }),
    addWikiDataSource: t.field({
      authScopes: { key: 'DATA_SOURCES:WRITE' },
      type: DataSourceType,
      description: 'Adds a wiki, or a part of it, to an agent.',
      args: { agentId, input: t.arg({ type: AddWikiDataSourceInput, description: 'The members of the new source.' }) },
      resolve: (_root, args, { deps, caller }) => addWikiSource(deps, caller, args.agentId, args.input),
    }),
    addTrackerDataSource: t.field({
      authScopes: { key: 'DATA_SOURCES:WRITE' },
      type: DataSourceType,
      description: 'Adds a project of an issue tracker to an agent.',
      args: { agentId, input: t.arg({ type: AddTrackerDataSourceInput, description: 'The members of the new source.' }) },
      resolve: (_root, args, { deps, caller }) => addTrackerSource(deps, caller, args.agentId, args.input),
    }),
    addRepoHostDataSource: t.field({
      authScopes: { key: 'DATA_SOURCES:WRITE' },
      type: DataSourceType,
      description: 'Adds repositories to an agent.',
      args: { agentId, input: t.arg({ type: AddRepoHostDataSourceInput, description: 'The members of the new sources.' }) },
      resolve: (_root, args, { deps, caller }) => addRepoHostSource(deps, caller, args.agentId, args.input),
    }),
  };
});
