import { createHash } from 'node:crypto';
import { cutText, storableText } from '../../../../lib/text/text.ts';
import type { EgressHead } from '../../../egress/egress.ts';
import { EgressError } from '../../../egress/error.ts';
import { ExtractError } from '../../extract/error.ts';
import type { ExistingItem, ListedItem } from '../connector.ts';
import { ofEgress, parseWait } from '../service-client/client.ts';
import { readAddress } from './address/address.ts';
import type { Scope } from './address/scope.ts';
import type { Entry } from './crawl-place.ts';
import { type Memory, MemoryFullError } from './memory.ts';
import { type DocumentKind, kindOfHead, toFilename } from './page/kind.ts';
import { conditionalHeaders, type PageMemory, pageMemory } from './page-memory.ts';
import type { WebDocument } from './reading/page-reader.ts';
import type { Robots } from './site/robots.ts';
import { bothDirectives, readRobotsDirectives } from './site/robots-directives.ts';
import { mayPass, type Visitor, visit } from './site/visitor.ts';

/** Larger pages are no pages. */
const pageBytesMax = 10 * 1024 * 1024;
const nameLengthMax = 200;

export interface ReadContext {
  readonly visitor: Visitor;
  readonly scope: Scope;
  readonly memory: Memory;
  /** The name of this crawler in robots tags. */
  readonly token: string;
  /** Most bytes of a file. */
  readonly fileBytesMax: number;
  /** No conditional requests. */
  readonly isForced: boolean;
}

/** A page or file that was read. */
export interface ReadDocument {
  readonly kind: DocumentKind;
  readonly item: Omit<ListedItem, 'content'>;
  readonly content: Uint8Array;
  /** Taken of the crawl's memory; the crawl gives them back. */
  readonly heldBytes: number;
  readonly hash: string;
  /** Those that the source covers. */
  readonly links: readonly string[];
  readonly canonical: string | undefined;
  readonly refresh: string | undefined;
  readonly isIndexed: boolean;
  /** Links that the source does not cover. */
  readonly leftOut: LeftOut;
}

export interface LeftOut {
  readonly excluded: number;
  readonly outside: number;
}

/** What became of an address. */
export type Outcome =
  | { readonly kind: 'READ'; readonly document: ReadDocument }
  | { readonly kind: 'UNCHANGED' }
  | { readonly kind: 'REDIRECT'; readonly to: string | undefined }
  | { readonly kind: 'GONE' }
  | { readonly kind: 'DISALLOWED' }
  /** The site does not show it, or it may not be asked for. */
  | { readonly kind: 'REFUSED'; readonly message: string; readonly isAnswer: boolean }
  /** Neither a page nor a file that was asked for. */
  | { readonly kind: 'UNWANTED' }
  | { readonly kind: 'TOO_LARGE'; readonly bytesMax: number }
  | { readonly kind: 'MEMORY_FULL' }
  /** May work the next time. */
  | {
      readonly kind: 'FAILED';
      readonly message: string;
      /** Whether the host did not answer at all. */
      readonly isSilent: boolean;
      readonly isFinal?: boolean;
    }
  | { readonly kind: 'SLOW_DOWN'; readonly waitMs: number | undefined; readonly message: string };

type Reply =
  | Outcome
  | { readonly kind: 'CONTENT'; readonly head: EgressHead; readonly said: DocumentKind | undefined; readonly bytes: Buffer };

/** Asks for one address and reads what is there. @throws the signal's reason. */
export async function readEntry(
  context: ReadContext,
  robots: Robots,
  entry: Entry,
  existingItem: ExistingItem | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const { url } = entry;
  if (!robots.allows(url)) return { kind: 'DISALLOWED' };
  const headers = context.isForced || existingItem === undefined ? {} : conditionalHeaders(existingItem, context.scope.key);
  const request = { url, headers, bytesMax: context.fileBytesMax, delayMs: robots.delayMs };
  try {
    const isConditional = Object.keys(headers).length > 0;
    const reply = await visit(context.visitor, request, signal, (head, content) =>
      readReply(context, entry, isConditional, head, content),
    );
    return reply.kind === 'CONTENT' ? await readContent(context, entry, existingItem, reply, signal) : reply;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MemoryFullError) return { kind: 'MEMORY_FULL' };
    if (error instanceof ExtractError) return { kind: 'FAILED', message: error.message, isSilent: false };
    if (!(error instanceof EgressError)) throw error;
    if (error.code === 'TOO_LARGE') return { kind: 'TOO_LARGE', bytesMax: context.fileBytesMax };
    const { message } = ofEgress(error);
    if (!mayPass(error)) return { kind: 'REFUSED', message, isAnswer: false };
    return { kind: 'FAILED', message, isSilent: error.code === 'UNREACHABLE' || error.code === 'TIMEOUT' };
  }
}

async function readReply(
  context: ReadContext,
  { url, kind }: Entry,
  isConditional: boolean,
  head: EgressHead,
  content: AsyncIterable<Uint8Array>,
): Promise<Reply> {
  const { status, headers } = head;
  const message = `${url} answered ${status}.`;
  if (status === 304 && isConditional) return { kind: 'UNCHANGED' };
  if (status === 404 || status === 410) return { kind: 'GONE' };
  if (status === 429 || status === 503) return { kind: 'SLOW_DOWN', waitMs: parseWait(headers['retry-after']), message };
  if (status >= 500 || status === 408 || status === 425) return { kind: 'FAILED', message, isSilent: false };
  if (status >= 400) return { kind: 'REFUSED', message, isAnswer: true };
  if (status >= 300 || status === 204) {
    return { kind: 'REDIRECT', to: headers.location === undefined ? undefined : readAddress(headers.location, url) };
  }
  if (kind === 'CHECK') return { kind: 'UNCHANGED' };
  const headKind = kindOfHead(headers['content-type'] ?? '', url);
  if (headKind === null || (headKind !== undefined && !context.scope.wanted.has(headKind))) return { kind: 'UNWANTED' };
  const bytesMax = headKind === 'PAGE' ? Math.min(pageBytesMax, context.fileBytesMax) : context.fileBytesMax;
  if (Number(headers['content-length'] ?? 0) > bytesMax) return { kind: 'TOO_LARGE', bytesMax };
  const bytes = await collect(context.memory, content, bytesMax);
  return bytes === undefined ? { kind: 'TOO_LARGE', bytesMax } : { kind: 'CONTENT', head, said: headKind, bytes };
}

/** @returns undefined for more than `bytesMax`. What is returned is taken of the memory. */
async function collect(memory: Memory, content: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer | undefined> {
  const blocks: Uint8Array[] = [];
  let bytes = 0;
  let isHandedOver = false;
  try {
    for await (const block of content) {
      memory.take(block.length);
      bytes += block.length;
      if (bytes > bytesMax) return undefined;
      blocks.push(block);
    }
    isHandedOver = true;
    return Buffer.concat(blocks);
  } finally {
    if (!isHandedOver) memory.give(bytes);
  }
}

type Content = Extract<Reply, { kind: 'CONTENT' }>;

async function readContent(
  context: ReadContext,
  { url }: Entry,
  existingItem: ExistingItem | undefined,
  reply: Content,
  signal: AbortSignal,
): Promise<Outcome> {
  const { memory, scope, fileBytesMax } = context;
  const { bytes } = reply;
  let isHandedOver = false;
  try {
    const lookResult = await lookAt(context, url, existingItem, reply, signal);
    const { kind, content } = lookResult;
    if (kind === null || !scope.wanted.has(kind)) return { kind: 'UNWANTED' };
    const bytesMax = kind === 'PAGE' ? Math.min(pageBytesMax, fileBytesMax) : fileBytesMax;
    // Text of other charsets is longer in UTF-8.
    if (bytes.length > bytesMax || content.length > fileBytesMax) return { kind: 'TOO_LARGE', bytesMax };
    isHandedOver = true;
    return { kind: 'READ', document: toDocument(context, url, reply, kind, lookResult) };
  } finally {
    if (!isHandedOver) memory.give(bytes.length);
  }
}

interface Looked extends WebDocument {
  readonly hash: string;
}

/**
 * Looks at a reply in the process that reads pages. What that process could not read is given on as it came, without its links: the index has the last
 * word, and stores why. The hash of its bytes says so, and they are not looked at again.
 */
async function lookAt(
  { scope, token, visitor }: ReadContext,
  url: string,
  existingItem: ExistingItem | undefined,
  { head, bytes, said: headKind }: Content,
  signal: AbortSignal,
): Promise<Looked> {
  const unread = {
    kind: headKind ?? 'PAGE',
    content: bytes,
    page: null,
    links: [],
    hash: `unread1-${hashBytes(bytes)}`,
  } as const;
  if (existingItem?.changeKey === unread.hash) return unread;
  const { pages, owner } = visitor;
  const question = { url, contentType: head.headers['content-type'] ?? '', said: headKind ?? null, token, scope: scope.facts };
  try {
    const document = await pages.document(owner, bytes, question, signal);
    return { ...document, hash: document.page?.textHash ?? `bytes1-${hashBytes(bytes)}` };
  } catch (error) {
    if (error instanceof ExtractError && !error.isRetryable) return unread;
    throw error;
  }
}

function toDocument(
  { scope, token }: ReadContext,
  url: string,
  { head, bytes }: Content,
  kind: DocumentKind,
  { content, hash, links: foundLinks, page }: Looked,
): ReadDocument {
  const { headers } = head;
  const header = readRobotsDirectives(headers['x-robots-tag'], token);
  const { isFollowed, isIndexed } = page === null ? header : bothDirectives(header, page.directives);
  const links = isFollowed ? foundLinks : [];
  const name = kind === 'PAGE' ? (page?.title ?? '') : toFilename(url, kind);
  return {
    ...{ kind, content, hash, links, isIndexed, heldBytes: bytes.length },
    item: toItem({ url, head, name, kind, hash, content, kept: pageMemory(headers, links, scope, hash) }),
    canonical: page?.canonical ?? readCanonical(headers.link, url),
    refresh: page?.refresh ?? undefined,
    leftOut: page?.leftOut ?? { excluded: 0, outside: 0 },
  };
}

/** The number before it changes when other bytes are hashed. */
function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

interface ItemFacts {
  readonly url: string;
  readonly head: EgressHead;
  readonly name: string;
  readonly kind: DocumentKind;
  readonly hash: string;
  readonly content: Uint8Array;
  readonly kept: PageMemory;
}

function toItem({ url, head, name, kind, hash, content, kept: keptMemory }: ItemFacts): Omit<ListedItem, 'content'> {
  const mimeType = (head.headers['content-type'] ?? '').split(';', 1)[0]?.trim() ?? '';
  return {
    ...{ uniqueId: url, parentUniqueId: null, url, changeKey: hash },
    name: chooseName(name, url),
    filename: toFilename(url, kind),
    mimeType: kind === 'PAGE' ? 'text/html' : mimeType || 'application/octet-stream',
    sizeBytes: content.length,
    // What the server says of the page; the rest of the memory is for the next crawl.
    metadata: Object.fromEntries(
      Object.entries({ etag: keptMemory.etag, lastModified: keptMemory.lastModified }).filter(([, value]) => value !== undefined),
    ),
    notes: { ...keptMemory },
  };
}

/** For people: the title, else the path. */
export function chooseName(title: string, url: string): string {
  const { host, pathname, search } = new URL(url);
  return cutText(storableText(title.trim() || `${pathname === '/' ? host : pathname}${search}`), nameLengthMax);
}

/** The canonical address of a `Link` header. */
function readCanonical(header: string | undefined, base: string): string | undefined {
  for (const [, href = '', parameters = ''] of (header ?? '').slice(0, 8_192).matchAll(/<([^<>]*)>([^,<]*)/g)) {
    if (/;\s*rel\s*=\s*"?canonical\b/i.test(parameters)) return readAddress(href, base);
  }
  return undefined;
}
