import type { Connector, ConnectorServices } from '../connector.ts';
import { fetchWiki } from './fetch.ts';
import { listWiki } from './list.ts';

/**
 * Reads Confluence: a page, a page with all below it, a space, or all spaces, with attachments.
 *
 * @param drive  reads the files of Google Drive that pages link to.
 */
export function createWiki(services: ConnectorServices, drive: Connector): Connector {
  const all = { ...services, drive };
  return { list: (task) => listWiki(all, task), fetch: (task) => fetchWiki(all, task) };
}
