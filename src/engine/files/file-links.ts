import type { OutputFile } from '../../entities/conversations/runs/tool.ts';
import { isObject } from '../../lib/json/json.ts';
import type { LinkSigner } from '../../storage/vault/link-signer.ts';

/** What signed links to files are made with. `Deps` has it all. */
export interface FileLinkDeps {
  readonly storage: { readonly links: LinkSigner };
  /** Base of the links, without a slash at the end. */
  publicUrl(): string;
  now(): Date;
}

/** What a signed link opens: a file of a chat, the bytes of a file that a stateless run made, or an export of data. */
export type FileTicket =
  | ExportTicket
  | { readonly chatId: string; readonly fileId: string }
  | { readonly blobKey: string; readonly filename: string; readonly sizeBytes: number; readonly mimeType?: string };

/** The link works while the key or the session that got it may read the export. */
export interface ExportTicket {
  readonly exportId: string;
  readonly keyId: string;
}

/** Long enough to read an answer and to open its files, too short for a collection of links. */
export const fileLinkLifeMs = 60 * 60 * 1_000;
export const fileLinkParameter = 'link';

/** An address that opens the file for an hour without a key, also in a browser. */
export function signedFileAddress(deps: FileLinkDeps, ticket: FileTicket): string {
  const text = JSON.stringify({ ...ticket, expiresAtMs: deps.now().getTime() + fileLinkLifeMs });
  const ticketText = deps.storage.links.sign('file', text);
  return `${fileAddress(deps, ticket)}?${fileLinkParameter}=${ticketText}`;
}

/** The same address without a signature: that of a file of a chat opens with a key. */
export function fileAddress({ publicUrl }: Pick<FileLinkDeps, 'publicUrl'>, ticket: FileTicket): string {
  const place = 'fileId' in ticket ? `chats/${ticket.chatId}/files/${ticket.fileId}/content` : 'run-files';
  return `${publicUrl()}/api/v1/${place}`;
}

export interface SignedTicket {
  readonly ticket: FileTicket;
  readonly expiresAtMs: number;
}

/** What a link was signed for, whether or not it has expired; undefined for one that this service did not sign. */
export function readFileTicket({ storage }: Pick<FileLinkDeps, 'storage'>, ticketText: string): SignedTicket | undefined {
  const text = storage.links.verify('file', ticketText);
  const ticketData: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isObject(ticketData)) return undefined;
  const { expiresAtMs, ...ticket } = ticketData;
  return { ticket: ticket as FileTicket, expiresAtMs: Number(expiresAtMs) };
}

const signedAddress = /\/api\/v1\/chats\/\w+\/files\/\w+\/content\?link=([\w.-]+)$/;

/**
 * The address of a stored chat file, signed again where less than half an hour of it is left. Others stay as they are. It is signed for the file that
 * the service stored, never for one that only its address names.
 */
export function freshFileAddress(deps: FileLinkDeps, { url, fileId }: Pick<OutputFile, 'url' | 'fileId'>): string {
  const [, ticketText = ''] = signedAddress.exec(url) ?? [];
  const signedTicket = ticketText === '' || fileId === null ? undefined : readFileTicket(deps, ticketText);
  if (signedTicket === undefined || !('fileId' in signedTicket.ticket) || signedTicket.ticket.fileId !== fileId) return url;
  const leftMs = signedTicket.expiresAtMs - deps.now().getTime();
  return leftMs >= fileLinkLifeMs / 2 && url.startsWith(deps.publicUrl()) ? url : signedFileAddress(deps, signedTicket.ticket);
}
