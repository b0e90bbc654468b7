import { type SearchProvider, withSiteOperators } from './provider.ts';

/** SearXNG, whose settings must allow the format `json`. It has no member for a place. */
export const searxng: SearchProvider = {
  request(query, apiKey) {
    const members = new URLSearchParams({ q: withSiteOperators(query), format: 'json' });
    return { path: `/search?${members}`, headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` } };
  },
  results: ({ results }) => (Array.isArray(results) ? results : undefined),
  read: ({ url, title, content, publishedDate }) => ({ url, title, snippet: content, date: publishedDate }),
};
