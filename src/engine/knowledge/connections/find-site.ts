import type { Connection } from '../../../entities/knowledge/connection.ts';
import {
  type AtlassianProduct,
  type AtlassianSite,
  listOfSites,
  loadSites,
  matchSite,
  productNames,
} from '../connectors/atlassian/site.ts';
import type { ConnectorServices } from '../connectors/connector.ts';
import { SourceError } from '../connectors/error.ts';

/** A person waits for the answer. */
const timeoutMs = 5_000;

/** What a source would read, or why nothing chooses a site, with the sites for people. */
export type SiteMatch =
  | { readonly site: AtlassianSite }
  | { readonly unfit: 'cloudId' | 'baseUrl' | 'choice'; readonly product: string; readonly sites: string };

/**
 * The site of a product that a source would read with a connection.
 *
 * @returns undefined where the service does not say in five seconds, or refuses the connection: the runs of the source tell of that, and go on by
 *   themselves once it is well.
 */
export async function findSite(
  services: Pick<ConnectorServices, 'settings' | 'vendors' | 'tokens'>,
  product: AtlassianProduct,
  connection: Connection,
  cloudId: string | undefined,
): Promise<SiteMatch | undefined> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const token = await services.tokens.open(connection.id, connection);
    const sites = await loadSites(services, product, token, signal, 1);
    if (sites.length === 0) return undefined;
    const siteMatch = matchSite(sites, { cloudId, baseUrl: connection.baseUrl });
    if (typeof siteMatch === 'object') return { site: siteMatch };
    return { unfit: siteMatch, product: productNames[product], sites: listOfSites(sites) };
  } catch (error) {
    if (error instanceof SourceError || signal.aborted) return undefined;
    throw error;
  }
}
