import { approvalWarnings } from '../../domain/agents/warnings.ts';
import { canEditDataSource, mayChange } from '../../domain/ground/access/access.ts';
import { findConnectionsOfSources } from '../../domain/knowledge/connections.ts';
import { watchDataSource } from '../../domain/knowledge/source-changes.ts';
import {
  findSourceVectors,
  getDataSource,
  getDataSources,
  listAgentsOfDataSources,
  listDataSources,
  listDataSourcesOfAgent,
  orderedPageShape,
  pageAgentsOfDataSources,
  pageDataSourcesOfAgents,
  type SourceVectors,
} from '../../domain/knowledge/sources.ts';
import { findLivingUsers } from '../../domain/people/accounts.ts';
import { kindDescriptions, sourceWarnings } from '../../engine/knowledge/connectors/registry.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import type { PageRequest } from '../../entities/ground/page.ts';
import {
  type DataSource,
  dataSourceTypes,
  type IndexingStatistics,
  indexingStatistics,
  indexStatuses,
  refreshPeriods,
  sourceError,
  sourceIndexPercentage,
  sourceIndexStatus,
} from '../../entities/knowledge/data-source.ts';
import { knowledgeErrorCode, vectorErrorCode } from '../../entities/knowledge/failure.ts';
import { linkSharings, recheckModes, sourceAccesses } from '../../entities/knowledge/permissions.ts';
import { dataSourceOrders, dataSourceStates } from '../../storage/knowledge/sources/places.ts';
import { loadAgent } from '../agents/agent-edge.ts';
import { AgentConnection } from '../agents/agents.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { numberTerm, textTerm } from '../ground/builder/context.ts';
import { membersRead, reading } from '../ground/builder/members.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, OrderType, pageArgs, pageRequest, wholePage } from '../ground/pagination.ts';
import { AgentRef, DataSourceRef, IntegrationRef, OrganizationRef, SourceRunRef, UserRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { KnowledgeErrorCodeType, VectorErrorCodeType } from './failures.ts';
import { DataSourceSettings, toPayload, toSettings } from './settings.ts';

export const DataSourceKind = createEnum('DataSourceType', 'Where the knowledge of a source comes from.', dataSourceTypes, {
  API: 'A JSON payload.',
  FILE_UPLOAD: 'An uploaded file.',
  ...kindDescriptions,
});

export const RefreshPeriodType = createEnum('RefreshPeriod', 'How often a source is refreshed automatically.', refreshPeriods, {
  NEVER: 'Only when asked.',
  DAILY: 'Every day.',
  WEEKLY: 'Every week.',
  MONTHLY: 'Every 30 days.',
});

export const SourceAccessType = createEnum('SourceAccess', 'Whose rights decide what is found in a source.', sourceAccesses, {
  LENT: 'Those of the account that reads it: whoever may use an agent is answered from all of it.',
  MIRRORED: 'Those of each person at the source: what is not known to be open to a person is not found.',
});
export const LinkSharingType = createEnum(
  'LinkSharing',
  'Whether a document that is open to whoever has a link to it is found by those who never had the link.',
  linkSharings,
  { HIDDEN: 'It is not found.', FINDABLE: 'It is found.' },
);
export const RecheckModeType = createEnum(
  'RecheckMode',
  'Whether the source is asked once more before a model gets passages.',
  recheckModes,
  { NEVER: 'What was read last decides.', ON_ANSWER: 'Only passages that the source says to be open now are given to a model.' },
);

export const IndexStatusType = createEnum('IndexStatus', 'The progress of indexing.', indexStatuses, {
  INITIALIZED: 'It exists; nothing is planned yet.',
  QUEUED: 'It waits for a worker.',
  FETCHING: 'Its content is fetched.',
  PARSING: 'Its text is being extracted.',
  INDEXING: 'Its passages are being written; for a source: at least one item is being indexed.',
  INDEXED: 'Its passages are searched; for a source: those of at least one item.',
  FAILED: 'It could not be indexed, with a reason; of a source: none of its items is indexed.',
  SKIPPED: 'It has nothing to index; the item says why.',
  CANCELLED: 'It was cancelled.',
  DELETING: 'It is being removed.',
});

export const IndexingStatisticsType = builder.objectRef<IndexingStatistics>('IndexingStatistics').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'The items of a source by what they are doing; the first four add up to the total at every instant.',
  fields: (t) => ({
    doneCount: t.exposeInt('doneCount', {
      description: 'Indexed, skipped with a reason, or answering with what they held before a refresh that failed.',
    }),
    failedCount: t.exposeInt('failedCount', { description: 'Failed with a reason, or cancelled, with nothing to answer.' }),
    pendingCount: t.exposeInt('pendingCount', { description: 'Items that wait for a worker.' }),
    indexingCount: t.exposeInt('indexingCount', { description: 'Items that are being indexed.' }),
    totalCount: t.exposeInt('totalCount', { description: 'The number of items.' }),
  }),
});

const SourceVectorsType = builder.objectRef<SourceVectors>('SourceVectors').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'The vectors of a source, which let searches find passages by meaning.',
  fields: (t) => ({
    missingCount: t.exposeInt('missingCount', {
      description: 'Passages of documents whose vectors are not complete: they are found by words.',
    }),
    errorCode: t.field({
      type: VectorErrorCodeType,
      nullable: true,
      description:
        'Why no more vectors are made now: `LIMIT_REACHED`, `BUDGET_REACHED`, `MODEL_WITHOUT_PRICE`, `PROVIDER_UNAVAILABLE`, `PROVIDER_REFUSED`. Null while all is well.',
      resolve: ({ errorCode }) => vectorErrorCode(errorCode),
    }),
    errorMessage: t.exposeString('errorMessage', { nullable: true, description: 'The same for people.' }),
  }),
});

const agentPageOf = batched((ids: readonly string[], { deps, caller }, page: PageRequest) =>
  pageAgentsOfDataSources(deps, caller, ids, page),
);
const agentsByName = batched((ids: readonly string[], { deps, caller }) => listAgentsOfDataSources(deps, caller, ids));

const reads = reading<DataSource>;

export const DataSourceType = DataSourceRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
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
    organization: t.field({
      extensions: reads('orgId'),
      type: OrganizationRef,
      nullable: true,
      description: 'The organization it belongs to; null when the caller may not see it.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    ownerUserId: t.exposeID('ownerUserId', { description: 'Who added it.' }),
    owner: t.loadable({
      extensions: reads('ownerUserId'),
      type: UserRef,
      nullable: true,
      description: 'Who added it; null when that user is gone.',
      load: (ids: string[], { deps }) => findLivingUsers(deps, ids),
      resolve: ({ ownerUserId }) => ownerUserId,
    }),
    name: t.exposeString('name', { description: 'Never blank.' }),
    type: t.expose('type', { type: DataSourceKind, description: 'Where its knowledge comes from.' }),
    refreshPeriod: t.expose('refreshPeriod', {
      type: RefreshPeriodType,
      description: 'How often it is refreshed automatically.',
    }),
    settings: t.field({
      extensions: reads('type', 'data'),
      type: DataSourceSettings,
      nullable: true,
      description: 'What it was added with, by its type; null for a vector store, whose files say it.',
      resolve: (source, _args, { terms }) => (terms?.asPayload === true ? toPayload(source) : toSettings(source)),
    }),
    connection: t.loadable({
      extensions: reads('orgId', 'ownerUserId', 'data'),
      type: IntegrationRef,
      nullable: true,
      description: 'The account that it reads with; null without one, when it is gone, and when the caller may not see it.',
      load: async (sources: DataSource[], { deps, caller }) =>
        (await findConnectionsOfSources(deps, caller, sources)).map((connection) => connection ?? null),
      resolve: (source) => source,
    }),
  }),
});

/** How its indexing goes. */
builder.objectFields(DataSourceRef, (t) => ({
  indexStatus: t.field({
    extensions: reads('counts', 'isDeleting', 'errorCode', 'activeRun'),
    type: IndexStatusType,
    description: 'The progress of indexing, computed from the items.',
    resolve: sourceIndexStatus,
  }),
  indexPercentage: t.int({
    extensions: reads('counts', 'activeRun'),
    description: 'Whole percent from 0 to 100; 100 only when nothing is left to do.',
    resolve: sourceIndexPercentage,
  }),
  activeRun: t.field({
    extensions: reads('activeRun'),
    type: SourceRunRef,
    nullable: true,
    description: 'The reading of it that is going on; null when there is none.',
    resolve: ({ activeRun }, _args, context) => loadNode(context, 'sourceRun', activeRun?.id),
  }),
  errorCode: t.field({
    extensions: reads('errorCode', 'errorMessage', 'counts', 'failedItem', 'activeRun'),
    type: KnowledgeErrorCodeType,
    nullable: true,
    description: 'Why it is FAILED, or ended with failures, for programs; null when nothing stands in the way.',
    resolve: (source) => knowledgeErrorCode(sourceError(source)?.code),
  }),
  errorMessage: t.string({
    extensions: reads('errorCode', 'errorMessage', 'counts', 'failedItem', 'activeRun'),
    nullable: true,
    description: 'The same for people. Each item that could not be indexed carries its own reason.',
    resolve: (source) => sourceError(source)?.message ?? null,
  }),
  warnings: t.field({
    extensions: reads('type'),
    type: [WarningType],
    description:
      'Why this instance cannot read it, such as a setting that is missing, and, after a change, that the approval of its agent ended; empty when there is nothing to say.',
    resolve: (source, _args, { deps }) => [...sourceWarnings(source.type, deps.settings), ...approvalWarnings(source)],
  }),
}));

/** Who finds something in it, and who uses it. */
builder.objectFields(DataSourceRef, (t) => ({
  cite: t.exposeBoolean('cite', { description: 'Whether answers may cite it.' }),
  orgVisible: t.exposeBoolean('orgVisible', { description: 'Whether everyone in its organization sees it and may attach it.' }),
  access: t.expose('access', { type: SourceAccessType, description: 'Whose rights decide what is found in it.' }),
  linkShared: t.expose('linkShared', {
    type: LinkSharingType,
    description: 'Of a MIRRORED source: whether what is open by link is found.',
  }),
  recheck: t.expose('recheck', {
    type: RecheckModeType,
    description: 'Of a MIRRORED source: whether it is asked once more before a model gets passages.',
  }),
  usageCount: t.exposeInt('usageCount', { description: 'How many agents have it attached.' }),
  statistics: t.field({
    extensions: reads('counts'),
    type: IndexingStatisticsType,
    description: 'Its items by what they are doing.',
    resolve: ({ counts }) => indexingStatistics(counts),
  }),
  vectors: t.loadable({
    extensions: reads('id'),
    type: SourceVectorsType,
    nullable: true,
    description: 'Its vectors; null where this service makes none.',
    load: (ids: string[], { deps }) => findSourceVectors(deps, ids),
    resolve: ({ id }) => id,
  }),
  canEdit: t.boolean({
    extensions: reads('orgId', 'ownerUserId'),
    description: 'Whether the caller may change, refresh or delete it.',
    resolve: (source, _args, { caller }) => mayChange(caller) && canEditDataSource(caller, source),
  }),
  agents: t.field({
    extensions: reads('id'),
    type: AgentConnection,
    description: 'The agents that have it attached, as far as the caller may use them, newest first.',
    args: pageArgs(t.arg),
    resolve: async ({ id }, args, context, info) => {
      // Routes show no more of them than their names and pictures.
      if (context.terms?.agentsByName === true) return wholePage((await agentsByName(context, id)) as readonly AgentView[]);
      const page = await agentPageOf(context, id, pageRequest(context, args, ['text']));
      const agents = await Promise.all(
        page.items.map((agent): Promise<AgentView | null> | null => loadAgent(context, agent.id, info)),
      );
      return { ...page, items: agents.filter((agent) => agent !== null), keyOf: (agent: AgentView) => [agent.id] };
    },
  }),
}));

registerNode('dataSource', {
  typeName: 'DataSource',
  operation: 'Query.dataSource',
  loadMany: (ids, { deps, caller }) => getDataSources(deps, caller, ids),
});

export const DataSourceConnection = makeConnection(DataSourceType, 'DataSource', 'Data sources');

builder.objectField(AgentRef, 'sources', (t) =>
  t.loadable({
    extensions: reading<AgentView>('id'),
    type: DataSourceConnection,
    description:
      'The data sources attached to it, as far as the caller sees them; the one attached last comes first. None without the scope DATA_SOURCES:READ.',
    args: pageArgs(t.arg),
    // One loader for each place in the document, because each place reads other members.
    byPath: true,
    load: (ids: string[], context, args, info) => {
      const page = pageRequest(context, args);
      const members = membersRead<DataSource>(info, 'DataSource');
      return pageDataSourcesOfAgents(context.deps, context.caller, ids, page, members);
    },
    resolve: ({ id }) => id,
  }),
);

const DataSourceStateType = createEnum('DataSourceState', 'What people look for in a list of sources.', dataSourceStates, {
  ready: 'It is read, and nothing of it failed.',
  reading: 'It is read or indexed now.',
  failing: 'It, or one of its documents, failed or was cancelled.',
});
const DataSourceOrderType = createEnum('DataSourceOrder', 'What a list of data sources is ordered by.', dataSourceOrders, {
  createdAt: 'When it was added.',
  lastIndexedAt: 'When one of its items was last indexed; sources that never were count as oldest.',
  usageCount: 'How many agents have it attached.',
});

builder.queryFields((t) => ({
  dataSource: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: DataSourceType,
    nullable: true,
    description: 'One data source; null when there is none or the caller may not see it.',
    args: { id: t.arg.id({ description: 'The id of the source.' }) },
    resolve: (_root, { id }, { deps, caller }) => getDataSource(deps, caller, id),
  }),
  dataSources: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: DataSourceConnection,
    description: 'The data sources the caller may see.',
    args: {
      search: t.arg.string({ required: false, description: 'Only those whose name holds this text; at most 200 characters.' }),
      type: t.arg({ type: DataSourceKind, required: false, description: 'Only those of this type.' }),
      state: t.arg({ type: DataSourceStateType, required: false, description: 'Only those in this state.' }),
      orderBy: t.arg({ type: DataSourceOrderType, required: false, description: 'Default CREATED_AT.' }),
      order: t.arg({ type: OrderType, required: false, description: 'Default DESC.' }),
      ...pageArgs(t.arg),
    },
    resolve: async (_root, { first, after, last, before, orderBy, order, ...query }, context) => {
      const { deps, caller } = context;
      const agentId = textTerm(context, 'aiId');
      if (agentId !== undefined) return wholePage(await listDataSourcesOfAgent(deps, caller, agentId));
      const sort = textTerm(context, 'orderBy') ?? `${order === 'asc' ? '+' : '-'}${orderBy ?? 'createdAt'}`;
      const page = pageRequest(context, { first, after, last, before }, orderedPageShape(sort));
      return listDataSources(deps, caller, { ...query, orderBy: sort, page: numberTerm(context, 'page') }, page);
    },
  }),
  indexingStatistics: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: IndexingStatisticsType,
    nullable: true,
    description: 'The items of a data source by what they are doing; null when there is no such source.',
    args: { dataSourceId: t.arg.id({ description: 'The id of the source.' }) },
    resolve: async (_root, { dataSourceId }, { deps, caller }) =>
      indexingStatistics((await getDataSource(deps, caller, dataSourceId)).counts),
  }),
}));

builder.subscriptionField('dataSourceUpdated', (t) =>
  t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: DataSourceType,
    description:
      'The source at once and after every change of it or its items, at most five times a second. Ends when it is deleted or the caller may not see it any more.',
    args: { dataSourceId: t.arg.id({ description: 'The id of the source.' }) },
    subscribe: (_root, { dataSourceId }, { deps, caller, signal }) => watchDataSource(deps, caller, dataSourceId, signal),
    resolve: (source) => source,
  }),
);
