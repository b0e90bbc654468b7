import { approvalWarnings } from '../../domain/agents/warnings.ts';
import { addFileDataSource, attachDataSource, detachDataSource } from '../../domain/knowledge/add-sources.ts';
import {
  bulkDeleteDataSources,
  cancelDataSource,
  deleteDataSource,
  type ReleasedDataSources,
  refreshDataSource,
  retryDataSource,
  type UpdateDataSourceInput as UpdateDataSourceChanges,
  updateDataSource,
} from '../../domain/knowledge/sources.ts';
import { readableFormatNames } from '../../engine/knowledge/extract/readable-formats.ts';
import type { EndedApproval } from '../../entities/agents/part.ts';
import { expectedDraftArg } from '../agents/versions/args.ts';
import { builder } from '../ground/builder/builder.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { loadNode } from '../ground/builder/nodes.ts';
import { AgentRef, DataSourceRef } from '../ground/refs.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { DataSourceType, LinkSharingType, RecheckModeType, RefreshPeriodType, SourceAccessType } from './sources.ts';

const UpdateDataSourceInput = flatInput<UpdateDataSourceChanges>(
  builder.inputType('UpdateDataSourceInput', {
    description: 'Changes of a source: absent members are kept, null gives back the default.',
    fields: (t) => ({
      name: t.string({ required: false, description: 'What it is called: 1 to 200 characters; null keeps it.' }),
      refreshPeriod: t.field({
        type: RefreshPeriodType,
        required: false,
        description: 'How often it is refreshed automatically.',
      }),
      cite: t.boolean({ required: false, description: 'Whether answers may cite it.' }),
      agentIds: t.idList({
        required: false,
        description: 'Replaces the agents that have it attached, as far as the caller may edit them; at most 1,000.',
      }),
      orgVisible: t.boolean({ required: false, description: 'Whether everyone in its organization sees it and may attach it.' }),
      access: t.field({
        type: SourceAccessType,
        required: false,
        description:
          'Whose rights decide what is found in it. A change to MIRRORED hides at once what is not known to be open to a person. Null: LENT.',
      }),
      linkShared: t.field({
        type: LinkSharingType,
        required: false,
        description: 'Of a MIRRORED source: whether what is open by link is found. Null: HIDDEN.',
      }),
      recheck: t.field({
        type: RecheckModeType,
        required: false,
        description: 'Of a MIRRORED source: whether it is asked once more before a model gets passages. Null: NEVER.',
      }),
      cloudId: t.string({
        required: false,
        description:
          'Of a wiki or tracker source: the site that it reads, with all of it read anew. Null: the only site of its account.',
      }),
    }),
  }),
  { members: { agentIds: 'ais' } },
);

const approvalNote = 'That the approval of the agent ended with it; null when there is nothing to say.';

const agentEdge = 'The agent; null when the key may not read agents.';

interface DataSourceOfAgent extends EndedApproval {
  readonly aiId: string;
  readonly dataSourceId: string;
}
function attachmentPayload(name: string, description: string) {
  return builder.objectRef<DataSourceOfAgent>(name).implement({
    access: { scope: 'DATA_SOURCES:READ' },
    description,
    fields: (t) => ({
      agentId: t.exposeID('aiId', { description: 'The id of the agent.' }),
      agent: t.field({
        type: AgentRef,
        nullable: true,
        description: agentEdge,
        resolve: ({ aiId }, _args, context) => loadNode(context, 'agent', aiId),
      }),
      dataSourceId: t.exposeID('dataSourceId', { description: 'The id of the source.' }),
      dataSource: t.field({
        type: DataSourceRef,
        nullable: true,
        description: 'The source; null when it was deleted meanwhile.',
        resolve: ({ dataSourceId }, _args, context) => loadNode(context, 'dataSource', dataSourceId),
      }),
      warnings: t.field({
        type: [WarningType],
        nullable: true,
        description: approvalNote,
        resolve: (change) => (change.endedApproval === true ? [...approvalWarnings(change)] : null),
      }),
    }),
  });
}
const AttachDataSourcePayload = attachmentPayload('AttachDataSourcePayload', 'What was attached to what.');
const DetachDataSourcePayload = attachmentPayload('DetachDataSourcePayload', 'What was taken from what.');
const AttachDataSourceInput = builder.inputType('AttachDataSourceInput', {
  description: 'A source that exists.',
  fields: (t) => ({ dataSourceId: t.id({ description: 'Its id.' }) }),
});

const BulkDeleteDataSourcesPayload = builder.objectRef<ReleasedDataSources>('BulkDeleteDataSourcesPayload').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What was deleted, and what was only detached.',
  fields: (t) => ({
    agentId: t.exposeID('aiId', { description: 'The id of the agent.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: agentEdge,
      resolve: ({ aiId }, _args, context) => loadNode(context, 'agent', aiId),
    }),
    dataSourceIds: t.idList({
      description: 'The ids of the sources that the agent has no more.',
      resolve: ({ dataSourceIds }) => [...dataSourceIds],
    }),
    deletedCount: t.exposeInt('deletedCount', { description: 'How many of them were deleted.' }),
    detachedCount: t.exposeInt('detachedCount', { description: 'How many were detached only, because other agents use them.' }),
    warnings: t.field({
      type: [WarningType],
      nullable: true,
      description: approvalNote,
      resolve: (change) => (change.endedApproval === true ? [...approvalWarnings(change)] : null),
    }),
  }),
});
const BulkDeleteDataSourcesInput = builder.inputType('BulkDeleteDataSourcesInput', {
  description: 'Sources of one agent.',
  fields: (t) => ({ dataSourceIds: t.idList({ description: '1 to 1,000 ids of sources that the agent has attached.' }) }),
});

builder.mutationFields((t) => ({
  addFileDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DataSourceType,
    description: `Adds a file to an agent, and has it indexed. ${readableFormatNames} are read: what a file is, is found out from its content.`,
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      file: t.arg({ type: 'File', description: 'The file; at most UPLOAD_MAX_BYTES of the service.' }),
      expectedDraft: expectedDraftArg(t.arg),
    },
    resolve: (_root, { agentId, file, expectedDraft }, { deps, caller }) =>
      addFileDataSource(deps, caller, agentId, file, { expectedDraft }),
  }),
  attachDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: AttachDataSourcePayload,
    description: 'Attaches a source that exists to an agent.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: AttachDataSourceInput, description: 'The source.' }),
      expectedDraft: expectedDraftArg(t.arg),
    },
    resolve: (_root, { agentId, input, expectedDraft }, { deps, caller }) =>
      attachDataSource(deps, caller, agentId, input.dataSourceId, expectedDraft),
  }),
  detachDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DetachDataSourcePayload,
    description:
      'Takes a source from an agent, for who may edit the agent. The source is kept, also when no agent has it any more.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      dataSourceId: t.arg.id({ description: 'The id of the source.' }),
      expectedDraft: expectedDraftArg(t.arg),
    },
    resolve: (_root, { agentId, dataSourceId, expectedDraft }, { deps, caller }) =>
      detachDataSource(deps, caller, agentId, dataSourceId, expectedDraft),
  }),
}));

/** Changes of a source itself. */
builder.mutationFields((t) => ({
  updateDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DataSourceType,
    description: 'Changes a source, for its owner and administrators.',
    args: {
      id: t.arg.id({ description: 'The id of the source.' }),
      input: t.arg({ type: UpdateDataSourceInput, description: 'The members to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateDataSource(deps, caller, id, input),
  }),
  deleteDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DataSourceType,
    description: 'Deletes a source and everything behind it, for its owner and administrators. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the source.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteDataSource(deps, caller, id),
  }),
  bulkDeleteDataSources: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: BulkDeleteDataSourcesPayload,
    description: 'Takes sources from an agent, all or none: those that other agents use are detached, the others are deleted.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: BulkDeleteDataSourcesInput, description: 'The sources to delete.' }),
      expectedDraft: expectedDraftArg(t.arg),
    },
    resolve: (_root, { agentId, input, expectedDraft }, { deps, caller }) =>
      bulkDeleteDataSources(deps, caller, agentId, input.dataSourceIds, expectedDraft),
  }),
  refreshDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DataSourceType,
    description: 'Has a source read again. What is indexed goes on answering until the new state is complete.',
    args: {
      id: t.arg.id({ description: 'The id of the source.' }),
      forceRefresh: t.arg.boolean({ required: false, defaultValue: false, description: 'Index unchanged content too.' }),
    },
    resolve: (_root, { id, forceRefresh }, { deps, caller }) => refreshDataSource(deps, caller, id, forceRefresh ?? false),
  }),
  cancelDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DataSourceType,
    description: 'Ends the reading of a source. What is indexed goes on answering; what was not yet is CANCELLED.',
    args: { id: t.arg.id({ description: 'The id of the source.' }) },
    resolve: (_root, { id }, { deps, caller }) => cancelDataSource(deps, caller, id),
  }),
  retryDataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DataSourceType,
    description: 'Indexes the items of a source that failed or were cancelled once more, and no others.',
    args: { id: t.arg.id({ description: 'The id of the source.' }) },
    resolve: (_root, { id }, { deps, caller }) => retryDataSource(deps, caller, id),
  }),
}));
