import { join } from 'node:path';
import pino from 'pino';
import type { Jobs } from '../../../src/engine/jobs/jobs.ts';
import { RepeatedTasks } from '../../../src/engine/jobs/repeated-tasks.ts';
import { createRunEngine } from '../../../src/engine/runs/engine.ts';
import type { RunEngine } from '../../../src/engine/runs/run-engine.ts';
import { Pools } from '../../../src/engine/sharing/pools.ts';
import { ToolRegistry } from '../../../src/engine/tools/registry.ts';
import { UsageLimits } from '../../../src/engine/usage/limits.ts';
import { makeId } from '../../../src/entities/ground/ids.ts';
import type { Settings } from '../../../src/settings.ts';
import { AgentStores } from '../../../src/storage/agents/stores.ts';
import { ConversationStores } from '../../../src/storage/conversations/stores.ts';
import { Database } from '../../../src/storage/ground/database.ts';
import { Leases } from '../../../src/storage/ground/leases.ts';
import { openPool } from '../../../src/storage/ground/opening/pool.ts';
import { SignalHub } from '../../../src/storage/ground/signals/hub.ts';
import { SiblingTransport } from '../../../src/storage/ground/signals/siblings.ts';
import { Signals } from '../../../src/storage/ground/signals/signals.ts';
import { StatementNames } from '../../../src/storage/ground/statement-names.ts';
import { TaskStore } from '../../../src/storage/ground/tasks.ts';
import { KnowledgeStores } from '../../../src/storage/knowledge/stores.ts';
import { OperationStores } from '../../../src/storage/operations/stores.ts';
import { UsageJournal } from '../../../src/storage/operations/usage/journal.ts';
import { PeopleStores } from '../../../src/storage/people/stores.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { SimulatedModels } from './models.ts';
import type { SimulatedNetwork } from './network.ts';
import type { SimulatedServer } from './server.ts';
import type { Host, Timeline } from './timeline.ts';
import { effectTool, readerTool, type ToolWorld } from './tools.ts';

/** A process of Parley in the world: the stores and the run engine of the service, on the ports of the world. */
export interface SimulatedParley {
  readonly host: Host;
  readonly storage: Storage;
  readonly runs: RunEngine;
  readonly limits: UsageLimits;
}

export interface ParleyParts {
  readonly timeline: Timeline;
  readonly server: SimulatedServer;
  readonly network: SimulatedNetwork;
  readonly models: SimulatedModels;
  readonly tools: ToolWorld;
  readonly settings: Settings;
  /** The disk of all processes, which outlives them. */
  readonly folder: string;
  /** Blocks of tokens that a process takes of a limit. */
  readonly blockTokens: number;
}

const logger = pino({ level: process.env.SEED_LOG ?? 'silent' });

/** Starts a process. Call it as the host (`timeline.in`). As in the service, work begins once the usage of dead processes is written. */
export async function startParley(host: Host, parts: ParleyParts): Promise<SimulatedParley> {
  const { server, network, models, tools, settings } = parts;
  const pool = openPool(server.configFor(host), { onLost: () => undefined });
  const db = new Database({
    kind: 'server',
    siblings: undefined,
    pool,
    prisma: server.prisma.join(host, pool),
    direct: undefined,
    names: new StatementNames(),
    room: { noteFull: () => undefined, shortage: async () => undefined },
    pageMaxBytes: settings.LIST_PAGE_MAX_BYTES,
    listMaxBytes: settings.REPLY_MAX_BYTES,
    backgroundMs: settings.DATABASE_BACKGROUND_TIMEOUT_MS,
    close: async () => undefined,
  });
  const hub = new SignalHub();
  const transport = new SiblingTransport(hub, network.join(host), () => undefined);
  const signals = new Signals(hub, { transport, pool }, (act) => db.afterCommit(act));
  await signals.start();
  const storage = {
    db,
    signals,
    people: new PeopleStores(db, signals, settings),
    agents: new AgentStores(db, signals),
    conversations: new ConversationStores(db, signals),
    knowledge: new KnowledgeStores(db, signals, settings.PERMISSION_MAX_AGE_HOURS * 3_600_000),
    operations: new OperationStores(db, signals, settings, { onError: () => undefined, rateBuckets: undefined }),
    tasks: new TaskStore(db),
    leases: new Leases(db),
    // Nothing of this world has blobs or secrets.
  } as Partial<Storage> as Storage;
  const now = () => new Date();
  const limits = new UsageLimits({
    store: storage.operations.usageLimits,
    models,
    logger,
    leaseMs: settings.USAGE_LEASE_MS,
    blockTokens: parts.blockTokens,
    currency: settings.COST_CURRENCY,
    now,
  });
  const repeated = new RepeatedTasks(db, logger, settings.TASKS_FIRST_AFTER_MS);
  const jobs: Pick<Jobs, 'every'> = { every: (name, everyMs, task) => repeated.every({ name, everyMs, task }) };
  const runs = createRunEngine({
    settings,
    storage,
    models,
    knowledge: { search: () => Promise.reject(new Error('there is no knowledge in this world')) },
    jobs,
    limits,
    journal: new UsageJournal(join(parts.folder, 'usage-journal'), limits.owner),
    pools: new Pools({ tenantPercent: 90, organizationPercent: 90 }),
    logger,
    tools: new ToolRegistry([effectTool(tools, host), readerTool()]),
    publicUrl: () => 'http://parley.invalid',
    now,
    newId: (kind) => makeId(kind, Date.now()),
  });
  repeated.start();
  // As in start/compose.ts: it is tried again later.
  await runs
    .recoverUsage()
    .catch((error: unknown) => logger.error({ err: error }, 'usage of a killed process is not written yet'));
  return { host, storage, runs, limits };
}
