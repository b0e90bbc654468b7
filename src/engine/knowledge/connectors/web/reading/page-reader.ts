import type { FairQueue } from '../../../../../lib/flow/fair-queue.ts';
import type { ShareOwner } from '../../../../../lib/flow/fair-share.ts';
import type { Settings } from '../../../../../settings.ts';
import type { Answer, ExtractLimits } from '../../../extract/document.ts';
import { ExtractError, type Extractor } from '../../../extract/extract.ts';
import {
  type DocumentFacts,
  type DocumentQuestion,
  documentFacts,
  type SitemapQuestion,
  sitemapFacts,
  type WebQuestion,
} from './question.ts';

/** What a document of a site is. */
export interface WebDocument {
  readonly kind: DocumentFacts['kind'];
  /** In UTF-8, where it is text. */
  readonly content: Uint8Array;
  /** Of a page. */
  readonly page: DocumentFacts['page'];
  /** Of a page: absolute, without repetition, in its order; those that the scope of the question covers. */
  readonly links: readonly string[];
}

export interface Sitemap {
  readonly pages: readonly string[];
  readonly sitemaps: readonly string[];
  readonly leftOut: { readonly excluded: number; readonly outside: number };
}

/**
 * Looks at what sites sent, in a process of its own with a time and memory. Each call takes a place of its owner.
 *
 * @throws ExtractError for bytes that end the process or exceed its limits; the signal's reason.
 */
export interface PageReader {
  document(
    owner: ShareOwner,
    bytes: Uint8Array,
    question: Omit<DocumentQuestion, 'kind'>,
    signal: AbortSignal,
  ): Promise<WebDocument>;
  /** @param path  of a file with the bytes. */
  sitemap(owner: ShareOwner, path: string, question: Omit<SitemapQuestion, 'kind'>, signal: AbortSignal): Promise<Sitemap>;
}

export interface PageReaderOptions {
  /** Of the program `web-reader-process.ts`. */
  readonly extractor: Pick<Extractor, 'ask'>;
  readonly places: FairQueue;
  readonly settings: Settings;
}

export function createPageReader({ extractor, places, settings }: PageReaderOptions): PageReader {
  const limits: ExtractLimits = {
    timeoutMs: settings.EXTRACT_TIMEOUT_MS,
    memoryMaxBytes: settings.EXTRACT_MEMORY_MAX_BYTES,
    textMaxChars: settings.EXTRACT_TEXT_MAX_CHARS,
  };
  const ask = async (
    owner: ShareOwner,
    content: { readonly path: string } | { readonly bytes: Uint8Array },
    question: WebQuestion,
    signal: AbortSignal,
  ): Promise<Answer> => {
    await places.take(owner, signal);
    try {
      return await extractor.ask({ content, question }, limits, signal);
    } finally {
      places.give(owner);
    }
  };
  return {
    async document(owner, bytes, question, signal) {
      const { text, lists, value } = await ask(owner, { bytes }, { kind: 'document', ...question }, signal);
      const { kind, isTextGiven, page } = valid(documentFacts.safeParse(value).data);
      return { kind, page, content: isTextGiven ? Buffer.from(text) : bytes, links: lists.links ?? [] };
    },
    async sitemap(owner, path, question, signal) {
      const { lists, value } = await ask(owner, { path }, { kind: 'sitemap', ...question }, signal);
      const { leftOut } = valid(sitemapFacts.safeParse(value).data);
      return { pages: lists.pages ?? [], sitemaps: lists.sitemaps ?? [], leftOut };
    },
  };
}

function valid<T>(facts: T | undefined): T {
  if (facts === undefined)
    throw new ExtractError('CORRUPT', 'The process that reads pages answered in another form than expected.');
  return facts;
}
