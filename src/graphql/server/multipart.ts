import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { DomainError } from '../../entities/errors.ts';
import type { UploadedFile } from '../../entities/uploaded-file.ts';
import { Spool } from '../../http/spool.ts';
import { safeFilename } from '../../http/upload.ts';
import { type Params, paramsOf } from './params.ts';

const filesMax = 10;

export interface MultipartLimits {
  readonly fileMaxBytes: number;
  /** Of the field `operations`. */
  readonly operationsMaxBytes: number;
}
export interface MultipartRequest {
  readonly params: Params;
  dispose(): Promise<void>;
}

/**
 * Reads a request of the GraphQL multipart request specification: `operations`, `map`, then the files. Files are set aside as they
 * come, so none is ever whole in memory; they are gone after `dispose`.
 *
 * @throws DomainError REQUEST_TOO_LARGE, INVALID_JSON, INVALID_VALUE, MISSING_REQUIRED_PARAMETER, UNSUPPORTED_MEDIA_TYPE.
 */
export async function readMultipart(req: IncomingMessage, limits: MultipartLimits): Promise<MultipartRequest> {
  const form = new Form(limits);
  try {
    await form.read(req);
    return { params: form.params(), dispose: () => form.dispose() };
  } catch (error) {
    await form.dispose();
    throw error;
  }
}

class Form {
  readonly #limits: MultipartLimits;
  readonly #fields = new Map<string, string>();
  readonly #files = new Map<string, UploadedFile>();
  readonly #spools: Spool[] = [];
  readonly #writing: Promise<void>[] = [];

  constructor(limits: MultipartLimits) {
    this.#limits = limits;
  }

  async read(req: IncomingMessage): Promise<void> {
    const busboy = this.#createBusboy(req.headers['content-type'] ?? '');
    try {
      await new Promise<void>((resolve, reject) => {
        busboy.on('field', (name, value, _isNameCut, isValueCut) => {
          if (isValueCut) reject(tooLarge(name, this.#limits.operationsMaxBytes));
          else this.#fields.set(name, value);
        });
        busboy.on('file', (name, stream, filename, _encoding, mimeType) => {
          stream.on('error', reject);
          const writing = this.#keep(name, stream, safeFilename(filename), mimeType);
          writing.catch(reject);
          this.#writing.push(writing);
        });
        for (const event of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const) {
          busboy.on(event, () =>
            reject(new DomainError('INVALID_VALUE', `The form has too many parts; at most ${filesMax} files are taken`)),
          );
        }
        busboy.on('error', () => reject(new DomainError('INVALID_VALUE', 'The body is not a well-formed multipart form')));
        busboy.on('finish', resolve);
        req.on('error', () => reject(cutOff()));
        req.on('close', () => {
          if (!req.complete) reject(cutOff());
        });
        req.pipe(busboy);
      });
      await Promise.all(this.#writing);
    } catch (error) {
      req.unpipe(busboy);
      busboy.destroy();
      throw error;
    }
  }

  params(): Params {
    const operations = this.#json('operations');
    const map = this.#json('map');
    if (Array.isArray(operations))
      throw new DomainError('INVALID_TYPE', 'operations must be one object; batches are not taken', { param: 'operations' });
    for (const [name, paths] of Object.entries(map as Record<string, unknown>)) {
      const file = this.#files.get(name);
      if (file === undefined) {
        throw new DomainError('MISSING_REQUIRED_PARAMETER', `map names ${name}, but the form has no such file`, { param: name });
      }
      if (!Array.isArray(paths))
        throw new DomainError('INVALID_TYPE', `map.${name} must be an array of paths`, { param: `map.${name}` });
      for (const path of paths) place(operations, path, file);
    }
    return paramsOf(operations);
  }

  async dispose(): Promise<void> {
    await Promise.allSettled(this.#writing);
    await Promise.all(this.#spools.map((spool) => spool.dispose()));
  }

  async #keep(name: string, stream: Readable, filename: string, mimeType: string): Promise<void> {
    const spool = new Spool();
    this.#spools.push(spool);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      await spool.write(chunk);
      if (spool.sizeBytes > this.#limits.fileMaxBytes) throw tooLarge(name, this.#limits.fileMaxBytes);
    }
    this.#files.set(name, { filename, mimeType, sizeBytes: spool.sizeBytes, stream: () => spool.read() });
  }

  #json(name: string): object {
    const text = this.#fields.get(name);
    if (text === undefined)
      throw new DomainError('MISSING_REQUIRED_PARAMETER', `The form must hold the field ${name}`, { param: name });
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return value;
    } catch {
      throw new DomainError('INVALID_JSON', `${name} is not valid JSON`, { param: name });
    }
    throw new DomainError('INVALID_TYPE', `${name} must be a JSON object`, { param: name });
  }

  #createBusboy(contentType: string): InstanceType<typeof Busboy> {
    const { fileMaxBytes, operationsMaxBytes } = this.#limits;
    try {
      return new Busboy({
        headers: { 'content-type': contentType },
        isPartAFile: (_name, _type, filename) => filename !== undefined,
        limits: {
          fieldNameSize: 200,
          fieldSize: operationsMaxBytes,
          fields: 5,
          files: filesMax,
          parts: filesMax + 5,
          fileSize: fileMaxBytes + 1,
        },
      });
    } catch {
      throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The header content-type is not that of a multipart form');
    }
  }
}

/** Puts a file where a path of `map` points: `variables.input.file`. Only own members that are null are replaced. */
function place(root: object, path: unknown, file: UploadedFile): void {
  const fault = new DomainError('INVALID_VALUE', 'A path of map must point to a variable whose value is null', { param: 'map' });
  if (typeof path !== 'string' || path.length > 500) throw fault;
  const keys = path.split('.');
  const last = keys.pop();
  let holder: unknown = root;
  for (const key of keys) {
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) throw fault;
    holder = Reflect.get(holder, key);
  }
  if (last === undefined || keys[0] !== 'variables' || typeof holder !== 'object' || holder === null) throw fault;
  if (!Object.hasOwn(holder, last) || Reflect.get(holder, last) !== null) throw fault;
  Reflect.set(holder, last, file);
}

function tooLarge(name: string, maxBytes: number): DomainError {
  return new DomainError('REQUEST_TOO_LARGE', `${name.slice(0, 100)} must be at most ${maxBytes} bytes`, {
    param: name.slice(0, 100),
  });
}
function cutOff(): DomainError {
  return new DomainError('CLIENT_CLOSED_REQUEST', 'The body ended before it was complete');
}
