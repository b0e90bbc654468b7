import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import { isObject } from '../../../lib/json/json.ts';
import { oneLine } from '../../../lib/text/text.ts';
import { type DomainFilter, parseDomain } from './domains.ts';
import type { UserLocation } from './providers/provider.ts';

/** How much of what is found is read. */
export interface ContextSize {
  readonly resultsMax: number;
  readonly pageCharsMax: number;
}

export interface WebSearchOptions {
  readonly filter: DomainFilter;
  readonly location: UserLocation | undefined;
  readonly size: ContextSize;
  readonly includesX: boolean;
}

const sizes: Readonly<Record<string, ContextSize>> = {
  low: { resultsMax: 4, pageCharsMax: 6_000 },
  medium: { resultsMax: 8, pageCharsMax: 15_000 },
  high: { resultsMax: 16, pageCharsMax: 40_000 },
};
const medium: ContextSize = { resultsMax: 8, pageCharsMax: 15_000 };
const placeMax = 100;

/** The options of a checked request. */
export function readOptions(options: WireObject): WebSearchOptions {
  const { filters, user_location: location, search_context_size: size } = options;
  const { allowed_domains: allowedValue, blocked_domains: blockedValue } = isObject(filters) ? filters : {};
  return {
    filter: { allowed: readDomains(allowedValue), blocked: readDomains(blockedValue) },
    location: isObject(location) ? readLocation(location) : undefined,
    size: (typeof size === 'string' ? sizes[size] : undefined) ?? medium,
    includesX: includesX(options),
  };
}

/** Notes domains that are none, and X search where this instance has none. */
export function checkOptions(options: WireObject, at: string, hasX: boolean, faults: FaultNotes): void {
  for (const name of ['allowed_domains', 'blocked_domains']) {
    const filterValue = isObject(options.filters) ? options.filters[name] : undefined;
    if (!Array.isArray(filterValue)) continue;
    for (const [index, domain] of filterValue.entries()) {
      const place = `${at}.filters.${name}[${index}]`;
      if (parseDomain(String(domain)) === undefined) faults.add(place, `${place} must be a domain such as example.com`);
    }
  }
  if (hasX || !includesX(options)) return;
  const member = options.include_x_search === undefined ? 'includeXSearch' : 'include_x_search';
  const message = `${at}.${member} cannot be served here: posts cannot be searched; the setting X_SEARCH_URL switches it on`;
  faults.add(`${at}.${member}`, message, 'UNSUPPORTED_VALUE');
}

function includesX(options: WireObject): boolean {
  return options.includeXSearch === true || options.include_x_search === true;
}

function readDomains(domainsValue: unknown): readonly string[] {
  return Array.isArray(domainsValue) ? domainsValue.flatMap((domain) => parseDomain(String(domain)) ?? []) : [];
}

function readLocation(locationValue: WireObject): UserLocation | undefined {
  const members = ['city', 'region', 'country', 'timezone'].flatMap((name) => {
    const value = locationValue[name];
    return typeof value === 'string' && value.trim() !== ''
      ? [[name, oneLine(value).slice(0, placeMax).toWellFormed()] as const]
      : [];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
