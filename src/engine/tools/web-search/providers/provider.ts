import type { WireObject } from '../../../../entities/conversations/runs/response.ts';

/** What a search service is asked. */
export interface WebQuery {
  readonly query: string;
  readonly resultsMax: number;
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  readonly location: UserLocation | undefined;
}

/** Where the user is, roughly. Every member is the caller's text. */
export interface UserLocation {
  readonly city?: string;
  readonly region?: string;
  /** Two letters of ISO 3166, or a name. */
  readonly country?: string;
  readonly timezone?: string;
}

/** A page that a search found. */
export interface WebResult {
  readonly url: string;
  readonly title: string;
  readonly snippet: string;
  /** As the service wrote it; null when it did not. */
  readonly date: string | null;
}

export interface ProviderRequest {
  /** Below the base address: begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON by POST; undefined: GET. */
  readonly body?: WireObject;
}

/** How one kind of search service is asked, and how it answers. */
export interface SearchProvider {
  request(query: WebQuery, apiKey: string | undefined): ProviderRequest;
  /** The results in the service's order, unchecked. @returns undefined for a reply of another shape. */
  results(reply: WireObject): readonly unknown[] | undefined;
  read(result: WireObject): { readonly url: unknown; readonly title: unknown; readonly snippet: unknown; readonly date: unknown };
}

/** Operators in a query grow with the domains: with more, the results are only filtered afterwards. */
const operatorsMax = 10;

/** The query with operators for its domains, for services that have no members for them. */
export function withSiteOperators({ query, allowedDomains, blockedDomains }: WebQuery): string {
  const sites = allowedDomains.map((domain) => `site:${domain}`);
  const allowedOperators =
    sites.length === 0 || sites.length > operatorsMax ? [] : [sites.length === 1 ? sites.join('') : `(${sites.join(' OR ')})`];
  const blockedOperators = blockedDomains.length > operatorsMax ? [] : blockedDomains.map((domain) => `-site:${domain}`);
  return [query, ...allowedOperators, ...blockedOperators].join(' ');
}
