import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { EgressError } from '../../../../egress/error.ts';
import { readAddress } from '../address/address.ts';
import { mayPass, type Visitor, visit } from './visitor.ts';

const sitemapsMax = 100;
/** Of one sitemap, decoded: what the protocol allows. */
const bytesMax = 50 * 1024 * 1024;
const redirectsMax = 5;

export interface SitemapTask {
  readonly sitemaps: readonly string[];
  readonly delayMs: number;
  /** @returns false when no more addresses are wanted. */
  take(address: string): boolean;
  progress(url: string): void;
}

/**
 * Reads sitemaps, and those that an index names. XML, text with an address a line, and both compressed with gzip.
 *
 * @returns whether all of them answered. A sitemap that is not there answered.
 */
export async function readSitemaps(visitor: Visitor, task: SitemapTask, signal: AbortSignal): Promise<boolean> {
  const queue = [...new Set(task.sitemaps)];
  const seen = new Set(queue);
  let areComplete = true;
  let isWanted = true;
  for (let url = queue.shift(); url !== undefined && isWanted; url = queue.shift()) {
    task.progress(url);
    const isRead = await readSitemap(visitor, url, task.delayMs, signal, (kind, text, base) => {
      const address = readAddress(text, base);
      if (address === undefined || !isWanted) return;
      if (kind === 'page') isWanted = task.take(address);
      else if (seen.size < sitemapsMax && !seen.has(address)) {
        seen.add(address);
        queue.push(address);
      }
    });
    areComplete &&= isRead;
  }
  return areComplete;
}

type Found = (kind: 'page' | 'sitemap', text: string, base: string) => void;

async function readSitemap(visitor: Visitor, url: string, delayMs: number, signal: AbortSignal, found: Found): Promise<boolean> {
  try {
    return await visit(visitor, { url, bytesMax, redirectsMax, delayMs }, signal, async (head, content) => {
      if (head.status === 429 || head.status >= 500) return false;
      if (head.status >= 200 && head.status < 300) await readContent(content, (kind, text) => found(kind, text, head.url));
      return true;
    });
  } catch (error) {
    signal.throwIfAborted();
    // A file that no reader can decompress will not be better later.
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) return true;
    if (error instanceof EgressError) return !mayPass(error);
    throw error;
  }
}

async function readContent(
  content: AsyncIterable<Uint8Array>,
  found: (kind: 'page' | 'sitemap', text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let reader: Reader | undefined;
  for await (const block of await unzipped(content)) {
    const text = decoder.decode(block, { stream: true });
    reader ??= /^\ufeff?\s*</.test(text) ? xmlReader(found) : lineReader(found);
    reader.write(text);
    // The next block must not keep other work waiting.
    await new Promise(setImmediate);
  }
  reader?.write(decoder.decode());
  reader?.end();
}

interface Reader {
  write(text: string): void;
  end(): void;
}

function xmlReader(found: (kind: 'page' | 'sitemap', text: string) => void): Reader {
  let kind: 'page' | 'sitemap' = 'page';
  let location: string | undefined;
  const parser = new Parser(
    {
      onopentagname(name) {
        if (name === 'url') kind = 'page';
        if (name === 'sitemap') kind = 'sitemap';
        if (name === 'loc') location = '';
      },
      ontext(text) {
        if (location !== undefined && location.length < 4_000) location += text;
      },
      onclosetag(name) {
        if (name !== 'loc' || location === undefined) return;
        found(kind, location.trim());
        location = undefined;
      },
    },
    { xmlMode: true },
  );
  return { write: (text) => parser.write(text), end: () => parser.end() };
}

function lineReader(found: (kind: 'page' | 'sitemap', text: string) => void): Reader {
  let rest = '';
  const take = (line: string) => {
    if (/^\s*https?:\/\//.test(line)) found('page', line.trim());
  };
  return {
    write(text) {
      const lines = (rest + text).split(/\r?\n/);
      rest = (lines.pop() ?? '').slice(0, 4_000);
      for (const line of lines) take(line);
    },
    end: () => take(rest),
  };
}

/** Content that is a gzip file, whatever the server calls it, is decompressed, at most `bytesMax` bytes of it. */
async function unzipped(content: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const blocks = content[Symbol.asyncIterator]();
  const first = await blocks.next();
  const all = (async function* () {
    if (first.done !== true) yield first.value;
    for (let next = await blocks.next(); next.done !== true; next = await blocks.next()) yield next.value;
  })();
  const isGzip = first.done !== true && first.value[0] === 0x1f && first.value[1] === 0x8b;
  return isGzip ? gunzipped(all) : all;
}

async function* gunzipped(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const output = new PassThrough();
  const done = pipeline(Readable.from(content), createGunzip(), output);
  // The reader of the output gets the error.
  done.catch(() => {});
  let bytes = 0;
  for await (const block of output as AsyncIterable<Buffer>) {
    bytes += block.length;
    if (bytes > bytesMax) return;
    yield block;
  }
  await done;
}
