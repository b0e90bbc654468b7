import type { SearchProvider } from './provider.ts';

const resultsMax = 20;
const domainsMax = 150;

/** Tavily. It knows countries by their English names. */
export const tavily: SearchProvider = {
  request: ({ query, allowedDomains, blockedDomains, location, ...more }, apiKey) => ({
    path: '/search',
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    body: {
      query,
      max_results: Math.min(more.resultsMax, resultsMax),
      ...(allowedDomains.length === 0 ? {} : { include_domains: allowedDomains.slice(0, domainsMax) }),
      ...(blockedDomains.length === 0 ? {} : { exclude_domains: blockedDomains.slice(0, domainsMax) }),
      ...(location?.country === undefined ? {} : { country: toCountryName(location.country) }),
    },
  }),
  results: ({ results }) => (Array.isArray(results) ? results : undefined),
  read: ({ url, title, content, published_date: date }) => ({ url, title, snippet: content, date }),
};

function toCountryName(country: string): string {
  const isCode = /^[A-Za-z]{2}$/.test(country);
  const name = isCode ? new Intl.DisplayNames(['en'], { type: 'region' }).of(country.toUpperCase()) : country;
  return (name ?? country).toLowerCase();
}
