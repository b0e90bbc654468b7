import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Connector, ConnectorServices } from './connector.ts';

/** The connectors by the kind of their sources. */
export type Connectors = Readonly<Partial<Record<ConnectedType, Connector>>>;

export function createConnectors(_services: ConnectorServices): Connectors {
  return {};
}
