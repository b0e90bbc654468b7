import type { DataSource, DataSourceType } from '../../entities/knowledge/data-source.ts';
import { repoHostModes, webUrlFileTypes } from '../../entities/knowledge/data-source.ts';
import { builder } from '../ground/builder/builder.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';

export const WebUrlFileTypeType = createEnum(
  'WebUrlFileType',
  'Files that a web source may take besides pages.',
  webUrlFileTypes,
  {
    TEXT: 'Plain text.',
    CSV: 'Tables with separators.',
    PDF: 'PDF documents.',
    MARKDOWN: 'Markdown.',
    DOC: 'Documents of word processors.',
    XLS: 'Spreadsheets.',
  },
);

export const RepoHostModeType = createEnum(
  'RepoHostMode',
  'Which repositories a source takes.',
  repoHostModes,
  {
    repos: 'The named repositories.',
    all: 'All repositories that the installation can read, also future ones.',
  },
  ofFormat,
);

/** The configuration of a source, which has been read for its type. */
class Settings {
  readonly type: DataSourceType;
  readonly data: DataSource['data'];

  constructor({ type, data }: Pick<DataSource, 'type' | 'data'>) {
    this.type = type;
    this.data = data;
  }

  text(name: string): string | null {
    const value = this.data[name];
    return typeof value === 'string' && value !== '' ? value : null;
  }

  texts(name: string): string[] {
    const value = this.data[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  number(name: string): number | null {
    const value = this.data[name];
    return typeof value === 'number' ? value : null;
  }

  flag(name: string): boolean {
    return this.data[name] === true;
  }
}

/** What a source cannot be without. A stored configuration that lacks it is shown as none. */
const neededMembers: Readonly<Partial<Record<DataSourceType, readonly string[]>>> = {
  FILE_UPLOAD: ['filename'],
  DRIVE_A: ['fileId', 'filename'],
  DRIVE_B: ['fileId', 'filename'],
  WEB_URL: ['url'],
  WIKI: ['pageName'],
  TRACKER: ['projectName', 'projectKey'],
};

/** Null for a vector store, whose files say it. */
export function toSettings(source: Pick<DataSource, 'type' | 'data'>): Settings | null {
  const settings = new Settings(source);
  return (neededMembers[source.type] ?? []).every((name) => settings.text(name) !== null) ? settings : null;
}

const access = { scope: 'DATA_SOURCES:READ' } as const;
const of = (name: string) => builder.objectRef<Settings>(name);

const ApiSettings = of('ApiSettings').implement({
  access,
  description: 'A payload that was given.',
  fields: (t) => ({
    payload: t.field({
      type: 'JSON',
      description: "The knowledge. JSON: it is the caller's own object, of any form.",
      resolve: ({ data }) => data,
    }),
  }),
});

const FileUploadSettings = of('FileUploadSettings').implement({
  access,
  description: 'A file that was uploaded.',
  fields: (t) => ({
    filename: t.string({ description: 'Its name, without any path.', resolve: (settings) => settings.text('filename') ?? '' }),
    mimeType: t.string({
      nullable: true,
      description: 'Its media type, as it was declared.',
      resolve: (settings) => settings.text('mimeType'),
    }),
    sizeBytes: t.field({
      type: 'Count',
      nullable: true,
      description: 'Its size.',
      resolve: (settings) => settings.number('size'),
    }),
  }),
});

const fileId = "The drive's own id of the file or folder.";
const DriveASettings = of('DriveASettings').implement({
  access,
  description: 'A file or a folder of a drive of the first kind.',
  fields: (t) => ({
    fileId: t.string({ description: fileId, resolve: (settings) => settings.text('fileId') ?? '' }),
    filename: t.string({ description: 'Its name.', resolve: (settings) => settings.text('filename') ?? '' }),
  }),
});

const DriveBSettings = of('DriveBSettings').implement({
  access,
  description: 'A file or a folder of a drive of the second kind.',
  fields: (t) => ({
    fileId: t.string({ description: fileId, resolve: (settings) => settings.text('fileId') ?? '' }),
    filename: t.string({ description: 'Its name.', resolve: (settings) => settings.text('filename') ?? '' }),
    driveId: t.string({
      nullable: true,
      description: "The drive's own id; null for the drive of the account.",
      resolve: (settings) => settings.text('driveId'),
    }),
  }),
});

const WebUrlSettings = of('WebUrlSettings').implement({
  access,
  description: 'A web site, read from one address on.',
  fields: (t) => ({
    url: t.string({ description: 'Where reading begins.', resolve: (settings) => settings.text('url') ?? '' }),
    includeFiles: t.boolean({
      description: 'Whether files are taken as well as pages.',
      resolve: (settings) => settings.flag('includeFiles'),
    }),
    includedFileTypes: t.field({
      type: [WebUrlFileTypeType],
      description: 'Which files, where files are taken.',
      resolve: (settings) => webUrlFileTypes.filter((type) => settings.texts('includedFileTypes').includes(type)),
    }),
    includeUrlGlobs: t.stringList({
      description: 'Patterns on whole addresses, of which one must fit; at most 100. Empty: the site of `url`.',
      resolve: (settings) => settings.texts('includeUrlGlobs'),
    }),
    excludeUrlGlobs: t.stringList({
      description: 'Patterns of addresses left out; at most 100.',
      resolve: (settings) => settings.texts('excludeUrlGlobs'),
    }),
    maxPages: t.int({ nullable: true, description: 'Most pages fetched.', resolve: (settings) => settings.number('maxPages') }),
    maxMemoryMb: t.int({
      nullable: true,
      description: 'Most memory for what is being read, in MB.',
      resolve: (settings) => settings.number('maxMemory'),
    }),
    timeoutSeconds: t.int({
      nullable: true,
      description: 'Most time for one reading of the site, in seconds.',
      resolve: (settings) => settings.number('timeout'),
    }),
  }),
});

const site = "The id of the one of the account's sites that is read; null for its only one.";
const WikiSettings = of('WikiSettings').implement({
  access,
  description: 'A wiki, or a part of it.',
  fields: (t) => ({
    pageName: t.string({
      description: 'The name of the page or the space.',
      resolve: (settings) => settings.text('pageName') ?? '',
    }),
    pageId: t.string({
      nullable: true,
      description: "The wiki's own id of the page.",
      resolve: (settings) => settings.text('pageId'),
    }),
    contentType: t.string({
      nullable: true,
      description: "The wiki's own word for what that is: page, folder, space.",
      resolve: (settings) => settings.text('contentType'),
    }),
    spaceId: t.string({
      nullable: true,
      description: "The wiki's own id of the space.",
      resolve: (settings) => settings.text('spaceId'),
    }),
    driveAccount: t.string({
      nullable: true,
      description: 'The account that files of a drive, linked from pages, are read with.',
      resolve: (settings) => settings.text('selectedDriveAccount'),
    }),
    cloudId: t.string({ nullable: true, description: site, resolve: (settings) => settings.text('cloudId') }),
    indexChildPages: t.boolean({
      description: 'Whether pages below it are taken.',
      resolve: (settings) => settings.flag('indexChildPages'),
    }),
    indexDriveFiles: t.boolean({
      description: 'Whether linked files of a drive are taken.',
      resolve: (settings) => settings.flag('indexDriveFiles'),
    }),
    indexAttachments: t.boolean({
      description: 'Whether attachments are taken.',
      resolve: (settings) => settings.flag('indexAttachments'),
    }),
    archive: t.boolean({ description: 'Whether archived pages are taken.', resolve: (settings) => settings.flag('archive') }),
    allSpaces: t.boolean({
      description: 'Whether every space that can be read is taken.',
      resolve: (settings) => settings.flag('allSpaces'),
    }),
  }),
});

const TrackerSettings = of('TrackerSettings').implement({
  access,
  description: 'A project of an issue tracker.',
  fields: (t) => ({
    projectName: t.string({
      description: 'The name of the project.',
      resolve: (settings) => settings.text('projectName') ?? '',
    }),
    projectKey: t.string({ description: 'Its key.', resolve: (settings) => settings.text('projectKey') ?? '' }),
    cloudId: t.string({ nullable: true, description: site, resolve: (settings) => settings.text('cloudId') }),
  }),
});

const RepoHostSettings = of('RepoHostSettings').implement({
  access,
  description: 'Repositories at a repository host.',
  fields: (t) => ({
    mode: t.field({
      type: RepoHostModeType,
      description: 'Which repositories.',
      resolve: (settings) => (settings.text('mode') === 'all' ? 'all' : 'repos'),
    }),
    repos: t.stringList({
      description: 'Names like `owner/repository`; at most 500. Empty where `mode` is ALL.',
      resolve: (settings) => settings.texts('repos'),
    }),
  }),
});

const byType = {
  API: ApiSettings,
  FILE_UPLOAD: FileUploadSettings,
  DRIVE_A: DriveASettings,
  DRIVE_B: DriveBSettings,
  WEB_URL: WebUrlSettings,
  WIKI: WikiSettings,
  TRACKER: TrackerSettings,
  REPO_HOST: RepoHostSettings,
} satisfies Record<DataSourceType, typeof ApiSettings>;

export const DataSourceSettings = builder.unionType('DataSourceSettings', {
  description: 'What a source was added with, by its type.',
  types: Object.values(byType),
  resolveType: ({ type }) => byType[type],
});
