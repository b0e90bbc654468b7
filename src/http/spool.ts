import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

const memoryMaxBytes = 512 * 1024;

/** Bytes set aside until a request is answered: in memory while they are few, else in a nameless temporary file. */
export class Spool {
  #chunks: Buffer[] = [];
  #handle: FileHandle | undefined;
  #path: string | undefined;
  sizeBytes = 0;

  async write(chunk: Buffer): Promise<void> {
    this.sizeBytes += chunk.length;
    if (this.#handle === undefined && this.sizeBytes <= memoryMaxBytes) {
      this.#chunks.push(chunk);
      return;
    }
    const handle = this.#handle ?? (await this.#openFile());
    await handle.appendFile(chunk);
  }

  read(): Readable {
    if (this.#handle === undefined) return Readable.from(this.#chunks, { objectMode: false });
    return this.#handle.createReadStream({ start: 0, autoClose: false });
  }

  async dispose(): Promise<void> {
    this.#chunks = [];
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => undefined);
    if (this.#path !== undefined) await unlink(this.#path).catch(() => undefined);
    this.#path = undefined;
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
