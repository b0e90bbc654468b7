import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { damaged, ExtractError, encrypted } from './error.ts';
import { readXml, type XmlHandler } from './xml.ts';

const mebibyte = 1024 * 1024;
/** A book with a thousand pictures has some thousand entries. */
const entriesMax = 20_000;
/** The parts of one document that are read, inflated, together. */
const inflatedMaxBytes = 512 * mebibyte;
/** Text deflates to a tenth, sheets of equal rows to a fiftieth. Only parts larger than `ratioFreeBytes` are compared. */
const ratioMax = 200;
const ratioFreeBytes = 32 * mebibyte;
/** A part that is read as a whole: a chapter, a sheet. */
const wholePartMaxBytes = 64 * mebibyte;

/**
 * A ZIP archive in memory. Parts are inflated only when they are asked for, as a stream, within a budget for the whole archive; names
 * never become paths of files, and archives inside it stay closed.
 */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  /** Begins the sentences of errors: `The Word document`. */
  what = 'The archive';
  #inflatedBytes = 0;

  /** Use `Archive.open`. */
  constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /**
   * @returns undefined when the bytes have no readable directory of entries.
   * @throws ExtractError CORRUPT for too many entries, or names that lead out of the archive.
   */
  static async open(bytes: Uint8Array): Promise<Archive | undefined> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const entries = new Map<string, Entry>();
    try {
      const zip = await fromBufferPromise(withoutRest(buffer));
      if (zip.entryCount > entriesMax) throw tooManyEntries();
      for await (const entry of zip.eachEntry()) {
        if (entries.size >= entriesMax) throw tooManyEntries();
        if (!entries.has(entry.fileName)) entries.set(entry.fileName, entry);
      }
      return new Archive(zip, entries);
    } catch (error) {
      if (error instanceof ExtractError) throw error;
      if (/^(?:absolute path|invalid relative path|invalid characters in fileName)/.test(String((error as Error).message))) {
        throw new ExtractError('CORRUPT', 'The archive holds file names that lead out of it, so it is not opened.');
      }
      return undefined;
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Streams a part's XML to the handler. @returns false when there is no such part. */
  async xml(name: string, handler: XmlHandler): Promise<boolean> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return false;
    await readXml(this.#stream(entry), handler, this.what);
    return true;
  }

  /** A part as a whole; undefined when there is none. */
  async read(name: string): Promise<Uint8Array | undefined> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    if (entry.uncompressedSize > wholePartMaxBytes) throw this.#tooLarge('has a part that expands', wholePartMaxBytes);
    const parts: Buffer[] = [];
    for await (const part of this.#stream(entry)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** A part as it is inflated; nothing when there is none. */
  async *parts(name: string): AsyncGenerator<Uint8Array, void, void> {
    const entry = this.#entries.get(name);
    if (entry !== undefined) yield* this.#stream(entry);
  }

  /** @throws ExtractError when the entry is encrypted, damaged, a bomb, or beyond the budget. */
  async *#stream(entry: Entry): AsyncGenerator<Buffer, void, void> {
    if (entry.isEncrypted()) throw encrypted(this.what);
    if (entry.uncompressedSize > ratioFreeBytes && entry.uncompressedSize > entry.compressedSize * ratioMax) {
      throw new ExtractError('CORRUPT', `${this.what} expands to more than ${ratioMax} times its size, so it is not opened.`);
    }
    const stream = await this.#zip.openReadStreamPromise(entry).catch(() => {
      throw damaged(this.what);
    });
    try {
      for await (const part of stream as AsyncIterable<Buffer>) {
        this.#inflatedBytes += part.length;
        if (this.#inflatedBytes > inflatedMaxBytes) throw this.#tooLarge('expands', inflatedMaxBytes);
        yield part;
      }
    } catch (error) {
      throw error instanceof ExtractError || error instanceof RangeError ? error : damaged(this.what);
    } finally {
      stream.destroy();
    }
  }

  #tooLarge(does: string, maxBytes: number): ExtractError {
    const sentence = `${this.what} ${does} to more than the ${maxBytes / mebibyte} MiB that can be read; split it into smaller ones.`;
    return new ExtractError('TOO_LARGE', sentence);
  }
}

/** The record at the end of an archive, without its comment. */
const endBytes = 22;

/**
 * An archive with the end that its last record tells of. Mail programs and downloads add bytes to a file, and some programs count a comment that is not
 * there: other readers open such archives.
 */
function withoutRest(file: Buffer): Buffer {
  const end = file.lastIndexOf('PK\u0005\u0006') + endBytes;
  if (end < endBytes || end > file.length) return file;
  const commentBytes = file.readUInt16LE(end - 2);
  if (end + commentBytes === file.length) return file;
  if (end + commentBytes < file.length) return file.subarray(0, end + commentBytes);
  const whole = Buffer.from(file.subarray(0, end));
  whole.writeUInt16LE(0, end - 2);
  return whole;
}

function tooManyEntries(): ExtractError {
  const most = entriesMax.toLocaleString('en-US');
  return new ExtractError('CORRUPT', `The archive holds more than ${most} entries, so it is not opened.`);
}
