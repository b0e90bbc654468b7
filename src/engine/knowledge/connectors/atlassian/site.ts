import { membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import type { OpenConnection } from '../../connections/tokens.ts';
import type { ConnectorServices, SyncedSource } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { ServiceReply, ServiceRequest, ServiceToken } from '../service-client/client.ts';

export type AtlassianProduct = 'confluence' | 'jira';

export const productNames: Readonly<Record<AtlassianProduct, string>> = { confluence: 'Confluence', jira: 'Jira' };

/** A site of Atlassian's cloud that an account may read. */
export interface AtlassianSite {
  readonly cloudId: string;
  readonly name: string;
  /** Where people open it, such as `https://acme.atlassian.net`. */
  readonly url: string;
}

export type Query = Readonly<Record<string, string | undefined>>;

/** Makes requests to one product of one site. */
export interface SiteApi {
  /** @param path  below the product's address, such as `/wiki/api/v2/spaces`. */
  request(path: string, query?: Query): ServiceRequest;
}

/** The sites that an account may read with a product, each once. @throws SourceError, or the signal's reason. */
export async function loadSites(
  services: Pick<ConnectorServices, 'settings' | 'vendors'>,
  product: AtlassianProduct,
  token: ServiceToken,
  signal: AbortSignal,
  attempts?: number,
): Promise<readonly AtlassianSite[]> {
  const url = `${readBaseUrl(services)}/oauth/token/accessible-resources`;
  const service = productNames[product];
  const tries = attempts === undefined ? {} : { attempts };
  const reply = await services.vendors.json({ service, url, token, refusal: atlassianRefusal(service), ...tries }, signal);
  if (!Array.isArray(reply)) throw new SourceError('BAD_REPLY', `${service} did not say which sites the account may read.`);
  const all = readElements(reply).map((resource) => {
    const { id, name, url: address, scopes } = membersOf(resource);
    const site = {
      cloudId: readString(id) ?? '',
      name: readString(name) ?? '',
      url: (readString(address) ?? '').replace(/(?<!\/)\/+$/, ''),
    };
    return { ...site, isOfProduct: readElements(scopes).some((scope) => readString(scope)?.includes(product) === true) };
  });
  // A site with both products is listed once for each. Scopes that name neither product say nothing of it.
  const ofProduct = all.some(({ isOfProduct }) => isOfProduct) ? all.filter(({ isOfProduct }) => isOfProduct) : all;
  const byId = new Map(ofProduct.map(({ cloudId, name, url: address }) => [cloudId, { cloudId, name, url: address }]));
  byId.delete('');
  return [...byId.values()];
}

/** What chooses a site: the source's `cloudId`, else the connection's `baseUrl`. */
export interface SiteChoice {
  readonly cloudId: string | undefined;
  readonly baseUrl: string | null;
}

/**
 * The site that a source reads: the one with the source's `cloudId`, else the one at the connection's `baseUrl`, else the only one. Otherwise the member
 * that names none of the sites; `choice` where several are left and nothing was named.
 */
export function matchSite(
  sites: readonly AtlassianSite[],
  { cloudId, baseUrl }: SiteChoice,
): AtlassianSite | 'cloudId' | 'baseUrl' | 'choice' {
  if (cloudId !== undefined) return sites.find((site) => site.cloudId === cloudId) ?? 'cloudId';
  if (baseUrl !== null) return sites.find((site) => readHost(site.url) === readHost(baseUrl)) ?? 'baseUrl';
  const [only, ...others] = sites;
  return only === undefined || others.length > 0 ? 'choice' : only;
}

/** Sites for people, each with its id. */
export function listOfSites(sites: readonly AtlassianSite[]): string {
  return sites.map((site) => `${site.name} (${site.url}, cloudId ${site.cloudId})`).join('; ');
}

/**
 * The site that a source reads, see `matchSite`.
 *
 * @throws SourceError CONFIGURATION, with a list of the sites, where nothing names one of them; AUTH where there is none.
 */
export function chooseSite(sites: readonly AtlassianSite[], product: AtlassianProduct, choice: SiteChoice): AtlassianSite {
  const name = productNames[product];
  if (sites.length === 0) {
    throw new SourceError(
      'AUTH',
      `The connected account may read no ${name} site: connect one that may, and agree to the access.`,
    );
  }
  const siteMatch = matchSite(sites, choice);
  if (typeof siteMatch === 'object') return siteMatch;
  const why = {
    cloudId: "The source's cloudId is no site of the account.",
    baseUrl: `The connection's baseUrl is no ${name} site of the account.`,
    choice: `The account may read several ${name} sites: set the cloudId of the source, or connect with the baseUrl of one.`,
  }[siteMatch];
  throw new SourceError('CONFIGURATION', `${why} The account may read ${listOfSites(sites)}.`);
}

/** The connection of a source. @throws SourceError AUTH, CONFIGURATION. */
export async function openConnection(
  { tokens }: Pick<ConnectorServices, 'tokens'>,
  { data, orgId, ownerUserId }: SyncedSource,
): Promise<OpenConnection> {
  const id = readString(data.oauthTokenId);
  if (id === undefined) throw new SourceError('CONFIGURATION', 'The source names no connection: add it again with oauthTokenId.');
  return tokens.open(id, { orgId, ownerUserId });
}

/** A site with a way to call it. */
export interface OpenSite extends SiteApi {
  readonly site: AtlassianSite;
}

/** The site of a source. @throws SourceError, or the signal's reason. */
export async function openSite(
  services: ConnectorServices,
  product: AtlassianProduct,
  source: SyncedSource,
  signal: AbortSignal,
): Promise<OpenSite> {
  return openFoundSite(services, product, await openConnection(services, source), signal, readString(source.data.cloudId));
}

/** The site of a connection. @throws like `chooseSite`. */
export async function openFoundSite(
  services: Pick<ConnectorServices, 'settings' | 'vendors'>,
  product: AtlassianProduct,
  open: OpenConnection,
  signal: AbortSignal,
  cloudId?: string,
): Promise<OpenSite> {
  const { baseUrl } = open.connection;
  const site = chooseSite(await loadSites(services, product, open, signal), product, { cloudId, baseUrl });
  return { ...siteApi(services, product, site.cloudId, open), site };
}

/** Calls a site whose cloud id is known, such as that of a listed item. */
export function siteApi(
  services: Pick<ConnectorServices, 'settings'>,
  product: AtlassianProduct,
  cloudId: string,
  token: ServiceToken,
): SiteApi {
  const service = productNames[product];
  const base = `${readBaseUrl(services)}/ex/${product}/${encodeURIComponent(cloudId)}`;
  return {
    request(path, query = {}) {
      const queryEntries = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const search = queryEntries.length === 0 ? '' : `?${new URLSearchParams(queryEntries)}`;
      return { service, url: `${base}${path}${search}`, token, refusal: atlassianRefusal(service) };
    },
  };
}

function readBaseUrl({ settings }: Pick<ConnectorServices, 'settings'>): string {
  return settings.ATLASSIAN_API_URL.replace(/(?<!\/)\/+$/, '');
}

function readHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** What a refusal means where its body says more than its status. */
function atlassianRefusal(service: string): (reply: ServiceReply) => SourceError | undefined {
  return ({ status, body }) => {
    const isAboutScopes = (status === 401 || status === 403) && /scope/i.test(body.toString('utf8', 0, 4_096));
    if (!isAboutScopes) return undefined;
    return new SourceError('AUTH', `The connection does not allow ${service} to be read: connect it again, and agree to that.`);
  };
}

/** A text of a reply; a number, as some ids are, as text. */
export function readText(value: unknown): string {
  return typeof value === 'number' ? String(value) : (readString(value) ?? '');
}
