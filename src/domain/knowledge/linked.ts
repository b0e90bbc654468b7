import type { Readable } from 'node:stream';
import { contentLinkParameter, type LinkedPassage, readContentTicket } from '../../engine/knowledge/content-links.ts';
import { DomainError } from '../../entities/errors.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import { inlineImageTypes } from '../../lib/image-type.ts';
import type { ChunkInDocument } from '../../storage/knowledge/chunk-details.ts';
import type { Deps } from '../deps.ts';
import { contentOf, type ItemPlace, missingItem } from './items.ts';

/** A cited passage within the text around it. */
export interface PassageView {
  /** The name of the document. */
  readonly name: string;
  /** The headings above the passage; empty when there are none. */
  readonly headingPath: string;
  readonly page: number | null;
  readonly before: string;
  readonly text: string;
  readonly after: string;
  /** Whether the document has more text before and after. */
  readonly isCutBefore: boolean;
  readonly isCutAfter: boolean;
  /** False when the document was read again since, so that the place may hold another text. */
  readonly isCurrent: boolean;
  /** How a browser may open the document: `none` when its bytes are not kept here. */
  readonly original: 'pdf' | 'image' | 'download' | 'none';
}

/** What a signed link opens. */
export interface LinkedItem {
  /** The passage that the link names, if it names one. Cost: one statement. */
  passage(): Promise<PassageView | undefined>;
  /**
   * The original.
   *
   * @param isShown  a PDF or an image is shown instead of saved.
   * @throws DomainError NOT_FOUND when its bytes are not kept here.
   */
  content(isShown: boolean): LinkedContent;
}

export interface LinkedContent {
  readonly filename: string;
  readonly contentType?: string;
  readonly isInline?: boolean;
  readonly sizeBytes: number | null;
  open(): Promise<Readable>;
}

const pdfType = 'application/pdf';
/** Characters of the document that are shown on each side of a passage, and the most of a passage. */
const aroundChars = 800;
const passageChars = 20_000;
/** Chunks that are read for that. */
const chunksBefore = 3;
const chunksAfter = 16;

/**
 * The item that a signed link opens for its holder, who needs no key.
 *
 * @throws DomainError FORBIDDEN for a link that this service did not sign, that was signed for another item, or that has expired; NOT_FOUND
 *   for an item that is gone.
 */
export async function linkedItem(deps: Deps, { dataSourceId, id }: ItemPlace, signed: string): Promise<LinkedItem> {
  const ticket = readContentTicket(deps, signed);
  if (ticket === undefined || ticket.itemId !== id) throw refusedLink('This link was not made by this service');
  if (ticket.expiresAtMs <= deps.now().getTime()) throw refusedLink('This link has expired; links to sources work for an hour');
  const item = await deps.storage.knowledgeItems.find(id, { dataSource: 'in-organization', orgId: ticket.orgId });
  if (item === undefined || item.dataSourceId !== dataSourceId) throw missingItem();
  const { passage } = ticket;
  return {
    passage: async () => (passage === undefined ? undefined : passageOf(deps, item, passage)),
    content: (isShown) => ({ ...contentOf(deps, item), ...(isShown ? shownAs(item) : {}) }),
  };
}

async function passageOf(deps: Deps, item: KnowledgeItem, place: LinkedPassage): Promise<PassageView> {
  const chunks = await deps.storage.chunks.around(item.id, place, { before: chunksBefore, after: chunksAfter });
  const cited = chunks.find(({ chunkId }) => chunkId === place.chunkId);
  const near = cited ?? chunks.find(({ charEnd }) => charEnd > place.charStart);
  const { before, text, after } = textsOf(chunks, place);
  const last = chunks.at(-1)?.ordinal ?? 0;
  return {
    name: item.name,
    headingPath: near?.headingPath ?? '',
    page: near?.page ?? null,
    before: before.slice(-aroundChars),
    text: text.slice(0, passageChars),
    after: text.length > passageChars ? '' : after.slice(0, aroundChars),
    isCutBefore: before.length > aroundChars || (chunks[0]?.ordinal ?? 0) > 0,
    isCutAfter: text.length > passageChars || after.length > aroundChars || last + 1 < item.documentCount,
    isCurrent: cited !== undefined,
    original: originalOf(item),
  };
}

/** The text of neighbouring chunks, which may overlap, in three parts: before, within and after a place of the document. */
function textsOf(chunks: readonly ChunkInDocument[], { charStart, charEnd }: LinkedPassage) {
  const parts = { before: '', text: '', after: '' };
  let end: number | undefined;
  const add = (start: number, text: string) => {
    const cut = (from: number, to: number) => text.slice(Math.max(0, from - start), Math.max(0, to - start));
    parts.before += cut(0, charStart);
    parts.text += cut(charStart, charEnd);
    parts.after += cut(Math.max(charStart, charEnd), Number.POSITIVE_INFINITY);
  };
  for (const chunk of chunks) {
    const overlap = end === undefined ? 0 : Math.max(0, end - chunk.charStart);
    if (end !== undefined && overlap === 0) add(end, chunk.gapBefore);
    add(chunk.charStart + overlap, chunk.text.slice(overlap));
    end = Math.max(end ?? 0, chunk.charEnd);
  }
  return parts;
}

function originalOf({ contentBlobKey, mimeType }: KnowledgeItem): PassageView['original'] {
  if (contentBlobKey === null) return 'none';
  if (mimeType === pdfType) return 'pdf';
  return inlineImageTypes.includes(mimeType ?? '') ? 'image' : 'download';
}

function shownAs(item: KnowledgeItem): Pick<LinkedContent, 'contentType' | 'isInline'> {
  const original = originalOf(item);
  const isShown = item.mimeType !== null && (original === 'pdf' || original === 'image');
  return isShown ? { contentType: item.mimeType, isInline: true } : {};
}

function refusedLink(message: string): DomainError {
  return new DomainError('FORBIDDEN', `${message}. Open the answer again for a new link, or send an API key`, {
    param: contentLinkParameter,
  });
}
