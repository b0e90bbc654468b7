import {
  citedUrlOf,
  contentUrlOf,
  getCitedItem,
  getKnowledgeItem,
  listKnowledgeItems,
  updateKnowledgeItem,
} from '../../domain/knowledge/items.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import { builder } from '../builder/builder.ts';
import { connectionOf, pageArgs, pageRequest } from '../pagination.ts';
import { KnowledgeItemRef } from '../refs.ts';
import { IndexStatusType } from './sources.ts';

const OriginalContentType = builder.objectRef<KnowledgeItem>('OriginalContent').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What an item was made from.',
  fields: (t) => ({
    contentBlobUrl: t.string({
      description: 'Where its bytes are served, to callers who see the source; empty when they are not kept here.',
      resolve: (item, _args, { deps }) => (item.contentBlobKey === null ? '' : contentUrlOf(deps, { ...item, contentUrl: null })),
    }),
    filename: t.string({ description: 'Its name as a file.', resolve: ({ filename, name }) => filename ?? name }),
    mimeType: t.string({
      description: 'What it is: as declared, and once it is indexed as found in its bytes.',
      resolve: ({ mimeType }) => mimeType ?? '',
    }),
    contentUrl: t.string({
      description: 'Where a reader finds the original.',
      resolve: (item, _args, { deps }) => contentUrlOf(deps, item),
    }),
    isContentStoredExternally: t.exposeBoolean('isContentStoredExternally', {
      description: 'Whether its bytes stay with the upstream.',
    }),
  }),
});

const KnowledgeItemType = KnowledgeItemRef.implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'One document of a data source: a file, a page, a payload.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the item.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was found.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The source it is of.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    uniqueId: t.exposeString('uniqueId', { description: "The upstream's own id of it." }),
    parentUniqueId: t.string({
      description: 'The uniqueId of its parent; empty without one.',
      resolve: ({ parentUniqueId }) => parentUniqueId ?? '',
    }),
    type: t.exposeString('type', { description: 'The type of its source.' }),
    indexStatus: t.expose('indexStatus', { type: IndexStatusType, description: 'The progress of indexing.' }),
    indexPercentage: t.string({
      description: 'Whole percent from "0" to "100".',
      resolve: ({ indexPercentage }) => String(indexPercentage),
    }),
    documentCount: t.exposeInt('documentCount', { description: 'Passages that answer questions.' }),
    tokenCount: t.exposeInt('tokenCount', { description: 'Tokens of those passages, about.' }),
    originalContent: t.field({ type: OriginalContentType, description: 'What it was made from.', resolve: (item) => item }),
    documentsBlobUrl: t.string({
      description: 'Where its passages are kept as a file; empty: they are in the database.',
      resolve: () => '',
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'Further properties of the document, such as its title.',
      resolve: ({ metadata }) => metadata,
    }),
    isBlobStorageDeleted: t.exposeBoolean('isBlobStorageDeleted', { description: 'Whether its bytes were removed.' }),
    cite: t.exposeBoolean('cite', { description: 'Whether answers may cite it.' }),
    errorCode: t.exposeString('errorCode', { nullable: true, description: 'Why it failed or was skipped, for programs.' }),
    errorMessage: t.exposeString('errorMessage', {
      nullable: true,
      description: 'Why it failed or was skipped, and what may help.',
    }),
    isRetryable: t.exposeBoolean('isRetryable', { description: 'Whether another try of the same content may succeed.' }),
    lastCheckedAt: t.expose('lastCheckedAt', { type: 'DateTime', nullable: true, description: 'When it was last fetched.' }),
    indexedAt: t.expose('indexedAt', { type: 'DateTime', nullable: true, description: 'When it was last indexed anew.' }),
  }),
});

const CitedDocumentType = builder.objectRef<KnowledgeItem>('CitedDocument').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A document behind a citation, as readers of answers may know it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the item.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The source it is of.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    url: t.string({
      description: 'Where to read it: its own address, or a link to its original that works without a key for an hour.',
      resolve: (item, _args, { deps }) => citedUrlOf(deps, item),
    }),
  }),
});

const KnowledgeItemConnection = connectionOf(KnowledgeItemType, 'KnowledgeItem', 'Knowledge items');

builder.queryFields((t) => ({
  knowledgeItems: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: KnowledgeItemConnection,
    description: 'The items of a data source, oldest first.',
    args: {
      dataSourceId: t.arg.id({ description: 'The id of the source.' }),
      page: t.arg.int({
        required: false,
        description: 'The number of the page, from 1; not together with `after`, which costs less.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { dataSourceId, page, ...args }, context) =>
      listKnowledgeItems(context.deps, context.caller, dataSourceId, page, pageRequest(context, args)),
  }),
  knowledgeItem: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: KnowledgeItemType,
    description: 'One item of a data source.',
    args: {
      dataSourceId: t.arg.id({ description: 'The id of the source.' }),
      id: t.arg.id({ description: 'The id of the item.' }),
    },
    resolve: (_root, { dataSourceId, id }, { deps, caller }) => getKnowledgeItem(deps, caller, dataSourceId, id),
  }),
  citedDocument: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: CitedDocumentType,
    description: 'The document behind a citation, for callers who see its source or may use an agent that cites it.',
    args: {
      dataSourceId: t.arg.id({ description: 'The id of the source.' }),
      id: t.arg.id({ description: 'The id of the item.' }),
    },
    resolve: (_root, { dataSourceId, id }, { deps, caller }) => getCitedItem(deps, caller, { dataSourceId, id }),
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
      dataSourceId: t.arg.id({ description: 'The id of the source.' }),
      id: t.arg.id({ description: 'The id of the item.' }),
      input: t.arg({ type: UpdateKnowledgeItemInput, description: 'The members to change.' }),
    },
    resolve: (_root, { dataSourceId, id, input }, { deps, caller }) => updateKnowledgeItem(deps, caller, dataSourceId, id, input),
  }),
);
