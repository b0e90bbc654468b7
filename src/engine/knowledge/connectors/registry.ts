import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Connector } from './connector.ts';
import { createDriveA } from './drive-a/drive-a.ts';
import { createDriveB } from './drive-b/drive-b.ts';
import { createRepoHost } from './repo-host/repo-host.ts';
import { createTracker } from './tracker/tracker.ts';
import { createWebConnector, type WebServices } from './web/web.ts';
import { createWiki } from './wiki/wiki.ts';

/** The connectors by the kind of their sources. */
export type Connectors = Readonly<Record<ConnectedType, Connector>>;

export function createConnectors(services: WebServices): Connectors {
  const driveA = createDriveA(services);
  return {
    DRIVE_A: driveA,
    DRIVE_B: createDriveB(services),
    REPO_HOST: createRepoHost(services),
    TRACKER: createTracker(services),
    WEB_URL: createWebConnector(services),
    // Pages may link to files of the drive.
    WIKI: createWiki(services, driveA),
  };
}
