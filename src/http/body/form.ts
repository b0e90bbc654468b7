import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { UploadedFile } from '../../entities/conversations/chats/uploaded-file.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { Spool } from './spool.ts';
import { watchBody } from './watch.ts';

export interface FormLimits {
  /** Exact: a file of this many bytes passes, one more does not. */
  readonly fileMaxBytes: number;
  readonly filesMax: number;
  /** Of one text field, and of all of them together. */
  readonly fieldMaxBytes: number;
  readonly fieldsMaxBytes: number;
  readonly fieldsMax: number;
  /** Silence of the client after which the form is given up. */
  readonly idleMs: number;
  /** Whether a part without a filename is a file all the same. */
  isFile?(name: string): boolean;
  /** Refuses a file before its bytes are read, by throwing. `before` is the number of files in front of it. */
  admitFile?(name: string, before: number): void;
}

export interface FormFile extends UploadedFile {
  /** The form's name of the file. */
  readonly name: string;
  /** SHA-256 of filename, type and bytes: the same for the same file, whatever the boundary was. */
  readonly hash: string;
}

/** A form that was read to its end. Its files are set aside until `dispose`. */
export interface Form {
  /** The last one of a name counts. */
  readonly fields: ReadonlyMap<string, string>;
  readonly files: readonly FormFile[];
  dispose(): Promise<void>;
}

/**
 * Reads a multipart form, for both APIs. Files are complete, counted and set aside before they are used. A form that is refused, cut off or
 * silent leaves nothing behind: no file, no descriptor, no timer.
 *
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, REQUEST_TOO_LARGE, INVALID_VALUE, REQUEST_TIMEOUT, CLIENT_CLOSED_REQUEST, and what `admitFile` throws.
 */
export async function readForm(req: IncomingMessage, limits: FormLimits): Promise<Form> {
  const reader = new FormReader(req.headers['content-type'] ?? '', limits);
  try {
    await reader.read(req);
  } catch (error) {
    await reader.dispose();
    throw error;
  }
  return { fields: reader.fields, files: reader.files, dispose: () => reader.dispose() };
}

class FormReader {
  readonly fields = new Map<string, string>();
  readonly files: FormFile[] = [];
  readonly #limits: FormLimits;
  readonly #busboy: InstanceType<typeof Busboy>;
  readonly #spools: Spool[] = [];
  readonly #streams = new Set<Readable>();
  readonly #keeping: Promise<void>[] = [];
  #fieldsBytes = 0;

  constructor(contentType: string, limits: FormLimits) {
    this.#limits = limits;
    this.#busboy = createBusboy(contentType, limits);
  }

  async read(req: IncomingMessage): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stopWatching = watchBody(req, this.#limits.idleMs, reject);
    this.#listen(resolve, reject);
    req.pipe(this.#busboy);
    try {
      await promise;
      await Promise.all(this.#keeping);
    } catch (error) {
      req.unpipe(this.#busboy);
      this.#busboy.destroy();
      // The parser does not end the files that it has begun.
      for (const stream of this.#streams) stream.destroy(new Error('the form was given up'));
      throw error;
    } finally {
      stopWatching();
    }
  }

  async dispose(): Promise<void> {
    await Promise.allSettled(this.#keeping);
    await Promise.all(this.#spools.map((spool) => spool.dispose()));
  }

  #listen(resolve: () => void, reject: (error: unknown) => void): void {
    const busboy = this.#busboy;
    // The parser gives a part without a name the name undefined, whatever its types say.
    busboy.on('field', (name: string | undefined = '', value, isNameCut, isValueCut) => {
      this.#fieldsBytes += Buffer.byteLength(value);
      if (isNameCut || isValueCut) reject(tooLarge(name, this.#limits.fieldMaxBytes));
      else if (this.#fieldsBytes > this.#limits.fieldsMaxBytes)
        reject(tooLarge('All fields together', this.#limits.fieldsMaxBytes));
      else this.fields.set(name, value);
    });
    busboy.on('file', (name: string | undefined = '', stream, filename, _encoding, mimeType) => {
      const keeping = this.#keep(name, stream, filename, mimeType);
      keeping.catch(reject);
      this.#keeping.push(keeping);
    });
    const { filesMax, fieldsMax } = this.#limits;
    for (const event of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const) {
      const message = `The form has too many parts: at most ${filesMax} files and ${fieldsMax} fields are taken`;
      busboy.on(event, () => reject(new DomainError('INVALID_VALUE', message)));
    }
    busboy.on('error', () => reject(malformed()));
    busboy.on('finish', resolve);
  }

  async #keep(name: string, stream: Readable, givenFilename: string, givenType: string): Promise<void> {
    this.#streams.add(stream);
    let parserError: unknown;
    // Listened to also after the form was given up: an error without a listener ends the process.
    stream.on('error', (error) => {
      parserError = error;
    });
    this.#limits.admitFile?.(name, this.#streams.size - 1);
    const { fileMaxBytes } = this.#limits;
    const filename = safeFilename(givenFilename);
    const mimeType = safeMimeType(givenType);
    const hash = createHash('sha256').update(`${filename}\n${mimeType}\n`);
    const spool = new Spool();
    this.#spools.push(spool);
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        await spool.write(chunk);
        hash.update(chunk);
        if (spool.sizeBytes > fileMaxBytes) throw tooLarge(name, fileMaxBytes);
      }
    } catch (error) {
      throw error === parserError ? malformed() : error;
    }
    const { sizeBytes } = spool;
    this.files.push({ name, filename, mimeType, sizeBytes, hash: hash.digest('hex'), stream: () => spool.read() });
  }
}

function createBusboy(contentType: string, limits: FormLimits): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // `safeFilename` knows paths from names with a backslash.
      preservePath: true,
      isPartAFile: (name, _type, filename) => filename !== undefined || limits.isFile?.(name ?? '') === true,
      limits: {
        fieldNameSize: 200,
        fieldSize: limits.fieldMaxBytes,
        fields: limits.fieldsMax,
        files: limits.filesMax,
        parts: limits.filesMax + limits.fieldsMax,
        headerPairs: 50,
        fileSize: limits.fileMaxBytes + 1,
      },
    });
  } catch {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The header content-type is not that of a multipart form');
  }
}

/**
 * The name of a file as its owner sees it, without the folders that some clients send, and without characters that harm a header, a log or a file
 * system. A backslash is part of a name, except in the path of a Windows file. Browsers write `"` and line ends as %22, %0D and %0A.
 */
export function safeFilename(filenameText: string | undefined): string {
  const decodedName = (filenameText ?? '').replaceAll('%22', '"').replace(/%0[AD]/gi, '');
  const path = /^(?:[a-z]:\\|\\\\)/i.test(decodedName) ? decodedName.replaceAll('\\', '/') : decodedName;
  const plain = (path.split('/').at(-1) ?? '')
    .toWellFormed()
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
  const cut = Array.from(plain).slice(0, 200).join('');
  return /^\.*$/.test(cut) ? 'file' : cut;
}

/** The type without parameters; text that is no type becomes application/octet-stream. */
export function safeMimeType(mimeText: string): string {
  const plain = mimeText.toLowerCase().split(';')[0]?.trim() ?? '';
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(plain) ? plain : 'application/octet-stream';
}

function tooLarge(name: string, maxBytes: number): DomainError {
  const param = name.slice(0, 100);
  return new DomainError('REQUEST_TOO_LARGE', `${param} must be at most ${maxBytes} bytes`, { param });
}

function malformed(): DomainError {
  return new DomainError('INVALID_VALUE', 'The body is not a well-formed multipart form');
}
