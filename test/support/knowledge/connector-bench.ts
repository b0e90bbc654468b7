import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgress } from '../../../src/engine/egress/egress.ts';
import type { OpenConnection } from '../../../src/engine/knowledge/connections/tokens.ts';
import type {
  Connector,
  ConnectorServices,
  FetchedContent,
  ListedItem,
  ListedPage,
  SyncedSource,
} from '../../../src/engine/knowledge/connectors/connector.ts';
import { SourceError } from '../../../src/engine/knowledge/connectors/error.ts';
import { ServiceClient } from '../../../src/engine/knowledge/connectors/service-client/client.ts';
import type { ConnectedType } from '../../../src/entities/knowledge/data-source.ts';
import { createLogger } from '../../../src/http/log/logging.ts';
import { testSettings } from '../settings.ts';
import { egressPlaces, someOwner } from '../sharing/pools.ts';

/** A token of a stand-in, which is renewed once it is refused. */
export interface BenchToken {
  access: string;
  /** Gets another token, as a refresh does. */
  renew?: () => Promise<string>;
}

export interface ConnectorBench {
  readonly services: ConnectorServices;
  /** The time that connectors are told. */
  now: Date;
  close(): Promise<void>;
}

/** What connectors work with, on this machine, without waits between attempts. */
export function connectorBench(env: Readonly<Record<string, string>>, token: BenchToken, allow?: string): ConnectorBench {
  const settings = testSettings({ LOG_LEVEL: 'fatal', ...env });
  const limits = { dnsServers: [], connectTimeoutMs: 1_000, lookupTimeoutMs: 1_000, ...egressPlaces(16, 16) };
  const egress = createEgress({ allow, ...limits });
  const vendors = new ServiceClient({
    egress,
    timeoutMs: settings.CONNECTOR_TIMEOUT_MS,
    connectTimeoutMs: 1_000,
    waitFactor: 0,
  });
  const bench: ConnectorBench = {
    now: new Date('2026-11-22T10:00:00Z'),
    services: {
      ...{ settings, egress, vendors, logger: createLogger(settings) },
      now: () => bench.now,
      tokens: { open: async () => opened(token) },
      installations: { open: async () => opened(token) },
    },
    async close() {
      await Promise.all([vendors.close(), egress.close()]);
    },
  };
  return bench;
}

function opened(token: BenchToken): OpenConnection {
  return {
    connection: { baseUrl: null } as never,
    account: 'bench',
    authorization: async () => `Bearer ${token.access}`,
    async renew() {
      if (token.renew === undefined) throw new SourceError('AUTH', 'The account has to be connected again.');
      token.access = await token.renew();
    },
  };
}

/** What one run of a source did. */
export interface RunResult {
  /** Every item of its pages, the last one of an id. */
  readonly listed: ReadonlyMap<string, ListedItem>;
  readonly goneIds: readonly string[];
  readonly isComplete: boolean;
  readonly pages: readonly ListedPage[];
}

/** A source with what is stored of it: runs of its connector, one after the other. */
export class BenchSource {
  readonly #connector: Connector;
  readonly #source: SyncedSource;
  /** The items after the last run, and those that a full run did not see. */
  readonly items = new Map<string, ListedItem>();
  state: unknown;
  /** Where a run was cut off. */
  place: unknown;
  /** What the run saw so far, also before it was cut off. */
  #seen = new Set<string>();
  /** What it was told to be deleted, also before it was cut off. */
  #gone = new Set<string>();

  constructor(connector: Connector, type: ConnectedType, data: Readonly<Record<string, unknown>>) {
    this.#connector = connector;
    this.#source = { id: 'ds_1', ownerUserId: 'user_1', type, data: { oauthTokenId: 'oat_1', ...data }, ...someOwner };
  }

  /** @param pagesMax  cuts the run off after so many pages, as a kill does. */
  async run(options: { readonly isForced?: boolean; readonly pagesMax?: number } = {}): Promise<RunResult> {
    const { isForced = false, pagesMax = Number.POSITIVE_INFINITY } = options;
    const listed = new Map<string, ListedItem>();
    const gone = this.#gone;
    const pages: ListedPage[] = [];
    const listing = this.#connector.list({
      ...{ source: this.#source, isForced, state: isForced ? undefined : stored(this.state), place: stored(this.place) },
      signal: new AbortController().signal,
      progress: () => undefined,
      known: async (ids) =>
        new Map(
          ids.flatMap((id) => {
            const item = this.items.get(id);
            const changeKey = item?.changeKey ?? null;
            if (item === undefined) return [];
            const { parentUniqueId, metadata = {}, notes = {} } = item;
            const isListed = this.#seen.has(id) && !this.#gone.has(id);
            return [[id, { uniqueId: id, changeKey, metadata, notes, isIndexed: true, parentUniqueId, isListed }]];
          }),
        ),
    });
    for (let step = await listing.next(); ; step = await listing.next()) {
      if (step.done === true) {
        const { isComplete, state } = step.value;
        if (state !== undefined) this.state = state;
        this.place = undefined;
        for (const id of this.items.keys()) if (gone.has(id) || (isComplete && !this.#seen.has(id))) this.items.delete(id);
        this.#seen = new Set();
        this.#gone = new Set();
        return { listed, goneIds: [...gone], isComplete, pages };
      }
      const page = step.value;
      pages.push(page);
      this.place = page.place ?? undefined;
      for (const item of page.items) {
        listed.set(item.uniqueId, item);
        this.#seen.add(item.uniqueId);
        this.items.set(item.uniqueId, item);
        gone.delete(item.uniqueId);
      }
      for (const id of page.goneIds ?? []) gone.add(id);
      if (pages.length < pagesMax) continue;
      await listing.return({ isComplete: false });
      return { listed, goneIds: [...gone], isComplete: false, pages };
    }
  }

  /** The content of an item that was listed. @throws SourceError */
  async fetch(id: string, bytesMax = 1_000_000): Promise<FetchedContent & { readonly text: string }> {
    const item = this.items.get(id);
    if (item === undefined) throw new Error(`the source has no item ${id}`);
    const folder = await mkdtemp(join(tmpdir(), 'parley-connector-'));
    try {
      const path = join(folder, 'content');
      const fetched = await this.#connector.fetch({
        ...{ source: this.#source, path, bytesMax, signal: new AbortController().signal },
        item: { metadata: {}, ...item },
      });
      return { ...fetched, text: await readFile(path, 'utf8') };
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  get ids(): readonly string[] {
    return [...this.items.keys()].sort();
  }
}

/** What a database gives back. */
function stored(value: unknown): unknown {
  return value === undefined || value === null ? undefined : JSON.parse(JSON.stringify(value));
}
