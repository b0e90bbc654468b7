import { z } from 'zod';
import type { ScopeFacts } from '../address/scope.ts';
import { type DocumentKind, documentKinds } from '../page/kind.ts';

/** What is asked about the bytes that an address answered. */
export interface DocumentQuestion {
  readonly kind: 'document';
  readonly url: string;
  readonly contentType: string;
  /** What the head of the reply says; null when it says nothing. */
  readonly said: DocumentKind | null;
  /** The name of the crawler in robots tags, in lower case. */
  readonly token: string;
  /** Absent: all links are wanted. */
  readonly scope?: ScopeFacts;
}

/** What is asked about a sitemap, which may be compressed. */
export interface SitemapQuestion {
  readonly kind: 'sitemap';
  readonly url: string;
  readonly scope: ScopeFacts;
  /** Addresses that are wanted. */
  readonly pagesMax: number;
}

export type WebQuestion = DocumentQuestion | SitemapQuestion;

const address = z.string().max(4_000);
const count = z.number().int().min(0);

/** Why addresses were left out, and how many. */
export const leftOutFacts = z.object({ excluded: count, outside: count });

/** What the process says of a document, besides the links of a page and the text of one that is not in UTF-8. */
export const documentFacts = z.object({
  /** Null for something that is not read. */
  kind: z.enum(documentKinds).nullable(),
  /** Whether the text of the answer replaces the bytes. */
  isTextGiven: z.boolean(),
  page: z
    .object({
      title: z.string(),
      canonical: address.nullable(),
      refresh: address.nullable(),
      directives: z.object({ isIndexed: z.boolean(), isFollowed: z.boolean() }),
      textHash: z.string().max(100).nullable(),
      leftOut: leftOutFacts,
    })
    .nullable(),
});
export type DocumentFacts = z.infer<typeof documentFacts>;

/** What the process says of a sitemap, besides the addresses of pages and of other sitemaps. */
export const sitemapFacts = z.object({ leftOut: leftOutFacts });
