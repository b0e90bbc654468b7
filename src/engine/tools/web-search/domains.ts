/** Which hosts a search may find and a page may be opened from. */
export interface DomainFilter {
  /** Empty: all. */
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
}

/** A host name, in the form of the URL parser; undefined for what is none. `https://www.example.com/` counts as its host. */
export function parseDomain(text: string): string | undefined {
  const domainText = text.trim().replace(/^\*?\./, '');
  const url = URL.parse(/^https?:\/\//i.test(domainText) ? domainText : `http://${domainText}`);
  if (url === null || url.hostname === '' || url.username !== '' || url.port !== '') return undefined;
  const isPlain = url.pathname === '/' && url.search === '' && url.hash === '';
  return isPlain ? url.hostname.replace(/\.$/, '') : undefined;
}

/** Whether a filter lets a host pass. A domain stands for its subdomains too; what is blocked stays blocked below an allowed domain. */
export function mayVisit({ allowed: allowedDomains, blocked: blockedDomains }: DomainFilter, host: string): boolean {
  const name = host.replace(/\.$/, '').toLowerCase();
  const isWithin = (domain: string) => name === domain || name.endsWith(`.${domain}`);
  return !blockedDomains.some(isWithin) && (allowedDomains.length === 0 || allowedDomains.some(isWithin));
}
