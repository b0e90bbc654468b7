import { pino } from 'pino';
import { createEgress } from '../../../src/engine/egress/egress.ts';
import type {
  Connector,
  ExistingItem,
  ListedItem,
  ListedPage,
  ListingEnd,
} from '../../../src/engine/knowledge/connectors/connector.ts';
import { ServiceClient } from '../../../src/engine/knowledge/connectors/service-client/client.ts';
import { createPageReader } from '../../../src/engine/knowledge/connectors/web/reading/page-reader.ts';
import {
  createWebConnector,
  type WebConnectorOptions,
  type WebServices,
} from '../../../src/engine/knowledge/connectors/web/web.ts';
import { createExtractor } from '../../../src/engine/knowledge/extract/extract.ts';
import { FairQueue } from '../../../src/lib/flow/fair-queue.ts';
import { testSettings } from '../settings.ts';

/** What a listing said, and what a service would know after it. */
export interface Listing {
  readonly items: ListedItem[];
  readonly goneIds: string[];
  readonly unchangedIds: string[];
  readonly pages: ListedPage[];
  readonly progress: string[];
  /** Undefined when the listing failed, or was left. */
  readonly end: ListingEnd | undefined;
  readonly error: unknown;
  /** Paths of all listed items, sorted. */
  paths(): string[];
}

export interface ListOptions {
  readonly state?: unknown;
  readonly place?: unknown;
  readonly isForced?: boolean;
  readonly known?: ReadonlyMap<string, ExistingItem>;
  readonly signal?: AbortSignal;
  /** Leaves the listing after this many parts. */
  readonly pagesMax?: number;
}

const entry = new URL('../../../src/engine/knowledge/connectors/web-reader-process.ts', import.meta.url);
/** One for all crawls of this worker: the start of a process takes longer than a crawl. Its processes end by themselves. */
const extractor = createExtractor({ entry, idleMs: 2_000 });

const owner = { orgId: 'org_1', tenantId: 'ten_1' };

/** Drives the connector of web sources without a service. */
export function crawler(
  env: Readonly<Record<string, string>> = {},
  options: WebConnectorOptions = {},
): { readonly connector: Connector; list(data: Readonly<Record<string, unknown>>, options?: ListOptions): Promise<Listing> } {
  const settings = testSettings({ EGRESS_ALLOW: '127.0.0.1', ...env });
  const queue = (max: number) => new FairQueue({ max, tenantPercent: 99 });
  const egress = createEgress({
    ...{ allow: settings.EGRESS_ALLOW, connectTimeoutMs: 5_000, lookupTimeoutMs: 5_000, lookups: queue(16), calls: queue(64) },
  });
  const refuse = () => {
    throw new Error('a crawl has no tokens');
  };
  const pages = createPageReader({ extractor, places: queue(4), settings });
  const services: WebServices = {
    ...{ settings, egress, pages, logger: pino({ level: 'silent' }), now: () => new Date() },
    vendors: new ServiceClient({ egress, timeoutMs: 1_000, connectTimeoutMs: 1_000 }),
    tokens: { open: refuse },
    installations: { open: refuse },
  };
  const connector = createWebConnector(services, { backoffMs: 1, requestTimeoutMs: 5_000, ...options });
  return {
    connector,
    async list(
      data,
      { known = new Map(), pagesMax, signal = new AbortController().signal, isForced = false, state, place } = {},
    ) {
      const source = { id: 'ds_1', ownerUserId: 'user_1', type: 'WEB_URL', data, ...owner } as const;
      const progress: string[] = [];
      const pages: ListedPage[] = [];
      let end: ListingEnd | undefined;
      let error: unknown;
      const listing = connector.list({
        ...{ source, isForced, state, signal, progress: (current: string) => progress.push(current) },
        // As the service stores it.
        place: place === undefined ? undefined : JSON.parse(JSON.stringify(place)),
        known: async (ids) => new Map(ids.flatMap((id) => (known.has(id) ? [[id, known.get(id) as ExistingItem]] : []))),
      });
      try {
        for (;;) {
          const part = await listing.next();
          if (part.done === true) end = part.value;
          else pages.push(part.value);
          if (part.done === true) break;
          if (pages.length === pagesMax) {
            await listing.return({ isComplete: false });
            break;
          }
        }
      } catch (failure) {
        error = failure;
      }
      const items = pages.flatMap((page) => page.items);
      return {
        ...{ items, pages, progress, end, error },
        goneIds: pages.flatMap((page) => page.goneIds ?? []),
        unchangedIds: pages.flatMap((page) => page.unchangedIds ?? []),
        paths: () => items.map(({ uniqueId }) => new URL(uniqueId).pathname + new URL(uniqueId).search).sort(),
      };
    },
  };
}

/** What a service knows of the items of a listing once they are indexed. */
export function existingItemsOf(listing: Listing): Map<string, ExistingItem> {
  const indexed = listing.items.filter(({ skipped }) => skipped === undefined);
  return new Map(
    indexed.map(({ uniqueId, parentUniqueId, changeKey, metadata = {}, notes = {} }) => [
      uniqueId,
      { uniqueId, parentUniqueId, changeKey, metadata, notes, isIndexed: true, isListed: false },
    ]),
  );
}
