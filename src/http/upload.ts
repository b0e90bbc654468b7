import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { DomainError } from '../entities/errors.ts';
import type { UploadedFile } from '../entities/uploaded-file.ts';
import { limitIdle } from './idle.ts';
import { Spool } from './spool.ts';

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

/**
 * Reads a multipart form with one file. The file is complete, counted and set aside before anybody works with it: a field may follow
 * it, and a file that is too large or cut off leaves no trace.
 *
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, REQUEST_TOO_LARGE, MISSING_REQUIRED_PARAMETER, INVALID_VALUE, CLIENT_CLOSED_REQUEST.
 */
export async function readUpload(req: IncomingMessage, limits: UploadLimits): Promise<Upload> {
  const contentType = req.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(contentType)) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `The body must be multipart/form-data with a file in "${limits.fileField}"`);
  }
  // A form's own frame is small; a body declared far above the limit is refused before it is read.
  if (Number(req.headers['content-length'] ?? 0) > limits.fileMaxBytes + 4 * 1024 * 1024) throw fileTooLarge(limits);
  const form = new FormReader(contentType, limits);
  try {
    return await form.read(req);
  } catch (error) {
    await form.dispose();
    throw error;
  }
}

class FormReader {
  readonly #limits: UploadLimits;
  readonly #busboy: InstanceType<typeof Busboy>;
  readonly #fields = new Map<string, string>();
  #spool: Spool | undefined;
  #file: Promise<{ filename: string; mimeType: string; hash: string }> | undefined;

  constructor(contentType: string, limits: UploadLimits) {
    this.#limits = limits;
    try {
      this.#busboy = new Busboy({
        headers: { 'content-type': contentType },
        isPartAFile: (name, _type, filename) => filename !== undefined || name === limits.fileField,
        limits: {
          fieldNameSize: 200,
          fieldSize: 64 * 1024,
          fields: 50,
          files: 2,
          parts: 60,
          headerPairs: 50,
          fileSize: limits.fileMaxBytes + 1,
        },
      });
    } catch {
      throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The header content-type is not that of a multipart form');
    }
  }

  async read(req: IncomingMessage): Promise<Upload> {
    let stopWaiting: () => void = () => undefined;
    await new Promise<void>((resolve, reject) => {
      stopWaiting = limitIdle(req, this.#limits.idleMs, reject);
      const busboy = this.#busboy;
      busboy.on('file', (name, stream, filename, _encoding, mimeType) => {
        this.#onFile(name, stream, filename, mimeType, reject);
      });
      busboy.on('field', (name, value, isNameCut, isValueCut) => {
        if (isNameCut || isValueCut) reject(new DomainError('INVALID_VALUE', 'A field of the form is too long', { param: name }));
        else this.#fields.set(name, value);
      });
      for (const event of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const) {
        busboy.on(event, () => reject(new DomainError('INVALID_VALUE', 'The form has too many parts')));
      }
      busboy.on('error', () => reject(new DomainError('INVALID_VALUE', 'The body is not a well-formed multipart form')));
      busboy.on('finish', resolve);
      req.on('error', () => reject(bodyClosed()));
      req.on('close', () => {
        if (!req.complete) reject(bodyClosed());
      });
      req.pipe(busboy);
    })
      .catch((error: unknown) => {
        req.unpipe(this.#busboy);
        this.#busboy.destroy();
        throw error;
      })
      .finally(stopWaiting);
    if (this.#file === undefined || this.#spool === undefined) throw missing(this.#limits.fileField);
    const { filename, mimeType, hash } = await this.#file;
    const spool = this.#spool;
    return {
      file: { filename, mimeType, sizeBytes: spool.sizeBytes, stream: () => spool.read() },
      fields: this.#fields,
      hash,
      dispose: () => spool.dispose(),
    };
  }

  async dispose(): Promise<void> {
    await this.#file?.catch(() => undefined);
    await this.#spool?.dispose();
  }

  #onFile(name: string, stream: Readable, filename: string, mimeType: string, reject: (error: unknown) => void): void {
    stream.on('error', () => reject(bodyClosed()));
    if (name !== this.#limits.fileField || this.#file !== undefined) {
      stream.resume();
      const message =
        this.#file === undefined
          ? `The file must be sent in the field "${this.#limits.fileField}"`
          : 'The form must hold one file, not several';
      reject(new DomainError('INVALID_VALUE', message, { param: name.slice(0, 100) }));
      return;
    }
    const spool = new Spool();
    this.#spool = spool;
    this.#file = this.#keep(stream, spool, safeFilename(filename), safeMimeType(mimeType));
    this.#file.catch((error: unknown) => {
      stream.resume();
      reject(error);
    });
  }

  async #keep(stream: Readable, spool: Spool, filename: string, mimeType: string) {
    const hash = createHash('sha256').update(`${filename}\n${mimeType}\n`);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      await spool.write(chunk);
      hash.update(chunk);
      if (spool.sizeBytes > this.#limits.fileMaxBytes) throw fileTooLarge(this.#limits);
    }
    return { filename, mimeType, hash: hash.digest('hex') };
  }
}

/** The last part of whatever path was given, without characters that harm a header, a log or a file system. */
export function safeFilename(given: string | undefined): string {
  const last = (given ?? '').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .toWellFormed()
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
  const cut = Array.from(plain).slice(0, 200).join('');
  return /^\.*$/.test(cut) ? 'file' : cut;
}

/** The type without parameters; what is none becomes the type of any bytes. */
export function safeMimeType(given: string): string {
  const plain = given.toLowerCase().split(';')[0]?.trim() ?? '';
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(plain) ? plain : 'application/octet-stream';
}

export function fileTooLarge(limits: UploadLimits): DomainError {
  return new DomainError('REQUEST_TOO_LARGE', `The file must be at most ${limits.fileMaxBytes} bytes`, {
    param: limits.fileField,
  });
}
function missing(field: string): DomainError {
  return new DomainError('MISSING_REQUIRED_PARAMETER', `The form must hold a file in the field "${field}"`, { param: field });
}
export function bodyClosed(): DomainError {
  return new DomainError('CLIENT_CLOSED_REQUEST', 'The body ended before it was complete');
}
