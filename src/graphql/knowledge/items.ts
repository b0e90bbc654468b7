import { listPassagesOfItems } from '../../domain/knowledge/item-passages.ts';
import {
  getCitedItem,
  getKnowledgeItem,
  getKnowledgeItems,
  type ItemPlace,
  listItemsOfSources,
  listKnowledgeItems,
  makeCitedUrl,
  makeContentUrl,
  makeDownloadUrl,
  updateKnowledgeItem,
} from '../../domain/knowledge/items.ts';
import { readPassages } from '../../domain/knowledge/passages.ts';
import { type DataSource, type KnowledgeItem, toSourceType } from '../../entities/knowledge/data-source.ts';
import { knowledgeErrorCode } from '../../entities/knowledge/failure.ts';
import type { KnowledgePassage } from '../../entities/knowledge/passage.ts';
import { builder } from '../ground/builder/builder.ts';
import { type GraphContext, numberTerm, textTerm } from '../ground/builder/context.ts';
import { reading } from '../ground/builder/members.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { describedOnRest } from '../ground/builder/rest-words.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { DataSourceRef, KnowledgeItemRef } from '../ground/refs.ts';
import { NodeType } from '../ground/types/node.ts';
import { KnowledgeErrorCodeType } from './failures.ts';
import { OmissionType } from './omissions.ts';
import { PassageContentType } from './passages.ts';
import { DataSourceKind, IndexStatusType } from './sources.ts';

const OriginalContentType = builder.objectRef<KnowledgeItem>('OriginalContent').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What an item was made from.',
  fields: (t) => ({
    contentBlobUrl: t.string({
      nullable: true,
      description: 'Where its bytes are served, to callers who see the source; null when they are not kept here.',
      resolve: (item, _args, { deps }) => makeContentUrl(deps, { ...item, contentUrl: null }),
    }),
    filename: t.string({ description: 'Its name as a file.', resolve: ({ filename, name }) => filename ?? name }),
    mimeType: t.exposeString('mimeType', {
      nullable: true,
      description: 'What it is: as declared, and once it is indexed as found in its bytes; null where nobody knows.',
    }),
    sizeBytes: t.expose('sizeBytes', { type: 'Count', nullable: true, description: 'Its size; null where nobody knows.' }),
    contentUrl: t.string({
      nullable: true,
      description: 'Where a reader finds the original; null without one.',
      resolve: (item, _args, { deps }) => makeContentUrl(deps, item),
    }),
    isContentStoredExternally: t.exposeBoolean('isContentStoredExternally', {
      description: 'Whether its bytes stay with the upstream.',
    }),
  }),
});

const PassageType = builder.objectRef<KnowledgePassage>('KnowledgePassage').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A passage of a document: what searches find.',
  fields: (t) => ({
    place: t.exposeInt('place', { description: 'Its place within the document, from 0.' }),
    text: t.exposeString('text', {
      description:
        'Without what the passage before says already, and with the white space between the two: joined, passages are the text of the document.',
    }),
    headingPath: t.exposeString('headingPath', { nullable: true, description: 'The headings above it; null for none.' }),
    page: t.exposeInt('page', { nullable: true, description: 'The page that it starts on; null where there are no pages.' }),
    charStart: t.exposeInt('charStart', { description: 'Where it starts in the text of the document, in UTF-16 code units.' }),
    charEnd: t.exposeInt('charEnd', { description: 'Where it ends.' }),
  }),
});
const PassageConnection = makeConnection(PassageType, 'KnowledgePassage', 'Passages of a document');

const KnowledgeItemType = KnowledgeItemRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'One document of a data source: a file, a page, a payload.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the item.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was found.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The source it is of.' }),
    source: t.field({
      type: DataSourceRef,
      nullable: true,
      description: 'The source that it is of; null when the caller may not see it.',
      resolve: ({ dataSourceId }, _args, context) => loadNode(context, 'dataSource', dataSourceId),
    }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    uniqueId: t.exposeString('uniqueId', { description: "The upstream's own id of it." }),
    parentUniqueId: t.exposeString('parentUniqueId', {
      nullable: true,
      description: 'The uniqueId of its parent; null without one.',
    }),
    type: t.field({ type: DataSourceKind, description: 'The type of its source.', resolve: ({ type }) => toSourceType(type) }),
    indexStatus: t.expose('indexStatus', { type: IndexStatusType, description: 'The progress of indexing.' }),
    indexPercentage: t.exposeInt('indexPercentage', { description: 'Whole percent from 0 to 100.' }),
    passageCount: t.exposeInt('documentCount', { description: 'Passages that answer questions.' }),
    tokenCount: t.exposeInt('tokenCount', { description: 'Tokens of those passages, about.' }),
    passages: t.loadable({
      type: PassageConnection,
      description: 'Those passages, in their order; none before it is indexed.',
      args: pageArgs(t.arg),
      byPath: true,
      load: (items: KnowledgeItem[], context, args) =>
        listPassagesOfItems(context.deps, context.caller, items, pageRequest(context, args, ['number'])),
      resolve: (item) => item,
    }),
    originalContent: t.field({ type: OriginalContentType, description: 'What it was made from.', resolve: (item) => item }),
    metadata: t.field({
      extensions: describedOnRest('Further properties of the document, such as its title.'),
      type: 'JSON',
      description:
        'Further properties of the document, such as its title. JSON: each service has its own, and files of vector stores have those of the caller.',
      resolve: ({ metadata }) => metadata,
    }),
    isBlobStorageDeleted: t.exposeBoolean('isBlobStorageDeleted', { description: 'Whether its bytes were removed.' }),
    cite: t.exposeBoolean('cite', { description: 'Whether answers may cite it.' }),
    omissions: t.field({
      type: [OmissionType],
      description: 'What its text leaves out of the document, so that nobody takes it for the whole; empty before it is indexed.',
      resolve: ({ omissions }) => omissions,
    }),
    errorCode: t.field({
      type: KnowledgeErrorCodeType,
      nullable: true,
      description: 'Why it failed or was skipped, for programs.',
      resolve: ({ errorCode }) => knowledgeErrorCode(errorCode),
    }),
    errorMessage: t.exposeString('errorMessage', {
      nullable: true,
      description: 'Why it failed or was skipped, and what may help.',
    }),
    isRetryable: t.exposeBoolean('isRetryable', { description: 'Whether another try of the same content may succeed.' }),
    lastCheckedAt: t.expose('lastCheckedAt', { type: 'DateTime', nullable: true, description: 'When it was last fetched.' }),
    indexedAt: t.expose('indexedAt', { type: 'DateTime', nullable: true, description: 'When it was last indexed anew.' }),
  }),
});

registerNode('knowledgeItem', {
  typeName: 'KnowledgeItem',
  operation: 'Query.knowledgeItem',
  loadMany: (ids, { deps, caller }) => getKnowledgeItems(deps, caller, ids),
});

const CitedDocumentType = builder.objectRef<KnowledgeItem>('CitedDocument').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A document behind a citation, as readers of answers may know it.',
  fields: (t) => ({
    knowledgeItemId: t.exposeID('id', { description: 'The id of the item.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The source it is of.' }),
    item: t.field({
      type: KnowledgeItemRef,
      nullable: true,
      description: 'The item, for callers who see its source; null for others.',
      resolve: ({ id }, _args, context) => loadNode(context, 'knowledgeItem', id),
    }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    url: t.string({
      nullable: true,
      description:
        'Where to read it: its own address, or a link to its original that works without a key for an hour. Null without an original.',
      resolve: (item, _args, { deps, caller }) => makeCitedUrl(deps, caller, item),
    }),
    mimeType: t.exposeString('mimeType', {
      nullable: true,
      description: 'What it is: as declared, and once it is indexed as found in its bytes; null where nobody knows.',
    }),
    downloadUrl: t.string({
      nullable: true,
      description: 'A link to its bytes that works without a key for an hour; null when they are not kept here.',
      resolve: (item, _args, { deps, caller }) => makeDownloadUrl(deps, caller, item),
    }),
    passage: t.field({
      type: PassageContentType,
      nullable: true,
      description: 'One of its passages in the text around it, as a citation or a search names it. Null when its text is gone.',
      args: {
        id: t.arg.string({ required: false, description: 'The id of the passage; without it `isCurrent` is false.' }),
        charStart: t.arg.int({ description: 'Where it starts in the text of the document, in UTF-16 code units.' }),
        charEnd: t.arg.int({ description: 'Where it ends.' }),
      },
      resolve: async ({ id: knowledgeItemId, dataSourceId }, { id: passageId, charStart, charEnd }, { deps, caller }) => {
        const place = { id: passageId ?? '', knowledgeItemId, dataSourceId, charStart, charEnd };
        return (await readPassages(deps, caller, [place]))[0] ?? null;
      },
    }),
  }),
});

const KnowledgeItemConnection = makeConnection(KnowledgeItemType, 'KnowledgeItem', 'Knowledge items');

const reads = reading<DataSource>;
builder.objectFields(DataSourceRef, (t) => {
  const search = t.arg.string({ required: false, description: 'Only those whose name holds this text; at most 200 characters.' });
  return {
    items: t.loadable({
      extensions: reads('id', 'orgId'),
      type: KnowledgeItemConnection,
      description: 'Its documents, oldest first.',
      args: {
        status: t.arg({ type: [IndexStatusType], required: false, description: 'Only those in one of these states.' }),
        search,
        ...pageArgs(t.arg),
      },
      byPath: true,
      load: (sources: DataSource[], context, { status, search: text, ...page }) =>
        listItemsOfSources(context.deps, context.caller, sources, { statuses: status, search: text }, pageRequest(context, page)),
      resolve: (source) => source,
    }),
    failedItems: t.loadable({
      extensions: reads('id', 'orgId'),
      type: KnowledgeItemConnection,
      description:
        'Its documents that failed, were skipped or were cancelled, oldest first. Each says why, what may help, and whether another try may succeed.',
      args: { search, ...pageArgs(t.arg) },
      byPath: true,
      load: (sources: DataSource[], context, { search: text, ...page }) =>
        listItemsOfSources(context.deps, context.caller, sources, { statuses: unread, search: text }, pageRequest(context, page)),
      resolve: (source) => source,
    }),
  };
});

const unread = ['FAILED', 'SKIPPED', 'CANCELLED'] as const;

const id = { description: 'The id of the item.' };
/** REST names the source too that the item must be of. */
function placeIn(context: GraphContext, itemId: string): ItemPlace {
  return { id: itemId, dataSourceId: textTerm(context, 'dataSourceId') };
}

builder.queryFields((t) => ({
  knowledgeItems: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: KnowledgeItemConnection,
    description: 'The items of a data source, oldest first.',
    args: {
      dataSourceId: t.arg.id({ description: 'The id of the source.' }),
      status: t.arg({ type: [IndexStatusType], required: false, description: 'Only those in one of these states.' }),
      search: t.arg.string({ required: false, description: 'Only those whose name holds this text; at most 200 characters.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { dataSourceId, status, search, ...args }, context) => {
      const query = { page: numberTerm(context, 'page'), statuses: status, search };
      return listKnowledgeItems(context.deps, context.caller, dataSourceId, query, pageRequest(context, args));
    },
  }),
  knowledgeItem: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: KnowledgeItemType,
    nullable: true,
    description: 'One document of a data source; null when there is none or the caller may not see the source.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getKnowledgeItem(deps, caller, args.id),
  }),
  citedDocument: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: CitedDocumentType,
    nullable: true,
    description:
      'The document behind a citation, for callers who see its source or may use an agent that cites it; null for others.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => getCitedItem(context.deps, context.caller, placeIn(context, args.id)),
  }),
}));

const UpdateKnowledgeItemInput = builder.inputType('UpdateKnowledgeItemInput', {
  description: 'Changes of an item.',
  fields: (t) => ({ cite: t.boolean({ description: 'Whether answers may cite it.' }) }),
});

builder.mutationField('updateKnowledgeItem', (t) =>
  t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: KnowledgeItemType,
    description: 'Changes an item, for the owner of its source and administrators.',
    args: {
      id: t.arg.id(id),
      input: t.arg({ type: UpdateKnowledgeItemInput, description: 'The members to change.' }),
    },
    resolve: (_root, { id: itemId, input }, context) =>
      updateKnowledgeItem(context.deps, context.caller, placeIn(context, itemId), input),
  }),
);
