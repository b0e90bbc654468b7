import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { passEvaluationGate } from '../domain/conversations/evaluation/pass-gate.ts';
import { createRightsOfAgent } from '../domain/conversations/runs/agent-rights.ts';
import { createSubagentPlan } from '../domain/conversations/runs/subagent-plan.ts';
import type { Deps } from '../domain/deps.ts';
import { AuditTrail } from '../domain/ground/audit/trail.ts';
import { DataLife } from '../domain/operations/data-life/data-life.ts';
import { LiveFeed } from '../domain/operations/live/feed.ts';
import { TrustedUsers } from '../domain/people/sign-in/trusted-proxies.ts';
import { createAuditSink } from '../engine/audit/sink.ts';
import { createEgress, type EgressOptions, readEgressOptions } from '../engine/egress/egress.ts';
import { createExportReader } from '../engine/imports/export-reader.ts';
import { Jobs } from '../engine/jobs/jobs.ts';
import { Knowledge } from '../engine/knowledge/knowledge.ts';
import { createMailer } from '../engine/mail/mailer.ts';
import { createModelRouter } from '../engine/models/router.ts';
import { createPasswordHasher } from '../engine/passwords/hasher.ts';
import { createRunEngine } from '../engine/runs/engine.ts';
import { Pools } from '../engine/sharing/pools.ts';
import { RateLimits } from '../engine/sharing/rate-limits.ts';
import { createOidcProviders } from '../engine/sign-in/providers.ts';
import { createAgentTools } from '../engine/tools/agents/agent-tools.ts';
import { createAgentServers } from '../engine/tools/mcp/agent-servers.ts';
import { createMcpServers } from '../engine/tools/mcp/create.ts';
import type { Tracing } from '../engine/tracing/tracing.ts';
import { UsageLimits } from '../engine/usage/limits.ts';
import { type IdKind, makeId } from '../entities/ground/ids.ts';
import type { Settings } from '../settings.ts';
import type { EmbeddedServer } from '../storage/ground/embedded/embedded.ts';
import { SignalsLost } from '../storage/ground/signals/connection.ts';
import { UsageJournal } from '../storage/operations/usage/journal.ts';
import { openStorage } from '../storage/storage.ts';
import { registerBackgroundWork } from './background.ts';
import { createTools } from './tools.ts';
import { logUpgradeCopy } from './upgrade-log.ts';

/** Most tokens that a process reserves from the limit of an organization at once. */
const usageBlockTokens = 100_000;
/**
 * Part of any pool of this process (runs, streams, WebSockets, uploads, active requests) that one tenant alone may hold; the
 * rest stays free for other tenants.
 */
const tenantPercent = 90;
/** Part of the share of its tenant that one organization alone may hold. */
const organizationPercent = 90;

/** Statements of one tenant under way while another tenant asks too. The embedded database does one after the other. */
const contendedStatementsMax = { embedded: 1, server: 2 };

/** Time for the last spans to reach the collector, after everything else has ended. */
const tracesEndMs = 2_000;

export interface ComposeOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Base of links that Parley hands out, without a slash at the end; asked when one is made. */
  publicUrl(): string;
  /** Reads variables that a models file names for keys, and those of workload identities. */
  readonly environment?: ((name: string) => string | undefined) | undefined;
  /** Called when the database is gone for good. */
  readonly onFatal: (error: Error) => void;
  /** The embedded database of the settings, when it has been started already. */
  readonly embedded?: Promise<EmbeddedServer> | undefined;
}

/** A start waits this long at most for secrets to be put under the newest master key. */
const rotationWaitMs = 2_000;

/** Makes everything the domain works with, from the bottom up, and starts its work in the background. `closeDeps` takes it down again. */
export async function createDeps(options: ComposeOptions): Promise<Deps> {
  const startedAt = new Date();
  const pools = new Pools({ tenantPercent, organizationPercent });
  const storage = await openStorage(options.settings, storageOptions(options, pools));
  try {
    const deps = await makeDeps(options, { startedAt, pools, storage });
    registerBackgroundWork(deps);
    await deps.knowledge.prepare();
    await deps.jobs.start();
    await deps.runs
      .recoverUsage()
      .catch((error: unknown) => options.logger.error({ err: error }, 'usage of a killed process is not written yet'));
    await rotateSecrets(deps, rotationWaitMs);
    return deps;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** The services, none of which is started. */
async function makeDeps(
  { settings, logger, publicUrl, environment }: ComposeOptions,
  { startedAt, pools, storage }: Pick<Deps, 'startedAt' | 'pools' | 'storage'>,
): Promise<Deps> {
  const newId = (kind: IdKind) => makeId(kind, Date.now());
  const tracing = await createTracing(settings, logger);
  const basics = { settings, storage, logger, tracing, now: () => new Date(), newId };
  const { TASKS_FIRST_AFTER_MS: firstAfterMs } = settings;
  const jobs = new Jobs({ db: storage.db, isWorker: settings.ROLE !== 'web', firstAfterMs, logger });
  const models = createModelRouter(settings, logger, basics.now, environment);
  const egressOptions = egressOptionsFrom(settings, pools);
  const egress = createEgress(egressOptions);
  const oidc = createOidcProviders(settings.oidcProviders, egressOptions);
  const knowledge = new Knowledge({
    ...{ ...basics, jobs, pools, egress, publicUrl, models },
    embed: (charge, call, signal) => runs.embed(charge, call, signal),
    search: (charge, modelId, search) => runs.search(charge, modelId, search),
  });
  const limits = new UsageLimits({
    ...basics,
    store: storage.operations.usageLimits,
    models,
    currency: settings.COST_CURRENCY,
    leaseMs: settings.USAGE_LEASE_MS,
    blockTokens: usageBlockTokens,
  });
  const rates = createRates(basics);
  const agentTools = createAgentTools({ ...basics, egress });
  const journal = new UsageJournal(join(settings.DATA_DIR, 'usage-journal'), limits.owner);
  const path = environment?.('PATH');
  const mcp = createMcpServers({ ...basics, pools, egress, egressOptions, publicUrl, version: packageJson.version, path });
  const rightsOfAgent = createRightsOfAgent(basics);
  const servers = { servers: mcp, storage, rightsOfAgent, now: basics.now };
  const tools = createTools({ ...basics, pools, models, egress, knowledge, servers, rightsOfAgent });
  const runs = createRunEngine({
    ...basics,
    ...{ jobs, models, knowledge, limits, journal, agentTools, pools },
    ...{
      tools,
      publicUrl,
      agentServers: createAgentServers(servers),
      subagentPlan: createSubagentPlan({ ...basics, models, tools }),
    },
  });
  const audit = new AuditTrail(basics);
  const passwords = createPasswordHasher();
  const mailer = await createMailer(settings);
  const auditSink = createAuditSink(settings, egressOptions);
  const live = new LiveFeed(storage.signals, storage.operations.live);
  const dataLife = new DataLife();
  const deps: Deps = {
    ...basics,
    startedAt,
    audit,
    live,
    pools,
    rates,
    limits,
    jobs,
    models,
    knowledge,
    gate: { pass: (caller, request) => passEvaluationGate(deps, caller, request) },
    exportReader: createExportReader(settings, pools.queue('export-readers', settings.PROMPT_READERS_MAX)),
    runs,
    tools,
    mcp,
    egress,
    passwords,
    oidc,
    mailer,
    auditSink,
    trustedUsers: new TrustedUsers(settings, logger),
    publicUrl,
    dataLife,
  };
  return deps;
}

function storageOptions({ logger, onFatal, embedded }: ComposeOptions, pools: Pools): Parameters<typeof openStorage>[1] {
  return {
    embedded,
    places: (kind, connectionsMax) => pools.queue('statements', connectionsMax, { contendedMax: contendedStatementsMax[kind] }),
    onError(error, isFatal) {
      if (isFatal) onFatal(error);
      else if (error instanceof SignalsLost) logger.warn({ err: error.cause }, error.message);
      else logger.warn({ err: error }, 'the database connection failed and is replaced');
    },
    onUpgradeCopy: (copy) => logUpgradeCopy(logger, copy),
    onStoreFailure: (error) => logger.warn({ err: error }, 'the file store of BLOB_URL failed'),
    onRedisBack: () => logger.info('Redis answers again'),
  };
}

function egressOptionsFrom(settings: Settings, pools: Pools): EgressOptions {
  return {
    ...readEgressOptions(settings),
    lookups: pools.queue('egress-lookups', settings.EGRESS_LOOKUPS_MAX, {
      organizationMax: Math.ceil(settings.EGRESS_LOOKUPS_MAX / 8),
    }),
    calls: pools.queue('egress-calls', settings.EGRESS_CALLS_MAX, {
      organizationMax: Math.ceil(settings.EGRESS_CALLS_MAX / 4),
    }),
  };
}

/** Ends running work, at most `graceMs`, then closes what `createDeps` opened. */
export async function closeDeps(deps: Deps, graceMs: number): Promise<void> {
  await deps.runs.stop(graceMs);
  await deps.jobs.stop(graceMs);
  await deps.knowledge.close();
  await deps.exportReader.close();
  await deps.models.close();
  await deps.mcp.close();
  await deps.egress.close();
  await deps.oidc.close();
  deps.mailer?.close();
  await deps.auditSink?.close();
  await deps.rates.stop();
  await deps.audit.flush();
  await deps.storage.close();
  await deps.tracing?.close(tracesEndMs);
}

/** Loaded only where it is switched on. */
async function createTracing(settings: Settings, logger: Logger): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED } = settings;
  if (endpoint === undefined || OTEL_SDK_DISABLED === 'true') return undefined;
  const { createOtlpTracing } = await import('../engine/tracing/otlp.ts');
  return createOtlpTracing({ endpoint, version: packageJson.version, settings, logger });
}

/** Limits of requests; one process on its database has nobody to share them with. */
function createRates({ settings, storage, logger }: Pick<Deps, 'settings' | 'storage' | 'logger'>): RateLimits {
  return new RateLimits({
    keyPerMinute: settings.RATE_LIMIT_REQUESTS_PER_MINUTE_KEY,
    organizationPerMinute: settings.RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION,
    store: storage.operations.rateBuckets,
    instances: () => storage.signals.counts.instances,
    logger,
  });
}

/**
 * Encrypts the stored secrets with the newest master key, in the background after `waitMs`, and logs the end. An interrupted
 * rotation is repeated at the next start.
 */
async function rotateSecrets({ storage, logger }: Pick<Deps, 'storage' | 'logger'>, waitMs: number): Promise<void> {
  const rotation = storage.vault.rotate().then(
    ({ changed: changedCount, total }) => {
      if (changedCount > 0)
        logger.info(
          { changed: changedCount, total },
          'all data keys are wrapped with the newest master key; older master keys are not needed',
        );
    },
    (error: unknown) => logger.error({ err: error }, 'data keys could not be wrapped with the newest master key'),
  );
  await Promise.race([rotation, wait(waitMs, undefined, { ref: false })]);
}
