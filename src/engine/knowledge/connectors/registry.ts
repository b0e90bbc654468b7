import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Connector, ConnectorServices } from './connector.ts';
import { createDriveA } from './drive-a/drive-a.ts';
import { createDriveB } from './drive-b/drive-b.ts';
import { createRepoHost } from './repo-host/repo-host.ts';
import { createWebConnector } from './web/web.ts';

/** The connectors by the kind of their sources. */
export type Connectors = Readonly<Partial<Record<ConnectedType, Connector>>>;

export function createConnectors(services: ConnectorServices): Connectors {
  return {
    DRIVE_A: createDriveA(services),
    DRIVE_B: createDriveB(services),
    REPO_HOST: createRepoHost(services),
    WEB_URL: createWebConnector(services),
  };
}
