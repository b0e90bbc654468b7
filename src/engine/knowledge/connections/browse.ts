import type { Connection } from '../../../entities/knowledge/connection.ts';
import { SourceError } from '../connectors/error.ts';
import { sourceKinds } from '../connectors/registry.ts';
import type { BrowsePage, BrowseQuery, BrowseServices } from './browser.ts';

/**
 * Lists what could be added from a connection, for a person who picks: the children of a parent, or what a search finds.
 *
 * @throws SourceError: CONFIGURATION for a connection without such things, BAD_REPLY for a cursor that is not of this list; else like a connector.
 */
export async function browse(
  services: BrowseServices,
  connection: Connection,
  query: BrowseQuery,
  signal: AbortSignal,
): Promise<BrowsePage> {
  const { provider } = connection;
  const browser = provider === 'MCP' ? undefined : sourceKinds[provider].browse;
  if (browser === undefined) {
    throw new SourceError('CONFIGURATION', `Connections of the kind ${provider} have nothing that could be browsed.`);
  }
  return browser(services, connection, query, signal);
}
