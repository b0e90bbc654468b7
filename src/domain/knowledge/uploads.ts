import type { z } from 'zod';
import type { UploadedFile } from '../../entities/conversations/chats/uploaded-file.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { DataSource } from '../../entities/knowledge/data-source.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { useTicket } from '../../storage/knowledge/used-tickets.ts';
import type { uploadTokenBody } from '../../wire/data-sources.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../ground/faults.ts';
import { addFileDataSource } from './add-sources.ts';
import { editableAgent, requireRoom } from './sources.ts';
import { readTicket, signTicket, ticketLifeMs } from './upload-tickets.ts';

/** An untyped object in the API contract; these members are read, also under the names that other services use. */
export type UploadTokenInput = z.output<typeof uploadTokenBody>;

/** An address that accepts one file, once, by PUT. */
export interface UploadToken {
  readonly url: string;
  readonly pathname: string;
  readonly contentType: string;
  readonly size: number;
  readonly expiresAt: Date;
}

const anyBytes = 'application/octet-stream';
const filenameLengthMax = 200;

/**
 * Signs a link for the upload of one file of a given size and type to an agent. The holder of the link may send that file once within an hour,
 * without a key, and acts as the caller.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for an agent the caller may not edit; with every fault of the input; REQUEST_TOO_LARGE; CONFLICT.
 */
export async function createUploadToken(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: UploadTokenInput,
): Promise<UploadToken> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const filename = lastSegment(input.filename ?? input.name ?? '');
  if (filename === '') faults.add('filename', 'filename is required', 'MISSING_REQUIRED_PARAMETER');
  faults.requireLength('filename', filename, filenameLengthMax);
  const contentType = (input.contentType ?? input.mimeType ?? anyBytes).toLowerCase().split(';')[0]?.trim() ?? '';
  if (!/^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(contentType)) {
    faults.add('contentType', 'contentType must be a media type like text/plain');
  }
  const size = input.size ?? 0;
  const most = deps.settings.UPLOAD_MAX_BYTES;
  const bounds = `size must be from 1 to ${most} bytes`;
  if (input.size === undefined || input.size === null) {
    faults.add('size', 'size is required: the bytes of the file', 'MISSING_REQUIRED_PARAMETER');
  } else if (size < 1) faults.add('size', bounds);
  faults.throwIfAny();
  if (size > most) throw new DomainError('REQUEST_TOO_LARGE', bounds, { param: 'size' });
  await requireRoom(deps, agent.id);
  const id = deps.newId('upload');
  const expiresAtMs = deps.now().getTime() + ticketLifeMs;
  const pathname = `/api/v1/ais/${agent.id}/data-sources/uploads/${id}`;
  const ticket = { id, keyId: caller.keyId, agentId: agent.id, filename, contentType, sizeBytes: size, expiresAtMs };
  const url = `${deps.publicUrl()}${pathname}?ticket=${signTicket(deps, ticket)}`;
  return { url, pathname, contentType, size, expiresAt: new Date(expiresAtMs) };
}

/**
 * Receives the file of a signed link, and queues its indexing.
 *
 * @throws DomainError INVALID_API_KEY for a link that Parley did not sign or that has expired; NOT_FOUND for one of another agent,
 * upload or key; INVALID_VALUE for another size; UNSUPPORTED_MEDIA_TYPE for another type; CONFLICT the second time.
 */
export async function uploadDataSource(
  deps: Deps,
  caller: Caller,
  { agentId, uploadId, ticket: ticketText, file }: UploadDataSourceInput,
): Promise<DataSource> {
  const ticket = readTicket(deps, ticketText);
  if (ticket.agentId !== agentId || ticket.id !== uploadId || ticket.keyId !== caller.keyId) {
    throw new DomainError('NOT_FOUND', 'There is no such upload', { param: 'uploadId' });
  }
  const { filename, contentType, sizeBytes } = ticket;
  if (file.sizeBytes !== sizeBytes) {
    throw new DomainError('INVALID_VALUE', `file must be exactly ${sizeBytes} bytes, as announced`, { param: 'file' });
  }
  // A client that sends no type means the type of its request for the link.
  if (file.mimeType !== contentType && file.mimeType !== anyBytes) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `file must be ${contentType}, as announced`, { param: 'file' });
  }
  const whole = { filename, mimeType: contentType, sizeBytes, stream: () => file.stream() };
  return addFileDataSource(deps, caller, agentId, whole, {
    also: (tx) => useTicket(tx, ticket.id, new Date(ticket.expiresAtMs)),
  });
}
export interface UploadDataSourceInput {
  readonly agentId: string;
  readonly uploadId: string;
  readonly ticket: string;
  readonly file: UploadedFile;
}

/** The file name without its path and without characters that could break a header or a log line. */
function lastSegment(filePath: string): string {
  const name = (filePath.split(/[/\\]/).at(-1) ?? '').replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '').trim();
  return /^\.*$/.test(name) ? '' : name;
}
