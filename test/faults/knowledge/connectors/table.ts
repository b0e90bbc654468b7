import type { UpstreamKind } from '../../../support/knowledge/upstreams/kind.ts';
import * as items from './items.ts';
import * as listings from './listings.ts';
import * as replies from './replies.ts';
import type { Scene } from './scene.ts';
import * as tokens from './tokens.ts';

const connectors = ['web page', 'drive A file', 'drive B file', 'wiki page', 'tracker issue', 'repository file'] as const;
type Connector = (typeof connectors)[number];

interface Check {
  readonly check: (scene: Scene) => Promise<void>;
  /** What the source is besides, so that the fault can happen. */
  readonly more?: (kind: UpstreamKind) => object;
}
/** A text says why a fault cannot happen with a connector. */
type Row = Readonly<Record<Connector, Check | string>>;

const noTokens = 'pages are read without an account';
const noSize = 'the listing names no sizes';

function row(check: Check['check'], not: Partial<Record<Connector, Check['check'] | string>> = {}, more?: Check['more']): Row {
  const cell = (given: Check['check'] | string): Check | string =>
    typeof given === 'string' ? given : { check: given, ...(more === undefined ? {} : { more }) };
  return Object.fromEntries(connectors.map((name) => [name, cell(not[name] ?? check)])) as unknown as Row;
}

const endlessMore = (kind: UpstreamKind) => kind.faults.endless?.input ?? {};

/** Every fault with every connector. */
export const faults: Readonly<Record<string, Row>> = {
  'an access token ends': row(tokens.tokenExpires, { 'web page': noTokens }),
  'a refresh token is used up by its use': row(tokens.refreshTokenRotates, {
    'web page': noTokens,
    'repository file': 'tokens of an installation are made with the key of the App',
  }),
  'the account is disconnected': row(tokens.refreshTokenIsRevoked, { 'web page': noTokens }),
  '429 with Retry-After, in the listing': row(replies.isSlowedDown('listing')),
  '429 with Retry-After, in a document': row(replies.isSlowedDown('content')),
  '5xx twice': row(replies.failsForAWhile),
  '5xx for longer than a request is repeated': row(replies.failsForLong, {
    'web page': 'the crawler asks for the next pages meanwhile, and reads one that failed three times at the next refresh',
  }),
  'the connection breaks within a body': row(replies.bodyEnds('cut')),
  'a body is shorter than its Content-Length': row(replies.bodyEnds('short')),
  'a slow server': row(replies.bodyEnds('stall')),
  'a listing without its last part': row(listings.isTruncated, { 'web page': listings.startIsCut }),
  'malformed JSON once': row(listings.isMalformedOnce, { 'web page': 'sites answer in no JSON' }),
  'malformed JSON for good': row(listings.isMalformed, { 'web page': 'sites answer in no JSON' }),
  'one document is hidden': row(items.itemIsHidden),
  'all is hidden': row(listings.rootIsHidden),
  'a document changes meanwhile': row(items.itemChangesMeanwhile),
  'a document is deleted meanwhile': row(items.itemIsDeletedMeanwhile),
  'a redirect to a private address': row(items.isRedirectedInside, { 'web page': items.pageRedirectsInside }),
  'more content than the size says': row(items.sizeLies),
  'a size beyond the limit': row(items.isTooLarge, { 'wiki page': noSize, 'tracker issue': noSize }),
  'a name that leads out of a folder': row(items.isNamed('path')),
  'a name of control characters': row(items.isNamed('controls')),
  'a name of 10,000 characters': row(items.isNamed('long')),
  'a page that names itself as the next one': row(
    listings.isEndless('again'),
    { 'web page': listings.sitePagesAreEndless },
    endlessMore,
  ),
  'pages that name each other in a circle': row(
    listings.isEndless('one', 'two', 'three'),
    { 'web page': 'addresses that were read are not read again', 'repository file': 'pages are numbered' },
    endlessMore,
  ),
};
