import { join } from 'node:path';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { registerPurges } from '../domain/accounts/administration.ts';
import { rotateSecrets } from '../domain/agents/secret-rotation.ts';
import { registerAuditSweep } from '../domain/audit/audit.ts';
import { AuditTrail } from '../domain/audit/trail.ts';
import { registerOrphanSweep } from '../domain/blobs.ts';
import { registerChatFileSweep } from '../domain/chats/files.ts';
import type { Deps } from '../domain/deps.ts';
import { registerFileExpiry } from '../domain/files/files.ts';
import { registerUploadExpiry } from '../domain/files/uploads.ts';
import { registerIdempotencySweep } from '../domain/idempotency.ts';
import { registerVectorStoreExpiry } from '../domain/knowledge/vector-stores/detach.ts';
import { registerRunEventSweep } from '../domain/runs/runs.ts';
import { askableAgents, createSubagentPlan } from '../domain/runs/subagents.ts';
import { parseDnsServers } from '../engine/egress/dns-servers.ts';
import { createEgress } from '../engine/egress/egress.ts';
import { createPgBossJobs } from '../engine/jobs/pg-boss.ts';
import { crawlUserAgent } from '../engine/knowledge/connectors/web/user-agent.ts';
import { createKnowledge } from '../engine/knowledge/knowledge.ts';
import { createModelRouter } from '../engine/models/router.ts';
import { createRunEngine } from '../engine/runs/engine.ts';
import { createUsageLimits } from '../engine/runs/usage/limits.ts';
import { Pools } from '../engine/sharing/pools.ts';
import { RateLimits } from '../engine/sharing/rate-limits.ts';
import { createAgentTools } from '../engine/tools/agent-tools.ts';
import { createDeepResearchKind } from '../engine/tools/deep-research/deep-research.ts';
import { createFileSearchKind } from '../engine/tools/file-search/file-search.ts';
import { createAgentServers } from '../engine/tools/mcp/agent-servers.ts';
import { createMcpServers } from '../engine/tools/mcp/create.ts';
import { createMcpKind } from '../engine/tools/mcp/mcp.ts';
import { createMcpServerKind } from '../engine/tools/mcp/mcp-server.ts';
import type { ResolveDeps } from '../engine/tools/mcp/resolve.ts';
import { createImageGenerationKind } from '../engine/tools/image-generation/image-generation.ts';
import { createMemoryKind } from '../engine/tools/memory/memory.ts';
import { createPythonKind } from '../engine/tools/python/python.ts';
import { ToolRegistry } from '../engine/tools/registry.ts';
import { createSubagentKind } from '../engine/tools/subagent/subagent.ts';
import type { PageReading } from '../engine/tools/web-search/page-tool.ts';
import { createSearchClient } from '../engine/tools/web-search/search-client.ts';
import { createWebSearchKind, type WebSearchDeps } from '../engine/tools/web-search/web-search.ts';
import type { Tracing } from '../engine/tracing/tracing.ts';
import { type IdKind, makeId } from '../entities/ids.ts';
import type { Settings } from '../settings.ts';
import type { EmbeddedServer } from '../storage/database/embedded/embedded.ts';
import { openStorage } from '../storage/storage.ts';
import { createUsageJournal } from '../storage/usage/journal.ts';

const rateSweepMs = 600_000;
/** Time for the last spans to reach the collector, after everything else has ended. */
const tracesEndMs = 2_000;

export interface ComposeOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Base of links that Parley hands out, without a slash at the end; asked when one is made. */
  publicUrl(): string;
  /** Reads variables that a models file names for keys. */
  readonly environment?: (name: string) => string | undefined;
  /** Called when the database is gone for good. */
  readonly onFatal: (error: Error) => void;
  /** The embedded database of the settings, when it has been started already. */
  readonly embedded?: Promise<EmbeddedServer> | undefined;
}

/** A start waits this long at most for secrets to be put under the newest master key. */
const rotationWaitMs = 2_000;

/** Makes everything the domain works with, from the bottom up. `closeDeps` takes it down again. */
export async function createDeps({ settings, logger, publicUrl, environment, onFatal, embedded }: ComposeOptions): Promise<Deps> {
  const storage = await openStorage(settings, {
    embedded,
    onError(error, isFatal) {
      if (isFatal) onFatal(error);
      else logger.warn({ err: error }, 'the database connection failed and is replaced');
    },
    onStoreFailure: (error) => logger.warn({ err: error }, 'the file store of BLOB_URL failed'),
  });
  try {
    const newId = (kind: IdKind) => {
      const id = makeId(kind, Date.now());
      storage.db.currentRecord()?.made(id);
      return id;
    };
    const tracing = await createTracing(settings, logger);
    const basics = { settings, storage, logger, tracing, now: () => new Date(), newId };
    const pools = new Pools({
      tenantPercent: settings.SHARE_TENANT_MAX_PERCENT,
      organizationPercent: settings.SHARE_ORGANIZATION_MAX_PERCENT,
    });
    const jobs = createPgBossJobs({
      pools,
      inBackground: (work) => storage.db.runAs('background', work),
      pool: storage.db.pool,
      isWorker: settings.ROLE !== 'web',
      isOnlyProcess: storage.db.kind === 'embedded',
      logger,
    });
    const models = createModelRouter(settings, logger, basics.now, environment);
    const egressOptions = {
      allow: settings.EGRESS_ALLOW,
      dnsServers: parseDnsServers(settings.EGRESS_DNS_SERVERS),
      connectTimeoutMs: settings.EGRESS_CONNECT_TIMEOUT_MS,
      lookupTimeoutMs: settings.EGRESS_LOOKUP_TIMEOUT_MS,
      lookups: pools.queue('egress-lookups', settings.EGRESS_LOOKUPS_MAX, Math.ceil(settings.EGRESS_LOOKUPS_MAX / 8)),
      calls: pools.queue('egress-calls', settings.EGRESS_CALLS_MAX, Math.ceil(settings.EGRESS_CALLS_MAX / 4)),
    };
    const egress = createEgress(egressOptions);
    const knowledge = createKnowledge({
      ...{ ...basics, jobs, pools, egress, publicUrl, models },
      embed: (charge, call, signal) => runs.embed(charge, call, signal),
    });
    const limits = createUsageLimits({
      ...basics,
      store: storage.usageLimits,
      leaseMs: settings.USAGE_LEASE_MS,
      blockTokens: settings.USAGE_BLOCK_TOKENS,
    });
    const rates = createRates(basics);
    if (storage.rateBuckets !== undefined) jobs.every('rates.sweep', rateSweepMs, storage.rateBuckets.sweep);
    const agentTools = createAgentTools({ ...basics, egress });
    const journal = createUsageJournal(join(settings.DATA_DIR, 'usage-journal'), limits.owner);
    const path = environment?.('PATH');
    const mcp = createMcpServers({ ...basics, pools, egress, egressOptions, version: packageJson.version, path });
    const servers = { servers: mcp, storage, now: basics.now };
    const tools = createTools({ ...basics, pools, models, egress, knowledge, servers });
    const runs = createRunEngine({
      ...basics,
      ...{ jobs, models, knowledge, limits, journal, agentTools, pools },
      ...{ tools, publicUrl, agentServers: createAgentServers(servers), subagentPlan: createSubagentPlan({ ...basics, models }) },
    });
    const audit = new AuditTrail(basics);
    const deps: Deps = { ...basics, audit, pools, rates, jobs, models, knowledge, runs, tools, mcp, egress, publicUrl };
    knowledge.registerJobs();
    registerIdempotencySweep(deps);
    registerAuditSweep(deps);
    registerOrphanSweep(deps);
    registerRunEventSweep(deps);
    registerChatFileSweep(deps);
    registerFileExpiry(deps);
    registerUploadExpiry(deps);
    registerVectorStoreExpiry(deps);
    registerPurges(deps);
    await jobs.start();
    await runs
      .recoverUsage()
      .catch((error: unknown) => logger.error({ err: error }, 'usage of a killed process is not written yet'));
    await rotateSecrets(deps, rotationWaitMs);
    return deps;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Ends running work, at most `graceMs`, then closes what `createDeps` opened. */
export async function closeDeps(deps: Deps, graceMs: number): Promise<void> {
  await deps.runs.stop(graceMs);
  await deps.jobs.stop(graceMs);
  await deps.knowledge.close();
  await deps.models.close();
  await deps.mcp.close();
  await deps.egress.close();
  await deps.rates.stop();
  await deps.audit.flush();
  await deps.storage.close();
  await deps.tracing?.close(tracesEndMs);
}

/** Loaded only where it is switched on. */
async function createTracing(settings: Settings, logger: Logger): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED } = settings;
  if (endpoint === undefined || OTEL_SDK_DISABLED === 'true') return undefined;
  const { createOtlpTracing } = await import('../engine/tracing/otlp/create.ts');
  return createOtlpTracing({ endpoint, version: packageJson.version, settings, logger });
}

/** Limits of requests; one process on its database has nobody to share them with. */
function createRates({ settings, storage, logger }: Pick<Deps, 'settings' | 'storage' | 'logger'>): RateLimits {
  return new RateLimits({
    keyPerMinute: settings.RATE_LIMIT_REQUESTS_PER_MINUTE_KEY,
    organizationPerMinute: settings.RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION,
    store: storage.rateBuckets,
    logger,
  });
}

interface ToolParts extends Pick<Deps, 'settings' | 'storage' | 'pools' | 'models' | 'egress' | 'knowledge' | 'now' | 'newId'> {
  readonly servers: ResolveDeps;
}

/** The tools of the service that a request or an agent may switch on. */
function createTools(deps: ToolParts): ToolRegistry {
  const { settings, storage, pools, egress, knowledge, servers, now } = deps;
  const resultCharsMax = settings.TOOL_RESULT_MAX_CHARS;
  return new ToolRegistry([
    createWebSearchKind({ ...searchClients(settings, pools), pages: pageReading(settings, egress, knowledge), resultCharsMax }),
    createFileSearchKind({ knowledge, stores: storage.vectorStores, tokensMax: fileSearchTokensMax, resultCharsMax, now }),
    createPythonKind({
      programs: pools.queue('python', settings.PYTHON_PROGRAMS_MAX),
      timeoutMs: settings.PYTHON_TIMEOUT_MS,
      memoryMaxBytes: settings.PYTHON_MEMORY_MAX_BYTES,
    }),
    createImageGenerationKind({ settings, models: deps.models.images, egress: deps.egress }),
    createMemoryKind(deps),
    createDeepResearchKind(),
    createMcpServerKind(servers),
    createMcpKind(servers),
    createSubagentKind({ askableAgents: (charge, ids) => askableAgents(deps, charge, ids) }),
  ]);
}

/** TOOL_RESULT_MAX_CHARS bounds what the model gets. */
const fileSearchTokensMax = 200_000;

function searchClients(settings: Settings, pools: Pools): Pick<WebSearchDeps, 'web' | 'x'> {
  const calls = pools.queue('web-searches', settings.SEARCH_CALLS_MAX);
  const client = (url: string | undefined, apiKey: string | undefined) =>
    url === undefined
      ? undefined
      : createSearchClient({ url, apiKey, calls, provider: settings.SEARCH_PROVIDER, timeoutMs: settings.SEARCH_TIMEOUT_MS });
  return {
    web: client(settings.SEARCH_URL, settings.SEARCH_API_KEY),
    x: client(settings.X_SEARCH_URL, settings.X_SEARCH_API_KEY),
  };
}

function pageReading(settings: Settings, egress: Deps['egress'], knowledge: Deps['knowledge']): PageReading {
  const { PAGE_TIMEOUT_MS: timeoutMs, PAGE_MAX_BYTES: bytesMax } = settings;
  return { egress, knowledge, userAgent: crawlUserAgent(settings), timeoutMs, bytesMax };
}
