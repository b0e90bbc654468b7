import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { displayValue } from '../../lib/text/display-value.ts';

/** Where blobs are kept. */
export type BlobAddress = { readonly kind: 'folder'; readonly path: string } | ({ readonly kind: 's3' } & S3Address);

export interface S3Address {
  readonly bucket: string;
  /** What every key begins with: empty, or with a slash at its end. */
  readonly prefix: string;
  /** Undefined is AWS itself. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  /** `https://host/bucket/key` instead of `https://bucket.host/key`. */
  readonly isPathStyle: boolean;
}

export const blobAddressGrammar =
  'file:///folder, or s3://bucket/prefix?endpoint=https://host&region=name&pathStyle=true (all behind the bucket may be left out; pathStyle is true with an endpoint, else false)';
const bucketPattern = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i;
const prefixPattern = /^(?:[a-zA-Z0-9_-][a-zA-Z0-9_.-]*\/)*$/;
const regionPattern = /^[a-z0-9-]+$/;
const optionNames = ['endpoint', 'region', 'pathStyle'];

/**
 * Reads BLOB_URL.
 *
 * @throws Error that says what is wrong and what is allowed, without the secrets that stand in the text.
 */
export function parseBlobAddress(text: string): BlobAddress {
  const refuse = (reason: string): never => {
    throw new Error(`BLOB_URL must be ${blobAddressGrammar}, not ${displayValue('BLOB_URL', text)}: ${reason}`);
  };
  if (!URL.canParse(text)) return refuse('it is no address');
  const url = new URL(text);
  if (url.protocol === 'file:') {
    if (url.search !== '' || url.hash !== '') refuse('a folder takes no options');
    try {
      return { kind: 'folder', path: fileURLToPath(url) };
    } catch {
      return refuse('it names a folder of another machine');
    }
  }
  if (url.protocol !== 's3:') return refuse(`${url.protocol} is not known`);
  if (url.username !== '' || url.password !== '') refuse('keys belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  if (!bucketPattern.test(url.hostname)) refuse('its bucket has no valid name');
  const folder = url.pathname.replace(/^\/+|\/+$/g, '');
  const prefix = folder === '' ? '' : `${folder}/`;
  if (!prefixPattern.test(prefix)) refuse('a prefix has letters, digits, dots, dashes and slashes');
  const unknown = [...url.searchParams.keys()].find((name) => !optionNames.includes(name));
  if (unknown !== undefined) refuse(`${unknown} is no option`);
  const option = (name: string) => url.searchParams.get(name) ?? undefined;
  const [endpoint, region, pathStyle] = [option('endpoint'), option('region'), option('pathStyle')];
  if (endpoint !== undefined && !isEndpoint(endpoint)) refuse('the endpoint is no http or https address of a host');
  if (region !== undefined && !regionPattern.test(region)) refuse('the region has letters, digits and dashes');
  if (pathStyle !== undefined && pathStyle !== 'true' && pathStyle !== 'false') refuse('pathStyle is true or false');
  return {
    kind: 's3',
    bucket: url.hostname,
    prefix,
    endpoint: endpoint?.replace(/(?<!\/)\/+$/, ''),
    region,
    isPathStyle: pathStyle === undefined ? endpoint !== undefined : pathStyle === 'true',
  };
}

/** Named here, because the list of settings reads this file. */
interface BlobSettings {
  readonly BLOB_URL?: string | undefined;
  readonly DATA_DIR: string;
}

/** Where the blobs of these settings are. */
export function readBlobAddress({ BLOB_URL, DATA_DIR }: BlobSettings): BlobAddress {
  return BLOB_URL === undefined ? { kind: 'folder', path: join(DATA_DIR, 'blobs') } : parseBlobAddress(BLOB_URL);
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, pathname, search } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && hostname !== '' && username === '' && pathname === '/' && search === '';
}
