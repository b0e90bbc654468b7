import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { findRequestId } from '../context.ts';
import { sendBody } from './reply.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

interface Compressed {
  readonly gzipped: Buffer;
  readonly etag: string;
}

/**
 * Content that is the same for every reader until the process ends. It is made and compressed for its first reader, and only the compressed
 * bytes are kept: nearly every reader takes gzip.
 */
export class StaticContent {
  readonly #make: () => string | Buffer | Promise<string | Buffer>;
  readonly #cacheControl: string;
  readonly #headers: readonly string[];
  #compressed: Promise<Compressed> | undefined;

  /**
   * @param headers  a flat list of names and values, without those of caches and encodings.
   * @param make  called again by the next reader when it fails.
   * @param kept  `for ever`: another content has another address, so browsers need not ask again.
   */
  constructor(
    headers: readonly string[],
    make: () => string | Buffer | Promise<string | Buffer>,
    keptPeriod: 'until it changes' | 'for ever' = 'until it changes',
  ) {
    this.#make = make;
    this.#cacheControl = keptPeriod === 'for ever' ? 'public, max-age=31536000, immutable' : 'no-cache';
    this.#headers = headers;
    this.#make = make;
  }

  /**
   * Sends the content, or 304 to a reader who has it. Unless it is kept for ever, browsers keep it and ask each time whether it has changed: another version of Parley may
   * answer at the same address.
   *
   * @throws what `make` throws, and what `sendBody` throws.
   */
  async send(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.#compressed ??= this.#compress();
    const { gzipped: gzippedBytes, etag } = await this.#compressed;
    // CORS may have set it. By `Accept`, some addresses have something else for other clients.
    const vary = [res.getHeader('vary') ?? [], 'Accept', 'Accept-Encoding'].flat().join(', ');
    const headers = [
      'x-request-id',
      findRequestId(req),
      ...this.#headers,
      'vary',
      vary,
      'cache-control',
      this.#cacheControl,
      'etag',
      etag,
    ];
    if (sendUnchanged(req, res, etag, headers)) return;
    if (takesGzip(req.headers['accept-encoding'])) sendBody(res, 200, [...headers, 'content-encoding', 'gzip'], gzippedBytes);
    else sendBody(res, 200, headers, await decompress(gzippedBytes));
  }

  async #compress(): Promise<Compressed> {
    try {
      const gzippedBytes = await compress(await this.#make());
      // Weak: the compressed and the plain bytes have the same tag.
      return { gzipped: gzippedBytes, etag: `W/${makeTag(gzippedBytes)}` };
    } catch (error) {
      this.#compressed = undefined;
      throw error;
    }
  }
}

/** A tag of content, for `ETag`. */
export function makeTag(content: string | Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** Sends 304 to a reader who has what the tag names. @returns whether it is answered with that. */
export function sendUnchanged(req: IncomingMessage, res: ServerResponse, etag: string, headers: readonly string[]): boolean {
  if (!hasTag(req.headers['if-none-match'], etag)) return false;
  if (!res.headersSent && !res.destroyed) res.writeHead(304, [...headers]).end();
  return true;
}

/** Whether a header `If-None-Match` names the tag. */
function hasTag(header: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return header?.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag)) === true;
}

/** Whether a header `Accept-Encoding` names gzip; `gzip;q=0` refuses it. */
function takesGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((part) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(part));
}
