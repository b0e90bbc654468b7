import { Readable } from 'node:stream';
import { EgressError } from '../../../engine/egress/error.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import type { Deps } from '../../deps.ts';
import type { ReadSource } from './read-bundle.ts';

export type BundleItem = ReadSource['items'][number];

/** The bytes of one document, as a blob. */
export interface StoredContent {
  /** The knowledge item of the blob. */
  readonly itemId: string;
  readonly blobKey: string;
  readonly sizeBytes: number;
}

/** The contents that came with a bundle. Items that are not listed have none. */
export interface Contents {
  readonly byItem: ReadonlyMap<BundleItem, StoredContent>;
  /** Whether BUNDLE_FETCH_MAX_BYTES left something out. */
  readonly isCut: boolean;
}

/** Most addresses that one import fetches, and the time for all of them. */
const fetchesMax = 100;
const fetchesTimeoutMs = 60_000;

/** Blobs that an import writes before its rows. They are deleted again when the rows are not written. */
export class WrittenBlobs {
  readonly #deps: Deps;
  readonly #owner: ShareOwner;
  readonly #keys: string[] = [];

  constructor(deps: Deps, owner: ShareOwner) {
    this.#deps = deps;
    this.#owner = owner;
  }

  /** The owner of the bytes. */
  get owner(): ShareOwner {
    return this.#owner;
  }

  /** Writes the blob of a new knowledge item. @throws DomainError REQUEST_TOO_LARGE past `sizeBytesMax`. */
  async put(content: Readable | Uint8Array, sizeBytesMax: number): Promise<StoredContent> {
    const itemId = this.#deps.newId('knowledgeItem');
    const blobKey = `${this.#owner.orgId}/knowledge/${itemId}`;
    this.#keys.push(blobKey);
    const { sizeBytes } = await this.#deps.storage.blobs.put(blobKey, content, sizeBytesMax);
    return { itemId, blobKey, sizeBytes };
  }

  /** Deletes the blob of an empty document. */
  async drop({ blobKey }: StoredContent): Promise<void> {
    await this.#deps.storage.blobs.delete(blobKey);
  }

  async remove(): Promise<void> {
    for (const key of this.#keys.splice(0)) await this.#deps.storage.blobs.delete(key);
  }
}

/**
 * Writes the documents in the bundle, and those that it names by address, to blobs, one after the other: only the request itself is
 * in memory as a whole. Documents that cannot be fetched, or exceed BUNDLE_FETCH_MAX_BYTES, are left out.
 */
export async function storeContents(
  deps: Deps,
  sources: readonly ReadSource[],
  blobs: WrittenBlobs,
  signal: AbortSignal,
): Promise<Contents> {
  const { UPLOAD_MAX_BYTES, BUNDLE_FETCH_MAX_BYTES } = deps.settings;
  const byItem = new Map<BundleItem, StoredContent>();
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(fetchesTimeoutMs)]);
  let bytesLeft = BUNDLE_FETCH_MAX_BYTES;
  let isCut = false;
  let fetches = 0;
  for (const item of uploadedItems(sources)) {
    const own = bytesOfDataUrl(item.blobUrl);
    if (own !== undefined) byItem.set(item, await blobs.put(own, UPLOAD_MAX_BYTES));
    if (!isWebAddress(item.blobUrl) || fetches >= fetchesMax) continue;
    fetches += 1;
    const bytesMax = Math.min(UPLOAD_MAX_BYTES, bytesLeft);
    const storedContent = bytesMax > 0 ? await fetchTo(deps, item.blobUrl, blobs, bytesMax, inTime) : 'too large';
    signal.throwIfAborted();
    if (storedContent === 'too large') isCut ||= bytesMax < UPLOAD_MAX_BYTES;
    else if (storedContent !== undefined) {
      bytesLeft -= storedContent.sizeBytes;
      byItem.set(item, storedContent);
    }
  }
  return { byItem, isCut };
}

/** The contents that an import would find according to the bundle alone: nothing is fetched or written. */
export function foreseeContents({ newId }: Deps, sources: readonly ReadSource[]): Contents {
  const items = uploadedItems(sources);
  const fetchItems = new Set(items.filter(({ blobUrl }) => isWebAddress(blobUrl)).slice(0, fetchesMax));
  const there = items.filter((item) => fetchItems.has(item) || bytesOfDataUrl(item.blobUrl) !== undefined);
  return {
    byItem: new Map(there.map((item) => [item, { itemId: newId('knowledgeItem'), blobKey: '', sizeBytes: 0 }])),
    isCut: false,
  };
}

function uploadedItems(sources: readonly ReadSource[]): readonly BundleItem[] {
  return sources.filter(({ type }) => type === 'FILE_UPLOAD').flatMap(({ items }) => items);
}

function isWebAddress(url: string): boolean {
  return /^https?:/i.test(url);
}

function bytesOfDataUrl(url: string): Uint8Array | undefined {
  const base64 = /^data:[\w.+/-]*(?:;[\w.+-]+=[\w.+-]+)*;base64,([A-Za-z0-9+/]+={0,2})$/i.exec(url)?.[1];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
}

/** @returns undefined for a document that cannot be fetched or is empty. */
async function fetchTo(
  { egress, settings }: Deps,
  url: string,
  blobs: WrittenBlobs,
  bytesMax: number,
  signal: AbortSignal,
): Promise<StoredContent | 'too large' | undefined> {
  const request = { owner: blobs.owner, url, bytesMax, timeoutMs: settings.EGRESS_FETCH_TIMEOUT_MS };
  try {
    const storedContent = await egress.receive(request, signal, async ({ status }, content) =>
      status === 200 ? blobs.put(Readable.from(content, { objectMode: false }), bytesMax) : undefined,
    );
    if (storedContent?.sizeBytes !== 0) return storedContent;
    await blobs.drop(storedContent);
    return undefined;
  } catch (error) {
    if (!(error instanceof EgressError) && !signal.aborted) throw error;
    return error instanceof EgressError && error.code === 'TOO_LARGE' ? 'too large' : undefined;
  }
}
