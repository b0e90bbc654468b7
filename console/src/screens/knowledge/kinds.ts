import { Braces, Bug, Files, FolderGit2, Globe, HardDrive, type LucideIcon, NotebookText } from 'lucide-react';
import type { Text } from '../../text/text.ts';
import type {
  AddDataSourceInput,
  ConnectionContentQuery,
  DataSourceType,
  IntegrationProvider,
  RefreshPeriod,
  SourceAccess,
  SourcePageQuery,
} from './documents.ts';

/** How a kind of source is shown. */
interface Kind {
  readonly name: (t: Text['t']) => string;
  readonly icon: LucideIcon;
}

export const kinds: Readonly<Record<DataSourceType, Kind>> = {
  FILE_UPLOAD: { name: (t) => t('Files'), icon: Files },
  WEB_URL: { name: (t) => t('Web site'), icon: Globe },
  API: { name: () => 'JSON', icon: Braces },
  DRIVE_A: { name: () => 'Google Drive', icon: HardDrive },
  DRIVE_B: { name: () => 'OneDrive, SharePoint', icon: HardDrive },
  WIKI: { name: () => 'Confluence', icon: NotebookText },
  TRACKER: { name: () => 'Jira', icon: Bug },
  REPO_HOST: { name: () => 'GitHub', icon: FolderGit2 },
};

/** What a connected account holds. */
export type Entry = ConnectionContentQuery['connectionEntries']['nodes'][number];
/** Services whose accounts are connected in the browser. */
export type ConnectableProvider = Exclude<IntegrationProvider, 'MCP'>;
interface Common {
  readonly connectionId: string;
  readonly refreshPeriod: RefreshPeriod;
  readonly access: SourceAccess;
}

/** How what an account holds is added. */
interface AccountForm {
  /** One request takes several entries. */
  readonly isMany?: true;
  /** The whole account can be added: what that is called, and the request for it. */
  readonly whole?: {
    readonly label: (t: Text['t']) => string;
    readonly toInput: (common: Common, accountName: string) => AddDataSourceInput;
  };
  readonly toInput: (common: Common, first: Entry, all: readonly Entry[]) => AddDataSourceInput;
}

export const accountForms: Readonly<Record<ConnectableProvider, AccountForm>> = {
  DRIVE_A: {
    isMany: true,
    toInput: (common, _first, all) => ({ driveA: { ...common, files: all.map(({ entryId, name }) => ({ id: entryId, name })) } }),
  },
  DRIVE_B: { toInput: (common, { entryId, name }) => ({ driveB: { ...common, fileId: entryId, filename: name } }) },
  WIKI: {
    whole: {
      label: (t) => t('All spaces'),
      toInput: (common, accountName) => ({ wiki: { ...common, allSpaces: true, pageName: accountName } }),
    },
    toInput: (common, { entryId, name, kind }) =>
      kind === 'SPACE'
        ? { wiki: { ...common, spaceId: entryId, pageName: name } }
        : {
            wiki: {
              ...common,
              pageId: entryId,
              pageName: name,
              contentType: kind === 'FOLDER' ? 'folder' : 'page',
              indexChildPages: true,
            },
          },
  },
  TRACKER: { toInput: (common, { entryId, name }) => ({ tracker: { ...common, projectKey: entryId, projectName: name } }) },
  REPO_HOST: {
    isMany: true,
    whole: {
      label: (t) => t('All repositories, also future ones'),
      toInput: (common) => ({ repoHost: { ...common, mode: 'ALL' } }),
    },
    toInput: (common, _first, all) => ({ repoHost: { ...common, mode: 'REPOS', repos: all.map(({ entryId }) => entryId) } }),
  },
};

/** Whether a source has permissions of its own, which each person's answers may follow. */
export function hasPermissions(type: DataSourceType): boolean {
  return type === 'API' || type in accountForms;
}

type SourceSettings = NonNullable<SourcePageQuery['dataSource']>['settings'];

/** Where a source comes from, for people: a folder, a project; undefined where its kind says enough. */
export function describePlace(settings: SourceSettings): string | undefined {
  switch (settings?.__typename) {
    case 'DriveASettings':
    case 'DriveBSettings':
    case 'FileUploadSettings':
      return settings.filename;
    case 'WikiSettings':
      return settings.pageName;
    case 'TrackerSettings':
      return `${settings.projectName} (${settings.projectKey})`;
    case 'RepoHostSettings':
      return settings.repos.length === 0 ? undefined : settings.repos.join(', ');
    default:
      return undefined;
  }
}
