import { isObject } from '../../../../lib/json/json.ts';
import { type SearchProvider, type UserLocation, withSiteOperators } from './provider.ts';

const countMax = 20;

/** The search of Brave. */
export const brave: SearchProvider = {
  request(query, apiKey) {
    const country = query.location?.country;
    const members = new URLSearchParams({
      q: withSiteOperators(query),
      count: String(Math.min(query.resultsMax, countMax)),
      text_decorations: 'false',
      ...(country !== undefined && /^[A-Za-z]{2}$/.test(country) ? { country: country.toUpperCase() } : {}),
    });
    return {
      path: `/res/v1/web/search?${members}`,
      headers: { ...placeHeaders(query.location), ...(apiKey === undefined ? {} : { 'x-subscription-token': apiKey }) },
    };
  },
  results({ web, type }) {
    if (isObject(web) && Array.isArray(web.results)) return web.results;
    // A search without a result has no member `web`.
    return web === undefined && type === 'search' ? [] : undefined;
  },
  read: ({ url, title, description, page_age: date }) => ({ url, title, snippet: description, date }),
};

/** A header takes plain characters only; other names are left out. */
function placeHeaders({ city, region, country, timezone }: UserLocation = {}): Readonly<Record<string, string>> {
  const placeValues = { 'x-loc-city': city, 'x-loc-state-name': region, 'x-loc-country': country, 'x-loc-timezone': timezone };
  return Object.fromEntries(
    Object.entries(placeValues).flatMap(([name, value]) =>
      value !== undefined && /^[\x20-\x7e]{1,100}$/.test(value) ? [[name, value]] : [],
    ),
  );
}
