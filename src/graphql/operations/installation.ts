import { listModels } from '../../domain/agents/models.ts';
import { checkHealth } from '../../domain/operations/installation/health.ts';
import { getInstallation, type Installation } from '../../domain/operations/installation/installation.ts';
import { type ModelTest, testModel } from '../../domain/operations/installation/test-model.ts';
import type { JobQueue } from '../../engine/jobs/job.ts';
import {
  type DatabaseFacts,
  databaseKinds,
  type FileStorageFacts,
  type Health,
  healthStates,
  storageKinds,
} from '../../entities/operations/installation.ts';
import { RunErrorType } from '../conversations/runs/run-error.ts';
import { builder } from '../ground/builder/builder.ts';
import { ModelRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';

const access = { scope: 'ADMIN:READ' } as const;

const HealthStateType = createEnum('HealthState', 'Whether the service can serve.', healthStates, {
  ready: 'It serves.',
  degraded: 'It serves, and something works in a slower way.',
  unavailable: 'It cannot serve; balancers send it no requests.',
});

const HealthType = builder.objectRef<Health>('InstallationHealth').implement({
  access,
  description: 'Whether the process that answers can serve: what `/readyz` says.',
  fields: (t) => ({
    state: t.expose('state', { type: HealthStateType, description: 'In one word.' }),
    problems: t.exposeStringList('problems', { description: 'What is wrong, in sentences; empty when all is well.' }),
  }),
});

const DatabaseKindType = createEnum('DatabaseKind', 'Where rows are kept.', databaseKinds, {
  embedded: 'The database inside the process, in DATA_DIR.',
  postgresql: 'The server of DATABASE_URL.',
});

const DatabaseType = builder.objectRef<DatabaseFacts>('InstallationDatabase').implement({
  access,
  description: 'The database.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DatabaseKindType, description: 'Which one it is.' }),
    version: t.exposeString('version', { description: 'Its version of PostgreSQL.' }),
    sizeBytes: t.expose('sizeBytes', { type: 'Count', description: 'What it takes on its disk.' }),
    migration: t.exposeString('migration', { description: 'The newest migration that was applied.' }),
  }),
});

const StorageKindType = createEnum('StorageKind', 'Where files are kept.', storageKinds, {
  folder: 'A folder of this machine, or one that instances share.',
  s3: 'A bucket of an S3-compatible store.',
});

const StorageType = builder.objectRef<FileStorageFacts>('InstallationStorage').implement({
  access,
  description: 'Where files are kept (BLOB_URL).',
  fields: (t) => ({
    kind: t.expose('kind', { type: StorageKindType, description: 'What it is.' }),
    freeBytes: t.expose('freeBytes', {
      type: 'Count',
      nullable: true,
      description: 'Free on the disk of the folder; null for a bucket.',
    }),
    diskBytes: t.expose('diskBytes', { type: 'Count', nullable: true, description: 'Size of that disk; null for a bucket.' }),
  }),
});

const JobQueueType = builder.objectRef<JobQueue>('JobQueue').implement({
  access,
  description: 'Background jobs of one kind, of all processes. Counted every ten seconds.',
  fields: (t) => ({
    queue: t.exposeString('name', { description: 'The kind: `knowledge.index-item`.' }),
    waitingCount: t.expose('waitingCount', { type: 'Count', description: 'Jobs that wait, for another attempt too.' }),
    activeCount: t.expose('activeCount', { type: 'Count', description: 'Jobs that are worked on.' }),
    failedCount: t.expose('failedCount', { type: 'Count', description: 'Jobs that were given up within the last hour.' }),
  }),
});

const InstallationType = builder.objectRef<Installation>('Installation').implement({
  access,
  description: 'The installation: what its operator watches.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The version of Parley.' }),
    nodeVersion: t.exposeString('nodeVersion', { description: 'The version of Node.js.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the process that answers started.' }),
    costCurrency: t.exposeString('costCurrency', { description: 'The currency of every `cost`, by ISO 4217 (COST_CURRENCY).' }),
    health: t.field({
      type: HealthType,
      description: 'Whether the process that answers can serve.',
      resolve: (_installation, _args, { deps }) => checkHealth(deps),
    }),
    database: t.field({
      type: DatabaseType,
      description: 'The database.',
      resolve: (_installation, _args, { deps }) => deps.storage.operations.installation.database(),
    }),
    storage: t.field({
      type: StorageType,
      description: 'Where files are kept.',
      resolve: (_installation, _args, { deps }) => deps.storage.operations.installation.files(),
    }),
    jobs: t.field({
      type: [JobQueueType],
      description: 'Background jobs, by kind.',
      resolve: (_installation, _args, { deps }) => deps.jobs.queues(),
    }),
    models: t.field({
      type: [ModelRef],
      description: 'The models, the default first.',
      resolve: (_installation, _args, { deps }) => listModels(deps),
    }),
  }),
});

const ModelTestType = builder.objectRef<ModelTest>('ModelTest').implement({
  access: { scope: 'ADMIN:WRITE' },
  description: 'How a model answered one short question.',
  fields: (t) => ({
    ok: t.boolean({ description: 'Whether it answered.', resolve: ({ error }) => error === undefined }),
    firstTokenMs: t.exposeInt('firstTokenMs', {
      nullable: true,
      description: 'From the request to the first part of the answer; null when there was none, or the answer came in one piece.',
    }),
    durationMs: t.exposeInt('durationMs', { description: 'From the request to the end of the answer.' }),
    error: t.expose('error', { type: RunErrorType, nullable: true, description: 'Why it did not answer; null when it did.' }),
  }),
});

builder.queryField('installation', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: InstallationType,
    description: 'The installation. Needs a key of level INSTANCE.',
    resolve: (_root, _args, { deps, caller }) => getInstallation(deps, caller),
  }),
);

builder.mutationField('testModel', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: ModelTestType,
    description:
      'Asks a model one short question, at most 16 tokens and 30 seconds. It counts as a run of the caller: in the usage of its organization and in the run history. Needs a key of level INSTANCE.',
    args: { id: t.arg.string({ description: 'The id of the model.' }) },
    resolve: (_root, { id }, { deps, caller, signal }) => testModel(deps, caller, id, signal),
  }),
);
