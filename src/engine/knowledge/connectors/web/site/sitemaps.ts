import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EgressError } from '../../../../egress/error.ts';
import { ExtractError } from '../../../extract/error.ts';
import type { ScopeFacts } from '../address/scope.ts';
import type { PageReader, Sitemap } from '../reading/page-reader.ts';
import { mayPass, type Visitor, visit } from './visitor.ts';

const sitemapsMax = 100;
/** Of one sitemap: what the protocol allows. */
const bytesMax = 50 * 1024 * 1024;
const redirectsMax = 5;
/** Addresses that are taken without a pause for other work. */
const sliceCount = 500;

export interface SitemapTask {
  readonly sitemaps: readonly string[];
  readonly delayMs: number;
  readonly pages: PageReader;
  readonly scope: ScopeFacts;
  /** Addresses that are wanted of one sitemap. */
  readonly pagesMax: number;
  /** @returns false when no more addresses are wanted. */
  take(address: string): boolean;
  leaveOut(counts: Sitemap['leftOut']): void;
  progress(url: string): void;
}

/**
 * Reads sitemaps, and those that an index names. XML, text with an address a line, and both compressed with gzip.
 *
 * @returns whether all of them answered. A sitemap that is not there answered.
 */
export async function readSitemaps(visitor: Visitor, task: SitemapTask, signal: AbortSignal): Promise<boolean> {
  const queue = [...new Set(task.sitemaps)].slice(0, sitemapsMax);
  const seenUrls = new Set(queue);
  let areComplete = true;
  for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
    task.progress(url);
    const sitemap = await readSitemap(visitor, task, url, signal);
    if (sitemap === undefined) {
      areComplete = false;
      continue;
    }
    task.leaveOut(sitemap.leftOut);
    for (const address of sitemap.sitemaps) {
      if (seenUrls.size >= sitemapsMax || seenUrls.has(address)) continue;
      seenUrls.add(address);
      queue.push(address);
    }
    for (const [index, address] of sitemap.pages.entries()) {
      if (!task.take(address)) return areComplete;
      if (index % sliceCount === sliceCount - 1) await new Promise(setImmediate);
    }
  }
  return areComplete;
}

const nothing: Sitemap = { pages: [], sitemaps: [], leftOut: { excluded: 0, outside: 0 } };

/** @returns undefined for one that may answer later. */
async function readSitemap(visitor: Visitor, task: SitemapTask, url: string, signal: AbortSignal): Promise<Sitemap | undefined> {
  const { delayMs, pages, pagesMax, scope } = task;
  const folder = await mkdtemp(join(tmpdir(), 'parley-sitemap-'));
  try {
    const path = join(folder, 'sitemap');
    const request = { url, bytesMax, redirectsMax, delayMs };
    const reply = await visit(visitor, request, signal, async ({ status, url: base }, content) => {
      if (status === 429 || status >= 500) return 'LATER';
      if (status < 200 || status > 299) return 'NONE';
      await store(content, path);
      return { base };
    });
    if (reply === 'LATER') return undefined;
    return reply === 'NONE' ? nothing : await pages.sitemap(visitor.owner, path, { url: reply.base, scope, pagesMax }, signal);
  } catch (error) {
    signal.throwIfAborted();
    // A file that cannot be read will not be better later.
    if (error instanceof ExtractError) return error.isRetryable ? undefined : nothing;
    if (error instanceof EgressError) return mayPass(error) ? undefined : nothing;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Of a sitemap that is too long, the beginning is read. */
async function store(content: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    for await (const block of content) await file.write(block);
  } catch (error) {
    if (!(error instanceof EgressError) || error.code !== 'TOO_LARGE') throw error;
  } finally {
    await file.close();
  }
}
