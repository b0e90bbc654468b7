import { isUtf8 } from 'node:buffer';
import { createGunzip } from 'node:zlib';
import { fileTypeFromBuffer } from 'file-type';
import { decodeText } from '../../../extract/charset.ts';
import type { Answer } from '../../../extract/document.ts';
import { readAddress } from '../address/address.ts';
import { createScope, type Scope, type ScopeFacts } from '../address/scope.ts';
import { type DocumentKind, kindByExtension, kindByMimeType, pageExtensions, readExtension } from '../page/kind.ts';
import { readPage } from '../page/page.ts';
import { sitemapReader } from '../site/sitemap-reader.ts';
import type { DocumentFacts, DocumentQuestion, SitemapQuestion, WebQuestion } from './question.ts';

/** Of one sitemap, decoded: what the protocol allows. */
const sitemapBytesMax = 50 * 1024 * 1024;
/** Sitemaps that one sitemap names. */
const sitemapsMax = 1_000;
const textKinds: ReadonlySet<string> = new Set(['TEXT', 'CSV', 'MARKDOWN']);

/** Answers questions about what sites sent. Call it only in the process of its own: the bytes may be hostile. */
export function answerQuestion(question: unknown, bytes: Uint8Array): Promise<Answer> {
  const webQuestion = question as WebQuestion;
  return webQuestion.kind === 'document' ? answerDocument(webQuestion, bytes) : answerSitemap(webQuestion, bytes);
}

async function answerDocument(question: DocumentQuestion, bytes: Uint8Array): Promise<Answer> {
  const { url, contentType, said: declaredKind } = question;
  const kind = await kindOfContent(bytes, declaredKind ?? undefined, url);
  if (kind === null || (kind !== 'PAGE' && !textKinds.has(kind)))
    return { text: '', lists: {}, value: { kind, isTextGiven: false, page: null } };
  const text = decodeDocument(bytes, contentType);
  const isTextGiven = utf8Bytes(bytes, text) !== bytes;
  const { page, links } = kind === 'PAGE' ? readLinks(question, text) : { page: null, links: [] };
  return { text: isTextGiven ? text : '', lists: { links }, value: { kind, isTextGiven, page } satisfies DocumentFacts };
}

function readLinks(
  { url, token, scope: facts }: DocumentQuestion,
  html: string,
): { readonly page: DocumentFacts['page']; readonly links: readonly string[] } {
  const page = readPage(html, url, token);
  const scope = facts === undefined ? undefined : toScope(facts);
  const leftOut = { excluded: 0, outside: 0 };
  const links = page.links.filter((link) => isCovered(scope, link, leftOut));
  const { title, canonical = null, refresh = null, directives, textHash = null } = page;
  return { page: { title, canonical, refresh, directives, textHash, leftOut }, links };
}

async function answerSitemap({ url, scope: facts, pagesMax }: SitemapQuestion, bytes: Uint8Array): Promise<Answer> {
  const scope = toScope(facts);
  const leftOut = { excluded: 0, outside: 0 };
  const [pages, sitemaps] = [new Set<string>(), new Set<string>()];
  const reader = sitemapReader((kind, text) => {
    const address = readAddress(text, url);
    if (address === undefined) return;
    if (kind === 'sitemap') {
      if (sitemaps.size < sitemapsMax) sitemaps.add(address);
    } else if (pages.size < pagesMax && isCovered(scope, address, leftOut)) pages.add(address);
  });
  const decoder = new TextDecoder();
  for await (const block of unzipped(bytes)) {
    reader.write(decoder.decode(block, { stream: true }));
    if (pages.size >= pagesMax) break;
  }
  reader.write(decoder.decode());
  reader.end();
  return { text: '', lists: { pages: [...pages], sitemaps: [...sitemaps] }, value: { leftOut } };
}

function isCovered(scope: Scope | undefined, address: string, leftOut: { excluded: number; outside: number }): boolean {
  const place = scope?.placeOf(address) ?? 'INCLUDED';
  if (place === 'EXCLUDED') leftOut.excluded += 1;
  if (place === 'OUTSIDE') leftOut.outside += 1;
  return place === 'INCLUDED';
}

function toScope({ configuration, ...learnedPlaces }: ScopeFacts): Scope {
  const scope = createScope(configuration);
  scope.restore(learnedPlaces);
  return scope;
}

/** Content that is a gzip file, whatever the server calls it, is decompressed, at most 50 MB of it. What cannot be decompressed ends there. */
async function* unzipped(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    yield bytes;
    return;
  }
  const unzip = createGunzip();
  unzip.end(bytes);
  let length = 0;
  try {
    for await (const block of unzip as AsyncIterable<Buffer>) {
      length += block.length;
      if (length > sitemapBytesMax) return;
      yield block;
    }
  } catch {
    // A file that no reader can decompress will not be better later.
  }
}

/** Their text is valid UTF-8 of other characters. */
const notToConfuse = /^(?:utf-?16(?:le|be)?|iso-2022-(?:jp|kr)|hz-gb-2312)$/i;

/**
 * Decodes a page or a text file: by byte order mark, as UTF-8 if it is that, by the charset of the reply's head, by that of the page, by its letters.
 *
 * @param contentType  the header.
 */
function decodeDocument(bytes: Uint8Array, contentType: string): string {
  const declaredCharset = /charset\s*=\s*["']?([\w.:-]{2,40})/i.exec(contentType)?.[1];
  if (declaredCharset !== undefined && notToConfuse.test(declaredCharset)) {
    try {
      return new TextDecoder(declaredCharset).decode(bytes);
    } catch {
      // Not a charset of this system: the content decides.
    }
  }
  const top = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString('latin1');
  const inPage = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(top)?.[1];
  return decodeText(bytes, declaredCharset ?? inPage).replace(/^\ufeff/, '');
}

/** The bytes as UTF-8, so that later readers need not know the head of the reply. */
function utf8Bytes(bytes: Uint8Array, text: string): Uint8Array {
  return isUtf8(bytes) && !bytes.includes(0) && !bytes.includes(0x1b) ? bytes : Buffer.from(text);
}

/**
 * What the content is, where its beginning contradicts or completes the head of the reply; null for something that is not read. It looks into archives, so only the
 * process that reads pages may import it.
 */
async function kindOfContent(
  bytes: Uint8Array,
  declaredKind: DocumentKind | undefined,
  url: string,
): Promise<DocumentKind | null> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).toString('latin1');
  if (head.includes('%PDF-')) return 'PDF';
  const isPage =
    /^\s*(?:\xef\xbb\xbf\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b/i.test(
      head,
    );
  // A login page in place of a file, and a page whose type nobody set.
  if (isPage && declaredKind !== 'TEXT') return 'PAGE';
  if (declaredKind !== undefined) return declaredKind;
  const fileType = await fileTypeFromBuffer(bytes).catch(() => undefined);
  const extensionKind = kindByExtension.get(readExtension(url));
  if (fileType === undefined)
    return extensionKind ?? (pageExtensions.has(readExtension(url)) && /<\w/.test(head) ? 'PAGE' : null);
  // An old office file says no more than that it is one.
  if (fileType.mime === 'application/x-cfb') return extensionKind === 'DOC' || extensionKind === 'XLS' ? extensionKind : null;
  return kindByMimeType[fileType.mime] ?? null;
}
