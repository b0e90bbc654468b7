import { type PushedItems, pushItems } from '../../domain/knowledge/permissions/pushed-items.ts';
import { putPrincipals } from '../../domain/knowledge/permissions/rosters.ts';
import { builder } from '../ground/builder/builder.ts';
import { DataSourceType } from './sources.ts';

const principalForms = '`user:ann@example.org`, `group:key`, `domain:example.org`, `anyone_in_organization` or `anyone`';

const AccessListInput = builder.inputType('AccessListInput', {
  description: 'A list of those who may open a document.',
  fields: (t) => ({ anyOf: t.stringList({ description: `1 to 10,000 of ${principalForms}.` }) }),
});
const PushedItemInput = builder.inputType('PushedItemInput', {
  description: 'A document, with those who may open it.',
  fields: (t) => ({
    uniqueId: t.string({ description: "The caller's own id of it: 1 to 500 characters." }),
    name: t.string({ required: false, description: 'What it is called: 1 to 200 characters. Default, of a new one: its id.' }),
    text: t.string({ required: false, description: 'Its text, as Markdown. Absent: it stays as it is.' }),
    url: t.string({ required: false, description: 'Where a person reads it: an http or https address.' }),
    acl: t.stringList({
      description: `Any of these may open it; 1 to 10,000 of ${principalForms}. A group must have been put with its members.`,
    }),
    restrictions: t.field({
      type: [AccessListInput],
      required: false,
      description: 'At most 20 further lists: a person must be named by each of them, too.',
    }),
  }),
});
const PushItemsInput = builder.inputType('PushItemsInput', {
  description: 'Documents of a MIRRORED API source.',
  fields: (t) => ({
    items: t.field({ type: [PushedItemInput], required: false, description: 'At most 100: added, or changed by their ids.' }),
    removedIds: t.stringList({ required: false, description: 'At most 1,000 ids of documents that are removed.' }),
  }),
});
const PushItemsPayload = builder.objectRef<PushedItems>('PushItemsPayload').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What became of a push.',
  fields: (t) => ({
    addedCount: t.exposeInt('addedCount', { description: 'Documents that are new.' }),
    changedCount: t.exposeInt('changedCount', { description: 'Documents that the source had.' }),
    removedCount: t.exposeInt('removedCount', { description: 'Documents that were removed.' }),
    permissionsChangedCount: t.exposeInt('permissionsChangedCount', {
      description: 'Documents that others may open than before; it counts at once.',
    }),
  }),
});

const RosterInput = builder.inputType('RosterInput', {
  description: 'A group, with all of its members.',
  fields: (t) => ({
    key: t.string({ description: "The caller's own id of it: 1 to 200 characters." }),
    name: t.string({ required: false, description: 'What administrators see; at most 200 characters.' }),
    members: t.stringList({ description: 'At most 10,000 of `user:ann@example.org` and `group:key`. None: it opens nothing.' }),
  }),
});
const PutPrincipalsInput = builder.inputType('PutPrincipalsInput', {
  description: 'Groups of a MIRRORED API source.',
  fields: (t) => ({ groups: t.field({ type: [RosterInput], description: '1 to 1,000 groups; others stay as they are.' }) }),
});

const id = { description: 'The id of a MIRRORED API source.' };

builder.mutationFields((t) => ({
  pushItems: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: PushItemsPayload,
    description: 'Adds, changes and removes documents of a MIRRORED API source, for its owner and administrators: all or none.',
    args: { dataSourceId: t.arg.id(id), input: t.arg({ type: PushItemsInput, description: 'The documents.' }) },
    resolve: (_root, { dataSourceId, input }, { deps, caller }) => pushItems(deps, caller, dataSourceId, input),
  }),
  putPrincipals: t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: DataSourceType,
    description: 'Says who is in groups of a MIRRORED API source, in place of who was, for its owner and administrators.',
    args: { dataSourceId: t.arg.id(id), input: t.arg({ type: PutPrincipalsInput, description: 'The groups.' }) },
    resolve: (_root, { dataSourceId, input }, { deps, caller }) => putPrincipals(deps, caller, dataSourceId, input),
  }),
}));
