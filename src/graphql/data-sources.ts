import { canEditDataSource } from '../domain/access.ts';
import { findUsersById } from '../domain/accounts.ts';
import { addApiDataSource, addFileDataSource, attachDataSource } from '../domain/add-data-sources.ts';
import { watchDataSource } from '../domain/data-source-changes.ts';
import {
  bulkDeleteDataSources,
  deleteDataSource,
  getDataSource,
  listAgentsOfDataSources,
  listDataSources,
  listDataSourcesOfAgent,
  listDataSourcesOfAgents,
  orderedPageShape,
  refreshDataSource,
  updateDataSource,
} from '../domain/data-sources.ts';
import { requireScope } from '../domain/policy.ts';
import {
  type DataSource,
  dataSourceTypes,
  type IndexingStatistics,
  indexingStatistics,
  indexStatuses,
  refreshPeriods,
  sourceIndexPercentage,
  sourceIndexStatus,
} from '../entities/data-source.ts';
import type { UsingAgent } from '../storage/data-sources.ts';
import { UserType } from './accounts.ts';
import { AgentType } from './agents.ts';
import { builder } from './builder.ts';
import { connectionOf, pageArgs, pageRequest } from './connection.ts';
import { enumOf } from './enums.ts';
import { NodeType, registerNode } from './node.ts';

export const DataSourceKind = enumOf('DataSourceType', 'Where the knowledge of a source comes from.', dataSourceTypes, {
  API: 'A JSON payload.',
  FILE_UPLOAD: 'An uploaded file.',
  DRIVE_A: 'A cloud drive of the first kind.',
  DRIVE_B: 'A cloud drive of the second kind.',
  WEB_URL: 'A web site.',
  WIKI: 'A wiki.',
  TRACKER: 'An issue tracker.',
  REPO_HOST: 'A repository host.',
});

export const RefreshPeriodType = enumOf('RefreshPeriod', 'How often a source is read again by itself.', refreshPeriods, {
  NEVER: 'Only when asked.',
  DAILY: 'Every day.',
  WEEKLY: 'Every week.',
  MONTHLY: 'Every 30 days.',
});

export const IndexStatusType = enumOf('IndexStatus', 'How far indexing is.', indexStatuses, {
  INITIALIZED: 'It exists; nothing is planned yet.',
  QUEUED: 'It waits for a worker.',
  FETCHING: 'Its content is fetched.',
  PARSING: 'Its text is taken out.',
  INDEXING: 'Its passages are written; of a source: something is at work.',
  INDEXED: 'It answers questions; of a source: at least one item does.',
  FAILED: 'It could not be indexed, with a reason; of a source: none of its items is indexed.',
  SKIPPED: 'There is nothing in it to index, with a reason.',
  CANCELLED: 'Somebody stopped it.',
  DELETING: 'It is being removed.',
});

const IndexingStatisticsType = builder.objectRef<IndexingStatistics>('IndexingStatistics').implement({
  description: 'The items of a source by what they are doing; the first four add up to the total at every instant.',
  fields: (t) => ({
    doneCount: t.exposeInt('doneCount', { description: 'Indexed, or skipped with a reason.' }),
    failedCount: t.exposeInt('failedCount', { description: 'Failed with a reason, or cancelled.' }),
    pendingCount: t.exposeInt('pendingCount', { description: 'Waiting.' }),
    indexingCount: t.exposeInt('indexingCount', { description: 'At work.' }),
    totalCount: t.exposeInt('totalCount', { description: 'All.' }),
  }),
});

const UsingAgentType = builder.objectRef<UsingAgent>('UsingAgent').implement({
  description: 'An agent that has a source attached, as lists of sources show it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the agent.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    src: t.exposeString('src', { description: 'Its picture: an address, or a data URL.' }),
  }),
});

export const DataSourceType = builder.objectRef<DataSource>('DataSource').implement({
  description: 'A connected body of knowledge. Any number of agents of its organization may have it attached.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    lastIndexedAt: t.expose('lastIndexedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When one of its items was last indexed; null before the first.',
    }),
    orgId: t.exposeID('orgId', { description: 'The organization it belongs to.' }),
    ownerUserId: t.exposeID('ownerUserId', { description: 'Who added it.' }),
    name: t.exposeString('name', { description: 'Never blank.' }),
    type: t.expose('type', { type: DataSourceKind, description: 'Where its knowledge comes from.' }),
    refreshPeriod: t.expose('refreshPeriod', { type: RefreshPeriodType, description: 'How often it is read again by itself.' }),
    indexStatus: t.field({
      type: IndexStatusType,
      description: 'How far indexing is, from its items.',
      resolve: sourceIndexStatus,
    }),
    indexPercentage: t.string({
      description: 'Whole percent from "0" to "100"; "100" only when nothing is left to do.',
      resolve: (source) => String(sourceIndexPercentage(source)),
    }),
    data: t.field({
      type: 'JSON',
      description: 'What it was added with; the shape depends on its type.',
      resolve: ({ data }) => data,
    }),
    errorCode: t.exposeString('errorCode', {
      nullable: true,
      description: 'Why the source as a whole cannot be read, for programs; null when nothing stands in the way.',
    }),
    errorMessage: t.exposeString('errorMessage', {
      nullable: true,
      description: 'The same for people. Items that could not be indexed carry their own reasons.',
    }),
    cite: t.exposeBoolean('cite', { description: 'Whether answers may cite it.' }),
    orgVisible: t.exposeBoolean('orgVisible', { description: 'Whether everyone in its organization sees it and may attach it.' }),
    usageCount: t.exposeInt('usageCount', { description: 'How many agents have it attached.' }),
    statistics: t.field({
      type: IndexingStatisticsType,
      description: 'Its items by what they are doing.',
      resolve: ({ counts }) => indexingStatistics(counts),
    }),
    canEdit: t.boolean({
      description: 'Whether the caller may change, refresh or delete it.',
      resolve: (source, _args, { caller }) => canEditDataSource(caller, source),
    }),
    ais: t.loadableList({
      type: UsingAgentType,
      description: 'The agents that have it attached, as far as the caller may use them.',
      load: (ids: string[], { deps, caller }) => listAgentsOfDataSources(deps, caller, ids) as never,
      resolve: ({ id }) => id,
    }),
    ownerUser: t.loadable({
      type: UserType,
      description: 'Who added it.',
      load: (ids: string[], { deps }) => findUsersById(deps, ids) as never,
      resolve: ({ ownerUserId }) => ownerUserId,
    }),
  }),
});

registerNode('dataSource', {
  typeName: 'DataSource',
  operation: 'Query.dataSource',
  load: (id, { deps, caller }) => getDataSource(deps, caller, id),
});

builder.objectField(AgentType, 'dataSources', (t) =>
  t.loadableList({
    type: DataSourceType,
    description:
      'The data sources attached to it, as far as the caller sees them, newest first. Needs the scope DATA_SOURCES:READ.',
    load: (ids: string[], { deps, caller }) => listDataSourcesOfAgents(deps, caller, ids) as never,
    resolve: ({ id }, _args, { caller }) => {
      requireScope(caller, 'Query.dataSources');
      return id;
    },
  }),
);

const DataSourceConnection = connectionOf(DataSourceType, 'DataSource', 'Data sources');

builder.queryFields((t) => ({
  dataSource: t.field({
    type: DataSourceType,
    description: 'One data source. NOT_FOUND when there is none or the caller may not see it.',
    args: { id: t.arg.id({ description: 'The id of the source.' }) },
    resolve: (_root, { id }, { deps, caller }) => getDataSource(deps, caller, id),
  }),
  dataSources: t.field({
    type: DataSourceConnection,
    description: 'The data sources the caller may see.',
    args: {
      search: t.arg.string({ required: false, description: 'Only those whose name holds this text; at most 200 characters.' }),
      type: t.arg({ type: DataSourceKind, required: false, description: 'Only those of this type.' }),
      orderBy: t.arg.string({
        required: false,
        description: '`+` (ascending) or `-` (descending), then createdAt, lastIndexedAt or usageCount. Default -createdAt.',
      }),
      page: t.arg.int({
        required: false,
        description: 'The number of the page, from 1; not together with `after`, which costs less.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, ...query }, context) =>
      listDataSources(
        context.deps,
        context.caller,
        query,
        pageRequest(context, { first, after }, orderedPageShape(query.orderBy)),
      ),
  }),
  indexingStatistics: t.field({
    type: IndexingStatisticsType,
    description: 'The items of a data source by what they are doing.',
    args: { dataSourceId: t.arg.id({ description: 'The id of the source.' }) },
    resolve: async (_root, { dataSourceId }, { deps, caller }) =>
      indexingStatistics((await getDataSource(deps, caller, dataSourceId)).counts),
  }),
  agentDataSources: t.field({
    type: [DataSourceType],
    description: 'The data sources attached to an agent, as far as the caller sees them, newest first.',
    args: { agentId: t.arg.id({ description: 'The id of the agent.' }) },
    resolve: async (_root, { agentId }, { deps, caller }) => [...(await listDataSourcesOfAgent(deps, caller, agentId))],
  }),
}));

const AddApiDataSourceInput = builder.inputType('AddApiDataSourceInput', {
  description: "A new source with a payload of one's own.",
  fields: (t) => ({
    name: t.string({ description: '1 to 200 characters.' }),
    data: t.field({ type: 'JSON', description: 'The knowledge: an object.' }),
  }),
});

const UpdateDataSourceInput = builder.inputType('UpdateDataSourceInput', {
  description: 'Changes of a source: absent members are kept, null gives back the default.',
  fields: (t) => ({
    refreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: 'How often it is read again by itself.' }),
    cite: t.boolean({ required: false, description: 'Whether answers may cite it.' }),
    ais: t.idList({
      required: false,
      description: 'Replaces the agents that have it attached, as far as the caller may edit them; at most 1,000.',
    }),
    orgVisible: t.boolean({ required: false, description: 'Whether everyone in its organization sees it and may attach it.' }),
  }),
});

interface AttachedDataSource {
  readonly aiId: string;
  readonly dataSourceId: string;
}
const AttachDataSourcePayload = builder.objectRef<AttachedDataSource>('AttachDataSourcePayload').implement({
  description: 'What was attached to what.',
  fields: (t) => ({
    aiId: t.exposeID('aiId', { description: 'The id of the agent.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The id of the source.' }),
  }),
});
const AttachDataSourceInput = builder.inputType('AttachDataSourceInput', {
  description: 'A source that exists.',
  fields: (t) => ({ dataSourceId: t.id({ description: 'Its id.' }) }),
});

interface DeletedDataSources {
  readonly aiId: string;
  readonly dataSourceIds: readonly string[];
}
const BulkDeleteDataSourcesPayload = builder.objectRef<DeletedDataSources>('BulkDeleteDataSourcesPayload').implement({
  description: 'What was deleted.',
  fields: (t) => ({
    aiId: t.exposeID('aiId', { description: 'The id of the agent.' }),
    dataSourceIds: t.idList({
      description: 'The ids of the deleted sources.',
      resolve: ({ dataSourceIds }) => [...dataSourceIds],
    }),
  }),
});
const BulkDeleteDataSourcesInput = builder.inputType('BulkDeleteDataSourcesInput', {
  description: 'Sources of one agent.',
  fields: (t) => ({ dataSourceIds: t.idList({ description: '1 to 1,000 ids of sources that the agent has attached.' }) }),
});

builder.mutationFields((t) => ({
  addApiDataSource: t.field({
    type: DataSourceType,
    description: 'Adds a source with a JSON payload to an agent, and has it indexed.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: AddApiDataSourceInput, description: 'What it is.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => addApiDataSource(deps, caller, agentId, input),
  }),
  addFileDataSource: t.field({
    type: DataSourceType,
    description:
      'Adds a file to an agent, and has it indexed: Markdown, text, PDF, HTML, CSV or JSON, found out from its content.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      file: t.arg({ type: 'File', description: 'The file; at most UPLOAD_MAX_BYTES of the service.' }),
    },
    resolve: (_root, { agentId, file }, { deps, caller }) => addFileDataSource(deps, caller, agentId, file),
  }),
  attachDataSource: t.field({
    type: AttachDataSourcePayload,
    description: 'Attaches a source that exists to an agent.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: AttachDataSourceInput, description: 'The source.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => attachDataSource(deps, caller, agentId, input.dataSourceId),
  }),
  updateDataSource: t.field({
    type: DataSourceType,
    description: 'Changes a source, for its owner and administrators.',
    args: {
      id: t.arg.id({ description: 'The id of the source.' }),
      input: t.arg({ type: UpdateDataSourceInput, description: 'What changes.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateDataSource(deps, caller, id, input),
  }),
  deleteDataSource: t.field({
    type: DataSourceType,
    description: 'Deletes a source and everything behind it, for its owner and administrators. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the source.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteDataSource(deps, caller, id),
  }),
  bulkDeleteDataSources: t.field({
    type: BulkDeleteDataSourcesPayload,
    description: 'Deletes sources of an agent, all or none.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: BulkDeleteDataSourcesInput, description: 'Which.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => bulkDeleteDataSources(deps, caller, agentId, input.dataSourceIds),
  }),
  refreshDataSource: t.field({
    type: DataSourceType,
    description: 'Has a source read again. What is indexed goes on answering until the new state is complete.',
    args: {
      id: t.arg.id({ description: 'The id of the source.' }),
      forceRefresh: t.arg.boolean({ required: false, defaultValue: false, description: 'Also when the content is unchanged.' }),
    },
    resolve: (_root, { id, forceRefresh }, { deps, caller }) => refreshDataSource(deps, caller, id, forceRefresh ?? false),
  }),
}));

builder.subscriptionField('dataSourceUpdated', (t) =>
  t.field({
    type: DataSourceType,
    description:
      'The source at once and after every change of it or its items, at most five times a second. Ends when it is deleted or the caller may not see it any more.',
    args: { dataSourceId: t.arg.id({ description: 'The id of the source.' }) },
    subscribe: (_root, { dataSourceId }, { deps, caller, signal }) => watchDataSource(deps, caller, dataSourceId, signal),
    resolve: (source) => source,
  }),
);
