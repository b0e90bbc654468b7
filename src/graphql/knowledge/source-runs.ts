import { listSourceRuns } from '../../domain/knowledge/sources.ts';
import { runTriggers, runStatuses as sourceRunStatuses } from '../../entities/knowledge/source-run.ts';
import { builder } from '../builder/builder.ts';
import { connectionOf, pageArgs, pageRequest } from '../pagination.ts';
import { SourceRunRef } from '../refs.ts';
import { enumOf } from '../types/enums.ts';

const TriggerType = enumOf('SourceRunTrigger', 'Why a source was read.', runTriggers, {
  ADDED: 'It was added.',
  REFRESH: 'Somebody asked, or a run was asked for during another.',
  SCHEDULE: 'Its refresh period was over.',
  RECONNECTED: 'Its connection was renewed.',
});
const StatusType = enumOf('SourceRunStatus', 'How far a reading of a source is.', sourceRunStatuses, {
  LISTING: 'The documents are listed.',
  INDEXING: 'Those that are new or changed are indexed.',
  COMPLETED: 'It ended; single documents may have failed.',
  FAILED: 'The source could not be listed, or none of its payload or uploaded files indexed, with a reason.',
  CANCELLED: 'Somebody ended it.',
});

export const SourceRunType = SourceRunRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'One reading of a source: by a connector, or of the payload or files that were given.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the run.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The id of the source.' }),
    trigger: t.expose('trigger', { type: TriggerType, description: 'Why the source was read.' }),
    isForced: t.exposeBoolean('isForced', { description: 'Whether unchanged content was read too.' }),
    status: t.expose('status', { type: StatusType, description: 'How far it is.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    listedAt: t.expose('listedAt', { type: 'DateTime', nullable: true, description: 'When the listing ended; null before.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended; null before.' }),
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
    bound: t.exposeString('bound', { nullable: true, description: 'The limit that ended the listing early; null for none.' }),
    errorCode: t.exposeString('errorCode', { nullable: true, description: 'Why it failed, for programs.' }),
    errorMessage: t.exposeString('errorMessage', { nullable: true, description: 'Why it failed, for people.' }),
    currentItem: t.exposeString('currentItem', { nullable: true, description: 'What is being read now.' }),
  }),
});

const SourceRunConnection = connectionOf(SourceRunType, 'SourceRun', 'Runs of a source');

builder.queryFields((t) => ({
  dataSourceRuns: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: SourceRunConnection,
    description: 'How a source was read: its runs, newest first. Of a payload or uploaded files: how they were indexed.',
    args: { dataSourceId: t.arg.id({ description: 'The id of the source.' }), ...pageArgs(t.arg) },
    resolve: (_root, { dataSourceId, ...args }, context) =>
      listSourceRuns(context.deps, context.caller, dataSourceId, pageRequest(context, args)),
  }),
}));
