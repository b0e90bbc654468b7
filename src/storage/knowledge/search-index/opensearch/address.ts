/** Where the search index is: SEARCH_INDEX_URL. */
export interface SearchIndexAddress {
  readonly origin: string;
  /** The value of the header; undefined without a user. */
  readonly authorization: string | undefined;
  /** Names of indexes and aliases begin with it. */
  readonly prefix: string;
}

export const searchIndexGrammar = 'an address such as https://user:password@search.example.com:9200/parley';

const prefixDefault = 'parley';

/** @throws Error in words for who starts the service. They never show the address, which may have a password. */
export function parseSearchIndexAddress(text: string): SearchIndexAddress {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '' || url.search !== '' || url.hash !== '')
    throw new Error(`SEARCH_INDEX_URL must be ${searchIndexGrammar}`);
  const prefix = url.pathname.replace(/^\/|\/$/g, '') || prefixDefault;
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(prefix))
    throw new Error(
      'SEARCH_INDEX_URL must end with a prefix of at most 64 small letters, digits, - and _, such as https://search.example.com:9200/parley',
    );
  const user = decoded(url.username);
  const password = decoded(url.password);
  const authorization =
    user === '' && password === '' ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return { origin: url.origin, authorization, prefix };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('SEARCH_INDEX_URL must have the signs of its user and password percent-encoded');
  }
}
