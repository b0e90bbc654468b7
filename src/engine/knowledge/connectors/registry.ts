import type { Warning } from '../../../entities/ground/warning.ts';
import type { ConnectionProvider } from '../../../entities/knowledge/connection.ts';
import { type ConnectedType, type DataSourceType, isConnectedType } from '../../../entities/knowledge/data-source.ts';
import { mapMembers } from '../../../lib/json/json.ts';
import type { Settings } from '../../../settings.ts';
import type { AccountService } from '../connections/oauth-service.ts';
import { confluenceKind } from './confluence/kind.ts';
import type { Connector, ConnectorServices } from './connector.ts';
import { githubKind } from './github/kind.ts';
import { googleDriveKind } from './google-drive/kind.ts';
import { jiraKind } from './jira/kind.ts';
import type { SourceKind } from './kind.ts';
import { oneDriveKind } from './onedrive/kind.ts';
import type { PermissionKind, PermissionReader } from './permissions.ts';
import { webKind } from './web/kind.ts';
import type { WebServices } from './web/web.ts';

/** The kinds of sources that a connector reads, in the order of the contract. */
export const sourceKinds: Readonly<Record<ConnectedType, SourceKind>> = {
  WEB_URL: webKind,
  DRIVE_A: googleDriveKind,
  DRIVE_B: oneDriveKind,
  WIKI: confluenceKind,
  TRACKER: jiraKind,
  REPO_HOST: githubKind,
};
export const connectedKinds: readonly SourceKind[] = Object.values(sourceKinds);

/** Each kind in a sentence. */
export const kindDescriptions = mapMembers(sourceKinds, ({ description }) => description);
/** The kinds whose accounts may have several sites, for sentences: `WIKI and TRACKER`. */
export const siteProviders: string = connectedKinds.flatMap(({ type, site }) => (site === undefined ? [] : [type])).join(' and ');

/** What reads sources. A kind is opened once: the crawls of all sources share their places at a host. */
export class Connectors {
  readonly #byType: ReadonlyMap<ConnectedType, Connector>;

  constructor(byType: ReadonlyMap<ConnectedType, Connector>) {
    this.#byType = byType;
  }

  /** Of all kinds. */
  static open(services: WebServices): Connectors {
    return new Connectors(new Map(connectedKinds.map((kind) => [kind.type, kind.open(services)])));
  }

  get(type: ConnectedType): Connector {
    const connector = this.#byType.get(type);
    if (connector === undefined) throw new Error(`${type} has no connector`);
    return connector;
  }
}

/** What reads the permissions of sources, for the kinds whose services say them. A kind is opened once. */
export class PermissionReaders {
  readonly #byType: ReadonlyMap<DataSourceType, PermissionReader>;

  constructor(byType: ReadonlyMap<DataSourceType, PermissionReader>) {
    this.#byType = byType;
  }

  /** Of all kinds. */
  static open(services: ConnectorServices): PermissionReaders {
    const entries = connectedKinds.flatMap(({ type, permissions }) =>
      permissions === undefined ? [] : [[type, permissions.open(services)] as const],
    );
    return new PermissionReaders(new Map(entries));
  }

  /** Undefined for a kind whose service says no permissions. */
  find(type: DataSourceType): PermissionReader | undefined {
    return this.#byType.get(type);
  }
}

/** What a kind of source tells of the rights of its service; undefined for one that tells none. */
export function findPermissionKind(type: DataSourceType): PermissionKind | undefined {
  return isConnectedType(type) ? sourceKinds[type].permissions : undefined;
}

/** How an account at a service is connected in the browser: with the rights to read permissions too, where CONNECT_PERMISSION_SCOPES is on. */
export function accountService(provider: Exclude<ConnectionProvider, 'MCP'>): AccountService {
  const { account, permissions } = sourceKinds[provider];
  if (account === undefined) throw new Error(`${provider} has no accounts`);
  return {
    ...account,
    oauth(settings) {
      const service = account.oauth(settings);
      const more = settings.CONNECT_PERMISSION_SCOPES === 'on' ? (permissions?.scopes ?? []) : [];
      return { ...service, scopes: [...new Set([...service.scopes, ...more])] };
    },
  };
}

/** The settings that the operator would have to set before sources of a kind can be read. */
export function missingSettings(type: DataSourceType, settings: Settings): readonly string[] {
  const needed = isConnectedType(type) ? (sourceKinds[type].neededSettings ?? []) : [];
  return needed.filter((name) => settings[name] === undefined);
}

/** Why a source that is there cannot be read by this instance, such as one that came with a bundle. */
export function sourceWarnings(type: DataSourceType, settings: Settings): readonly Warning[] {
  const missing = missingSettings(type, settings);
  if (missing.length === 0) return [];
  const message = `The source is stored and not read: the operator has to set ${missing.join(' and ')}`;
  return [{ code: 'unsupported_value', message, param: 'type' }];
}
