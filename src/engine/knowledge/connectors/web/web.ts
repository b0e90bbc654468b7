import type { Connector, ConnectorServices, FetchedContent, FetchTask, ListTask, SyncedSource } from '../connector.ts';
import { SourceError } from '../error.ts';
import { writeBounded } from '../service-client/write-bounded.ts';
import { createScope, type Scope } from './address/scope.ts';
import { readWebConfiguration, type WebConfiguration } from './configuration.ts';
import { Crawl } from './crawl.ts';
import { Memory } from './memory.ts';
import { type Outcome, readEntry } from './read-entry.ts';
import type { PageReader } from './reading/page-reader.ts';
import { readRobots } from './site/robots.ts';
import { Throttle } from './site/throttle.ts';
import type { Visitor } from './site/visitor.ts';
import { crawlUserAgent, productToken } from './user-agent.ts';

const hopsMax = 5;
const MB = 1024 * 1024;

export interface WebServices extends ConnectorServices {
  /** Looks at pages and sitemaps. */
  readonly pages: PageReader;
}

export interface WebConnectorOptions {
  /** The first wait after a failure, which doubles. Default: CONNECTOR_BACKOFF_MS. */
  readonly backoffMs?: number;
  /** Time for one reply. Default: CRAWL_TIMEOUT_MS. */
  readonly requestTimeoutMs?: number;
}

/** Reads web sites. All crawls of a connector share the places at each host. */
export function createWebConnector(services: WebServices, options: WebConnectorOptions = {}): Connector {
  const { settings, egress, pages } = services;
  const userAgent = crawlUserAgent(settings);
  const throttle = new Throttle({ concurrency: settings.CRAWL_HOST_CONCURRENCY, delayMs: settings.CRAWL_DELAY_MS });
  const createContext = (source: SyncedSource): Context => {
    const configuration = readWebConfiguration(source.data);
    return {
      configuration,
      scope: createScope(configuration),
      visitor: {
        owner: source,
        ...{ egress, pages, throttle },
        userAgent,
        requestTimeoutMs: options.requestTimeoutMs ?? settings.CRAWL_TIMEOUT_MS,
      },
      ...{ token: productToken(userAgent), fileBytesMax: settings.UPLOAD_MAX_BYTES },
      ...{ concurrency: settings.CRAWL_HOST_CONCURRENCY, backoffMs: options.backoffMs ?? settings.CONNECTOR_BACKOFF_MS },
    };
  };
  return {
    async *list(task: ListTask) {
      return yield* new Crawl({ ...createContext(task.source), task }).run();
    },
    fetch: (task) => fetchDocument(createContext(task.source), task),
  };
}

interface Context {
  readonly configuration: WebConfiguration;
  readonly scope: Scope;
  readonly visitor: Visitor;
  readonly token: string;
  readonly fileBytesMax: number;
  readonly concurrency: number;
  readonly backoffMs: number;
}

/** Reads one page again, as the crawl does. Redirects are followed where the source covers their targets. */
async function fetchDocument(context: Context, task: FetchTask): Promise<FetchedContent> {
  const { configuration, scope, visitor } = context;
  const { bytesMax, item, path, signal } = task;
  const memory = new Memory(configuration.maxMemory * MB, () => 0);
  const reading = { ...context, memory, isForced: true, fileBytesMax: Math.min(bytesMax, context.fileBytesMax) };
  let url = item.url ?? item.uniqueId;
  for (let hops = 0; ; hops += 1) {
    const robots = await readRobots(visitor, new URL(url).origin, signal, context.backoffMs);
    const entry = { url, kind: 'LINK', depth: 0, hops, tries: 0 } as const;
    const outcome = await readEntry(reading, robots, entry, undefined, signal);
    if (outcome.kind === 'READ') {
      const { content, item: read } = outcome.document;
      await writeBounded(streamBlocks(content), path, bytesMax);
      return { filename: read.filename, mimeType: read.mimeType };
    }
    const next = outcome.kind === 'REDIRECT' ? outcome.to : undefined;
    if (next === undefined || hops >= hopsMax || !scope.includes(next)) throw toFailure(url, outcome);
    url = next;
  }
}

async function* streamBlocks(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

function toFailure(url: string, outcome: Outcome): SourceError {
  switch (outcome.kind) {
    case 'GONE':
      return new SourceError('NOT_FOUND', `${url} is not there any more.`);
    case 'DISALLOWED':
      return new SourceError('ROBOTS', `The robots.txt of the site does not let crawlers read ${url}.`);
    case 'REFUSED':
      return new SourceError('FORBIDDEN', `${outcome.message} The page is not open to everybody.`);
    case 'TOO_LARGE':
      return new SourceError('TOO_LARGE', `${url} has more than ${outcome.bytesMax} bytes, which is the limit.`);
    case 'MEMORY_FULL':
      return new SourceError('TOO_LARGE', `${url} needs more than maxMemory of its source.`);
    case 'SLOW_DOWN':
      return new SourceError('RATE_LIMITED', `${outcome.message} It is tried again later.`, outcome.waitMs);
    case 'FAILED':
      return new SourceError('UNREACHABLE', `${outcome.message} It is tried again later.`);
    case 'REDIRECT':
      return new SourceError('NOT_FOUND', `${url} redirects to an address that the source does not cover.`);
    case 'UNWANTED':
    case 'READ':
    case 'UNCHANGED':
      return new SourceError('UNSUPPORTED', `${url} is neither a web page nor a file of a chosen type.`);
  }
}
