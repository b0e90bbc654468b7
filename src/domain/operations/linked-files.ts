import type { Readable } from 'node:stream';
import { type FileTicket, fileLinkParameter, readFileTicket } from '../../engine/files/file-links.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { Deps } from '../deps.ts';
import { type FileView, fileView } from '../ground/attachments/file-view.ts';
import type { CallOrigin } from '../ground/audit/origin.ts';
import { linkedExport } from './data-life/exports.ts';

export interface LinkedFile extends FileView {
  readonly filename: string;
  readonly sizeBytes: number;
  open(): Promise<Readable>;
}

/**
 * The file of a chat that a signed link opens for its holder, who needs no key.
 *
 * @throws DomainError FORBIDDEN for a link that this service did not sign, that was signed for another file, or that has expired; NOT_FOUND for a
 *   file that is gone.
 */
export async function linkedChatFile(
  deps: Deps,
  place: { readonly chatId: string; readonly fileId: string },
  ticketText: string,
): Promise<LinkedFile> {
  const ticket = readTicket(deps, ticketText);
  if (!('fileId' in ticket) || ticket.fileId !== place.fileId || ticket.chatId !== place.chatId) throw foreignLink();
  const file = await deps.storage.conversations.chatFiles.find(ticket.chatId, ticket.fileId);
  const blobKey = file?.blobKey ?? null;
  if (file === undefined || blobKey === null || file.status !== 'UPLOADED') throw missingFile();
  const viewKind = fileView(file.mimeType);
  return { filename: file.filename, ...viewKind, sizeBytes: file.sizeBytes, open: () => deps.storage.blobs.get(blobKey) };
}

/** The file that a stateless run made, or an export of data. @throws DomainError as `linkedChatFile` and `linkedExport`. */
export async function linkedRunFile(deps: Deps, ticketText: string, origin: CallOrigin): Promise<LinkedFile> {
  const ticket = readTicket(deps, ticketText);
  if ('exportId' in ticket) {
    const { blobKey, ...file } = await linkedExport(deps, ticket, origin);
    return { ...file, ...fileView('application/zip'), open: () => deps.storage.blobs.get(blobKey) };
  }
  if (!('blobKey' in ticket)) throw foreignLink();
  const { blobKey, filename, sizeBytes, mimeType = '' } = ticket;
  return { filename, ...fileView(mimeType), sizeBytes, open: () => deps.storage.blobs.get(blobKey) };
}

function readTicket(deps: Deps, ticketText: string): FileTicket {
  const signedTicket = readFileTicket(deps, ticketText);
  if (signedTicket === undefined) throw foreignLink();
  if (signedTicket.expiresAtMs <= deps.now().getTime())
    throw refusedLink('This link has expired; links to files work for an hour');
  return signedTicket.ticket;
}

function foreignLink(): DomainError {
  return refusedLink('This link was not made by this service for this file');
}

function refusedLink(message: string): DomainError {
  return new DomainError('FORBIDDEN', `${message}. Open the answer again for a new link, or send an API key`, {
    param: fileLinkParameter,
  });
}

function missingFile(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such file', { param: 'fileId' });
}
