import type { AtlassianProduct } from '../../engine/knowledge/connectors/atlassian/site.ts';
import { sourceKinds } from '../../engine/knowledge/connectors/registry.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { Connection } from '../../entities/knowledge/connection.ts';
import { type DataSource, isConnectedType } from '../../entities/knowledge/data-source.ts';
import type { Deps } from '../deps.ts';

/** What a source reads whose account may have several sites. */
export interface ReadWith {
  readonly product: AtlassianProduct;
  readonly oauthTokenId: string;
  readonly cloudId: string | undefined;
  /** Whose connection it is. */
  readonly owner: Pick<Connection, 'orgId' | 'ownerUserId'>;
}

/**
 * Chooses the site of such a source. A source keeps its choice, also when its account comes to see further sites.
 *
 * @returns the id of the site; `cloudId` as it is where the service does not say which sites there are.
 * @throws DomainError INVALID_VALUE naming the member that chooses no site, with a list of those that the account may read.
 */
export async function requireSite(
  { storage, knowledge }: Deps,
  { product, oauthTokenId, cloudId, owner }: ReadWith,
): Promise<string | undefined> {
  const connection = await storage.knowledge.connections.find(oauthTokenId, owner);
  const site = connection === undefined ? undefined : await knowledge.findSite(product, connection, cloudId);
  if (site === undefined) return cloudId;
  if ('site' in site) return site.site.cloudId;
  const { unfit, product: name, sites } = site;
  const message = {
    cloudId: `cloudId must name a ${name} site that the account may read: ${sites}`,
    baseUrl: `oauthTokenId names a connection whose baseUrl is no ${name} site of its account; give the cloudId of one of them: ${sites}`,
    choice: `cloudId is required, because the account may read several ${name} sites: ${sites}`,
  }[unfit];
  throw new DomainError('INVALID_VALUE', message, { param: unfit === 'baseUrl' ? 'oauthTokenId' : 'cloudId' });
}

/** The configuration of a source with another site; undefined where it has that one. @throws like `requireSite`, and for another kind of source. */
export async function dataAtSite(
  deps: Deps,
  { type, data, orgId, ownerUserId }: DataSource,
  siteId: string | undefined,
): Promise<DataSource['data'] | undefined> {
  const product = isConnectedType(type) ? sourceKinds[type].site : undefined;
  if (product === undefined) {
    throw new DomainError('INVALID_VALUE', 'cloudId belongs to wiki and tracker sources, which this one is not', {
      param: 'cloudId',
    });
  }
  const { cloudId: present, ...others } = data;
  const owner = { orgId, ownerUserId };
  const cloudId = await requireSite(deps, { product, oauthTokenId: String(data.oauthTokenId), cloudId: siteId, owner });
  if (cloudId === present) return undefined;
  return cloudId === undefined ? others : { ...others, cloudId };
}
