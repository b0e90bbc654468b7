import type { Citation } from '../../entities/knowledge/citation.ts';
import type { LinkSigner } from '../../storage/vault/link-signer.ts';

/** What signed links are made with. `Deps` has it all. */
export interface ContentLinkDeps {
  readonly storage: { readonly links: LinkSigner };
  /** Base of the links, without a slash at the end. */
  publicUrl(): string;
  now(): Date;
}

/** What a signed link opens: one item of one organization, until a time. */
export interface ContentTicket {
  readonly itemId: string;
  readonly orgId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
  /** Whose rights it opens, where the source is MIRRORED. */
  readonly reader?: LinkReader;
  /** The cited passage. Without one, the link opens the original itself. */
  readonly passage?: LinkedPassage;
}

/** A person, who may be of another organization than the document. */
export interface LinkReader {
  readonly orgId: string;
  readonly userId: string;
}

/** Where a passage stood when it was cited. */
export interface LinkedPassage {
  /** Its first chunk. */
  readonly chunkId: string;
  /** Position in the text of the item, in UTF-16 code units. */
  readonly charStart: number;
  readonly charEnd: number;
}

/** Long enough to read an answer and to open its sources, too short for a collection of links. */
export const contentLinkLifeMs = 60 * 60 * 1_000;
/** The query parameter that holds the signature. */
export const contentLinkParameter = 'link';

/** The address of the original of an item, for callers with a key. */
export function contentAddress({ publicUrl }: Pick<ContentLinkDeps, 'publicUrl'>, dataSourceId: string, itemId: string): string {
  return `${publicUrl()}/api/v1/data-sources/${dataSourceId}/knowledge/${itemId}/content`;
}

/** The same, signed: for an hour it opens without a key, also in a browser. With a passage, it opens a page that shows the passage. */
export function signedContentAddress(
  deps: ContentLinkDeps,
  { dataSourceId, ...ticketFields }: Omit<ContentTicket, 'expiresAtMs'> & { readonly dataSourceId: string },
): string {
  const ticketText = signContentTicket(deps, { ...ticketFields, expiresAtMs: deps.now().getTime() + contentLinkLifeMs });
  return `${contentAddress(deps, dataSourceId, ticketFields.itemId)}?${contentLinkParameter}=${ticketText}`;
}

export function signContentTicket(
  { storage }: Pick<ContentLinkDeps, 'storage'>,
  { itemId, orgId, expiresAtMs, passage, reader }: ContentTicket,
): string {
  const place = passage === undefined ? [] : [passage.chunkId, passage.charStart, passage.charEnd];
  const person = reader === undefined ? [] : [`${personMark}${reader.userId}`, reader.orgId];
  return storage.links.sign('content', [itemId, orgId, expiresAtMs, ...place, ...person].join(' '));
}

/** What a link was signed for, whether or not it has expired; undefined for one that this service did not sign. */
export function readContentTicket({ storage }: Pick<ContentLinkDeps, 'storage'>, ticketText: string): ContentTicket | undefined {
  const text = storage.links.verify('content', ticketText);
  if (text === undefined) return undefined;
  const parts = text.split(' ');
  const personAt = parts.findIndex((part) => part.startsWith(personMark));
  const [person = '', readerOrgId = ''] = personAt === -1 ? [] : parts.splice(personAt);
  const [itemId = '', orgId = '', expiresAtMs = '', chunkId, charStart = '', charEnd = ''] = parts;
  const reader = personAt === -1 ? {} : { reader: { userId: person.slice(personMark.length), orgId: readerOrgId } };
  const ticket = { itemId, orgId, expiresAtMs: Number(expiresAtMs), ...reader };
  if (chunkId === undefined) return ticket;
  return { ...ticket, passage: { chunkId, charStart: Number(charStart), charEnd: Number(charEnd) } };
}

/** Begins the part of a ticket that names a person. */
const personMark = 'for:';

const signedAddress = /\/api\/v1\/data-sources\/(\w+)\/knowledge\/(\w+)\/content\?link=([\w.-]+)$/;

/** Whether an address is a link to content that is kept here, and not that of the original. */
export function isContentLink(url: string): boolean {
  return signedAddress.test(url);
}

/**
 * The address of a stored citation, signed again where less than half an hour of it is left or this service has another address now. Others
 * stay as they are: an answer that is read twice reads the same.
 *
 * It is signed for the item that the service cited, never for one that only its address names: a page or a document may give any address of this
 * service as its own, also an old link to somebody else's item.
 *
 * @param reader  who reads the citation, of a source that may be MIRRORED.
 */
export function freshContentAddress(
  deps: ContentLinkDeps,
  {
    url,
    knowledgeItemId: itemId,
    dataSourceId,
    id: chunkId,
    charStart,
    charEnd,
  }: Pick<Citation, 'url' | 'knowledgeItemId' | 'dataSourceId' | 'id' | 'charStart' | 'charEnd'>,
  reader?: LinkReader,
): string {
  const [, linkedSourceId, linkedItemId, ticketText = ''] = signedAddress.exec(url) ?? [];
  if (linkedSourceId !== dataSourceId || linkedItemId !== itemId) return url;
  const ticket = readContentTicket(deps, ticketText);
  if (ticket === undefined || ticket.itemId !== itemId) return url;
  const leftMs = ticket.expiresAtMs - deps.now().getTime();
  // A link of somebody else is no link of this reader.
  const isOwn = ticket.reader?.userId === reader?.userId && ticket.reader?.orgId === reader?.orgId;
  const isGood = leftMs >= contentLinkLifeMs / 2 && ticket.passage !== undefined && isOwn;
  if (isGood && url.startsWith(contentAddress(deps, dataSourceId, itemId))) return url;
  const passage = { chunkId, charStart, charEnd };
  return signedContentAddress(deps, {
    dataSourceId,
    itemId,
    orgId: ticket.orgId,
    passage,
    ...(reader === undefined ? {} : { reader }),
  });
}
