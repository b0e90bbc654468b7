import type { IncomingMessage } from 'node:http';
import type { UploadedFile } from '../../entities/conversations/chats/uploaded-file.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { readForm } from './form.ts';

export interface Upload {
  readonly file: UploadedFile;
  /** Text fields of the form, at most 50 of 64 KiB; the last one of a name counts. */
  readonly fields: ReadonlyMap<string, string>;
  /** SHA-256 of name, type and bytes: the same for the same file, whatever the boundary was. */
  readonly hash: string;
  dispose(): Promise<void>;
}

export interface UploadLimits {
  /** Exact: a file of this many bytes passes, one more does not. */
  readonly fileMaxBytes: number;
  /** The form's name of the file. */
  readonly fileField: string;
  readonly idleMs: number;
}

const fieldsMax = 50;
const fieldMaxBytes = 64 * 1024;
/** A form's own frame is small; a body declared this far above the limit of its file is refused before it is read. */
const frameMaxBytes = 4 * 1024 * 1024;

/**
 * Reads a multipart form with one file. A field may follow the file.
 *
 * @throws DomainError as `readForm`, and MISSING_REQUIRED_PARAMETER for a form without the file.
 */
export async function readUpload(req: IncomingMessage, limits: UploadLimits): Promise<Upload> {
  const { fileMaxBytes, fileField, idleMs } = limits;
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(req.headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `The body must be multipart/form-data with a file in "${fileField}"`);
  }
  if (Number(req.headers['content-length'] ?? 0) > fileMaxBytes + frameMaxBytes) throw fileTooLarge(limits);
  const form = await readForm(req, {
    fileMaxBytes,
    idleMs,
    // One more than is taken, so that `admitFile` names the one too many.
    filesMax: 2,
    fieldsMax,
    fieldMaxBytes,
    fieldsMaxBytes: fieldsMax * fieldMaxBytes,
    isFile: (name) => name === fileField,
    admitFile: (name, before) => admitOne(fileField, name, before),
  });
  const [file] = form.files;
  if (file === undefined) {
    const message = `The form must hold a file in the field "${fileField}"`;
    throw new DomainError('MISSING_REQUIRED_PARAMETER', message, { param: fileField });
  }
  return { file, fields: form.fields, hash: file.hash, dispose: form.dispose };
}

function admitOne(fileField: string, name: string, before: number): void {
  if (name === fileField && before === 0) return;
  const message = before === 0 ? `The file must be sent in the field "${fileField}"` : 'The form must hold one file, not several';
  throw new DomainError('INVALID_VALUE', message, { param: name.slice(0, 100) });
}

export function fileTooLarge({ fileMaxBytes, fileField }: UploadLimits): DomainError {
  return new DomainError('REQUEST_TOO_LARGE', `${fileField} must be at most ${fileMaxBytes} bytes`, { param: fileField });
}
