import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Connector, ConnectorServices } from './connector.ts';
import { createRepoHost } from './repo-host/repo-host.ts';
import { createTracker } from './tracker/tracker.ts';
import { createWiki } from './wiki/wiki.ts';

/** The connectors by the kind of their sources. */
export type Connectors = Readonly<Partial<Record<ConnectedType, Connector>>>;

export function createConnectors(services: ConnectorServices): Connectors {
  return { REPO_HOST: createRepoHost(services), WIKI: createWiki(services), TRACKER: createTracker(services) };
}
