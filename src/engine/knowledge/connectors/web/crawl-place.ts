import { z } from 'zod';

/** LINK: from a page. SITEMAP: from a sitemap. CHECK: listed by an earlier run and not found by this one; only whether it is gone matters. */
export const entryKinds = ['LINK', 'SITEMAP', 'CHECK'] as const;

/** An address that is to be read. */
export interface Entry {
  readonly url: string;
  readonly kind: (typeof entryKinds)[number];
  /** Links from the first page. */
  readonly depth: number;
  /** Redirects that led here. */
  readonly hops: number;
  /** How often it was asked for in vain. */
  readonly tries: number;
}

const count = z.number().int().min(0);
/** An entry in as few characters as possible: zeros at the end are left out. */
const packedEntry = z.union([
  z.tuple([z.string()]),
  z.tuple([z.string(), count]),
  z.tuple([z.string(), count, count]),
  z.tuple([z.string(), count, count, count]),
]);
type PackedEntry = z.infer<typeof packedEntry>;

/**
 * Where a crawl was cut off. Addresses of the site itself are kept without its origin. A crawl of `maxPages` pages has at most 2 × `maxPages` + 1,000
 * entries of each kind, 10 × `maxPages` + 10,000 keys of 11 characters, and 2 × `maxPages` addresses in `listed`.
 */
const schema = z.object({
  version: z.literal(1),
  link: z.array(packedEntry),
  sitemap: z.array(packedEntry),
  check: z.array(packedEntry),
  /** Keys of all addresses that were ever queued, one after the other. */
  seen: z.string(),
  /** What was listed, for the next run. */
  listed: z.array(z.string()),
  shapes: z.record(z.string(), count),
  /** Other origins that the site moved to. */
  origins: z.array(z.string()),
  /** What the source covers; absent in places that earlier versions wrote. */
  folder: z.string().optional(),
  pages: count,
  requests: count,
  elapsedMs: z.number().min(0),
  areSitemapsRead: z.boolean(),
  areChecksAdded: z.boolean(),
  isComplete: z.boolean(),
  isFull: z.boolean(),
  bound: z.enum(['maxPages', 'maxMemory', 'timeout']).optional(),
});
export type CrawlPlace = z.infer<typeof schema>;

/** @returns undefined at the beginning of a run, and for a place that another version wrote: then the crawl begins again. */
export function readPlace(place: unknown): CrawlPlace | undefined {
  return schema.safeParse(place).data;
}

/** What a run leaves to the next one: the addresses that it listed. */
const stateSchema = z.object({ version: z.literal(1), listed: z.array(z.string()) });
export type CrawlState = z.infer<typeof stateSchema>;

export function readState(state: unknown): CrawlState | undefined {
  return stateSchema.safeParse(state).data;
}

export function packEntry(origin: string, { url, depth, hops, tries }: Entry): PackedEntry {
  const address = packAddress(origin, url);
  if (tries > 0) return [address, depth, hops, tries];
  if (hops > 0) return [address, depth, hops];
  return depth > 0 ? [address, depth] : [address];
}

export function unpackEntry(origin: string, kind: Entry['kind'], [address, depth = 0, hops = 0, tries = 0]: PackedEntry): Entry {
  return { url: unpackAddress(origin, address), kind, depth, hops, tries };
}

export function packAddress(origin: string, url: string): string {
  return url.startsWith(`${origin}/`) ? url.slice(origin.length) : url;
}

export function unpackAddress(origin: string, address: string): string {
  return address.startsWith('/') ? origin + address : address;
}
