import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

const memoryMaxBytes = 512 * 1024;

/**
 * Bytes set aside until a request is answered: in memory while they are few, else in a nameless temporary file. `dispose` frees all of it,
 * also while a chunk is being written.
 */
export class Spool {
  #chunks: Buffer[] = [];
  #handle: FileHandle | undefined;
  #path: string | undefined;
  #written: Promise<void> = Promise.resolve();
  #isDisposed = false;
  sizeBytes = 0;

  /** One at a time: await it before the next. @throws Error after `dispose`. */
  write(chunk: Buffer): Promise<void> {
    const writing = this.#write(chunk);
    this.#written = writing.catch(() => undefined);
    return writing;
  }

  /** All bytes from the first one; may be called more than once. */
  read(): Readable {
    if (this.#handle === undefined) return Readable.from(this.#chunks, { objectMode: false });
    return this.#handle.createReadStream({ start: 0, autoClose: false });
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#written;
    this.#chunks = [];
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => undefined);
    if (this.#path !== undefined) await unlink(this.#path).catch(() => undefined);
    this.#path = undefined;
  }

  async #write(chunk: Buffer): Promise<void> {
    if (this.#isDisposed) throw new Error('the bytes were given up');
    this.sizeBytes += chunk.length;
    if (this.#handle === undefined && this.sizeBytes <= memoryMaxBytes) {
      this.#chunks.push(chunk);
      return;
    }
    const handle = this.#handle ?? (await this.#openFile());
    await handle.appendFile(chunk);
  }

  async #openFile(): Promise<FileHandle> {
    const path = join(tmpdir(), `parley-upload-${randomUUID()}`);
    const handle = await open(path, 'wx+', 0o600);
    this.#handle = handle;
    this.#path = path;
    // Where the system allows it the name goes at once, so that a process that dies leaves nothing behind.
    if (process.platform !== 'win32') {
      await unlink(path);
      this.#path = undefined;
    }
    await handle.appendFile(Buffer.concat(this.#chunks));
    this.#chunks = [];
    return handle;
  }
}
