import type { Readable } from 'node:stream';
import { contentLinkParameter, type LinkedPassage, readContentTicket } from '../../engine/knowledge/content-links.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import { inlineImageTypes } from '../../lib/image-type.ts';
import type { Deps } from '../deps.ts';
import { type ItemPlace, missingItem, toContent } from './items.ts';
import { passageIn, type TextAround } from './passages.ts';
import { keepOpenItems } from './permissions/open-items.ts';

/** A cited passage within the text around it, on a page. */
export interface PassageView extends TextAround {
  /** The name of the document. */
  readonly name: string;
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
export async function linkedItem(deps: Deps, { dataSourceId, id }: ItemPlace, ticketText: string): Promise<LinkedItem> {
  const ticket = readContentTicket(deps, ticketText);
  if (ticket === undefined || ticket.itemId !== id) throw refusedLink('This link was not made by this service');
  if (ticket.expiresAtMs <= deps.now().getTime()) throw refusedLink('This link has expired; links to sources work for an hour');
  const item = await deps.storage.knowledge.items.find(id, { dataSource: 'in-organization', orgId: ticket.orgId });
  if (item === undefined || item.dataSourceId !== dataSourceId) throw missingItem();
  // A link of a time when the source was LENT names nobody: it opens what is open to anyone.
  const reader = ticket.reader ?? { orgId: '', userId: '' };
  if ((await keepOpenItems(deps, { ...reader, keyId: null }, [item])).length === 0) throw missingItem();
  const { passage } = ticket;
  return {
    passage: async () => (passage === undefined ? undefined : loadPassage(deps, item, passage)),
    content: (isShown) => ({ ...toContent(deps, item), ...(isShown ? shownAs(item) : {}) }),
  };
}

async function loadPassage(deps: Deps, item: KnowledgeItem, place: LinkedPassage): Promise<PassageView> {
  const [chunks = []] = await deps.storage.knowledge.chunks.details.around([{ itemId: item.id, ...place }], {
    before: chunksBefore,
    after: chunksAfter,
  });
  return {
    ...passageIn(chunks, place, { aroundChars, passageChars, documentCount: item.documentCount }),
    name: item.name,
    original: chooseOriginal(item),
  };
}

function chooseOriginal({ contentBlobKey, mimeType }: KnowledgeItem): PassageView['original'] {
  if (contentBlobKey === null) return 'none';
  if (mimeType === pdfType) return 'pdf';
  return inlineImageTypes.includes(mimeType ?? '') ? 'image' : 'download';
}

function shownAs(item: KnowledgeItem): Pick<LinkedContent, 'contentType' | 'isInline'> {
  const original = chooseOriginal(item);
  const isShown = item.mimeType !== null && (original === 'pdf' || original === 'image');
  return isShown ? { contentType: item.mimeType, isInline: true } : {};
}

function refusedLink(message: string): DomainError {
  return new DomainError('FORBIDDEN', `${message}. Open the answer again for a new link, or send an API key`, {
    param: contentLinkParameter,
  });
}
