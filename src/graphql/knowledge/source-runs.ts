import {
  findCurrentItems,
  findProgressOfRuns,
  getSourceRun,
  getSourceRuns,
  listRunsOfSources,
  listSourceRuns,
  type SourceRunProgress,
} from '../../domain/knowledge/source-runs.ts';
import type { DataSource } from '../../entities/knowledge/data-source.ts';
import { knowledgeErrorCode } from '../../entities/knowledge/failure.ts';
import {
  runBounds,
  runTriggers,
  type SourceRun,
  runStatuses as sourceRunStatuses,
  toRunBound,
} from '../../entities/knowledge/source-run.ts';
import { builder } from '../ground/builder/builder.ts';
import { reading } from '../ground/builder/members.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { describedOnRest } from '../ground/builder/rest-words.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { DataSourceRef, SourceRunRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';
import { KnowledgeErrorCodeType } from './failures.ts';
import { IndexingStatisticsType } from './sources.ts';

const TriggerType = createEnum('SourceRunTrigger', 'Why a source was read.', runTriggers, {
  ADDED: 'It was added.',
  REFRESH: 'Somebody asked, or a run was asked for during another.',
  SCHEDULE: 'Its refresh period was over.',
  RECONNECTED: 'Its connection was renewed.',
});
const StatusType = createEnum('SourceRunStatus', 'How far a reading of a source is.', sourceRunStatuses, {
  LISTING: 'The documents are listed.',
  INDEXING: 'Those that are new or changed are indexed.',
  COMPLETED: 'It ended; single documents may have failed.',
  FAILED: 'The source could not be listed, or none of its payload or uploaded files indexed, with a reason.',
  CANCELLED: 'Somebody ended it.',
});
const BoundType = createEnum('SourceRunBound', 'A limit of a web source that ended a listing early.', runBounds, {
  maxPages: 'The most pages.',
  maxMemory: 'The most memory.',
  timeout: 'The most time.',
});

const ProgressType = builder.objectRef<SourceRunProgress>('SourceRunProgress').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'How far a reading of a source is that goes on.',
  fields: (t) => ({
    percent: t.exposeInt('percent', {
      nullable: true,
      description: 'Whole percent of the documents that it reads; null while they are listed.',
    }),
    statistics: t.field({
      type: IndexingStatisticsType,
      description: 'The documents that it reads, by what they are doing.',
      resolve: ({ statistics }) => statistics,
    }),
    documentsPerMinute: t.exposeFloat('documentsPerMinute', {
      nullable: true,
      description: 'Documents that were done a minute since it began; null before the first.',
    }),
    remainingMs: t.int({
      nullable: true,
      description: 'How long it will go on at that rate; null where it is not known.',
      resolve: ({ remainingMs }) => (remainingMs === null ? null : shownMs(remainingMs)),
    }),
  }),
});

export const SourceRunType = SourceRunRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'One reading of a source: by a connector, or of the payload or files that were given.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the run.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The id of the source.' }),
    source: t.field({
      type: DataSourceRef,
      nullable: true,
      description: 'The source; null when it is gone.',
      resolve: ({ dataSourceId }, _args, context) => loadNode(context, 'dataSource', dataSourceId),
    }),
    trigger: t.expose('trigger', { type: TriggerType, description: 'Why the source was read.' }),
    isForced: t.exposeBoolean('isForced', { description: 'Whether unchanged content was read too.' }),
    status: t.expose('status', { type: StatusType, description: 'How far it is.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    listedAt: t.expose('listedAt', { type: 'DateTime', nullable: true, description: 'When the listing ended; null before.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended; null before.' }),
    durationMs: t.int({
      description: 'From its beginning to its end, or until now.',
      resolve: ({ startedAt, endedAt }, _args, { deps }) => span(startedAt, endedAt ?? deps.now()),
    }),
    listingMs: t.int({
      nullable: true,
      description: 'What the listing took of that; null before its end.',
      resolve: ({ startedAt, listedAt }) => (listedAt === null ? null : span(startedAt, listedAt)),
    }),
    progress: t.loadable({
      type: ProgressType,
      nullable: true,
      description: 'How far it is, at which rate, and how long it will take; null after its end.',
      load: (runs: SourceRun[], { deps }) => findProgressOfRuns(deps, runs),
      resolve: (run) => run,
    }),
    listedCount: t.exposeInt('listedCount', { description: 'Documents that were listed.' }),
    addedCount: t.exposeInt('addedCount', { description: 'Documents that are new.' }),
    changedCount: t.exposeInt('changedCount', { description: 'Documents that changed, or are tried again.' }),
    unchangedCount: t.exposeInt('unchangedCount', {
      description: 'Documents that are as they were; their content was not fetched.',
    }),
    skippedCount: t.exposeInt('skippedCount', { description: 'Documents that are not read; each says why.' }),
    removedCount: t.exposeInt('removedCount', { description: 'Documents that are gone.' }),
    heldCount: t.exposeInt('heldCount', {
      description:
        'Documents that were missing and are kept until the next run misses them too, because they were more than half.',
    }),
    failedCount: t.exposeInt('failedCount', {
      description: 'Documents of this run that could not be indexed; 0 before its end.',
    }),
    isComplete: t.exposeBoolean('isComplete', { description: 'Whether everything that the source covers was listed.' }),
    bound: t.field({
      type: BoundType,
      nullable: true,
      description: 'The limit of the source that ended the listing early; null for none.',
      resolve: toRunBound,
    }),
    boundMessage: t.exposeString('bound', {
      extensions: describedOnRest('The limit that ended the listing early; null for none.'),
      nullable: true,
      description: 'The same with its number, for people: `maxPages (100 pages)`.',
    }),
    errorCode: t.field({
      type: KnowledgeErrorCodeType,
      nullable: true,
      description: 'Why it failed, for programs.',
      resolve: ({ errorCode }) => knowledgeErrorCode(errorCode),
    }),
    errorMessage: t.exposeString('errorMessage', { nullable: true, description: 'Why it failed, for people.' }),
    currentItem: t.loadable({
      type: 'String',
      nullable: true,
      description: 'What is being read now; of a MIRRORED source for administrators alone.',
      load: (runs: SourceRun[], { deps, caller }) => findCurrentItems(deps, caller, runs),
      resolve: (run) => run,
    }),
  }),
});

function span(from: Date, to: Date): number {
  return shownMs(to.getTime() - from.getTime());
}

/** What an Int holds: 24 days at most. */
function shownMs(durationMs: number): number {
  return Math.min(Math.max(0, durationMs), 2 ** 31 - 1);
}

registerNode('sourceRun', {
  typeName: 'SourceRun',
  operation: 'Query.dataSourceRun',
  loadMany: (ids, { deps, caller }) => getSourceRuns(deps, caller, ids),
});

const SourceRunConnection = makeConnection(SourceRunType, 'SourceRun', 'Runs of a source');

builder.objectField(DataSourceRef, 'runs', (t) =>
  t.loadable({
    extensions: reading<DataSource>('id'),
    type: SourceRunConnection,
    description: 'How it was read, newest first. Of a payload or uploaded files: how they were indexed.',
    args: pageArgs(t.arg),
    byPath: true,
    load: (ids: string[], context, args) => listRunsOfSources(context.deps, ids, pageRequest(context, args)),
    resolve: ({ id }) => id,
  }),
);

builder.queryFields((t) => ({
  dataSourceRun: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: SourceRunType,
    nullable: true,
    description: 'One reading of a source; null when there is none or the caller may not see the source.',
    args: { id: t.arg.id({ description: 'The id of the run.' }) },
    resolve: (_root, { id }, { deps, caller }) => getSourceRun(deps, caller, id),
  }),
  dataSourceRuns: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: SourceRunConnection,
    description: 'How a source was read: its runs, newest first. Of a payload or uploaded files: how they were indexed.',
    args: { dataSourceId: t.arg.id({ description: 'The id of the source.' }), ...pageArgs(t.arg) },
    resolve: (_root, { dataSourceId, ...args }, context) =>
      listSourceRuns(context.deps, context.caller, dataSourceId, pageRequest(context, args)),
  }),
}));
