import type { Connection, ConnectionProvider } from '../../../entities/knowledge/connection.ts';
import { browseWiki } from '../connectors/confluence/browse.ts';
import { SourceError } from '../connectors/error.ts';
import { browseRepoHost } from '../connectors/github/browse.ts';
import { browseDriveA } from '../connectors/google-drive/browse.ts';
import { browseTracker } from '../connectors/jira/browse.ts';
import { browseDriveB } from '../connectors/onedrive/browse.ts';
import type { BrowsePage, BrowseQuery, Browser, BrowseServices } from './browser.ts';

const browsers: Readonly<Partial<Record<ConnectionProvider, Browser>>> = {
  DRIVE_A: browseDriveA,
  DRIVE_B: browseDriveB,
  REPO_HOST: browseRepoHost,
  TRACKER: browseTracker,
  WIKI: browseWiki,
};

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
  const browser = browsers[connection.provider];
  if (browser === undefined) {
    throw new SourceError('CONFIGURATION', `Connections of the kind ${connection.provider} have nothing that could be browsed.`);
  }
  return browser(services, connection, query, signal);
}
