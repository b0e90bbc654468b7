import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import { createWiki } from './confluence/confluence.ts';
import type { Connector } from './connector.ts';
import { createRepoHost } from './github/github.ts';
import { createDriveA } from './google-drive/google-drive.ts';
import { createTracker } from './jira/jira.ts';
import { createDriveB } from './onedrive/onedrive.ts';
import { createWebConnector, type WebServices } from './web/web.ts';

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
