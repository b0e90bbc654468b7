import {
  deleteRunFilter,
  listRunFilters,
  listRunTags,
  saveRunFilter,
  setRunTags,
} from '../../../domain/conversations/runs/tags.ts';
import type { RunTag, SavedRunFilter } from '../../../entities/conversations/runs/saved-filter.ts';
import { builder } from '../../ground/builder/builder.ts';
import { RunRef } from '../../ground/refs.ts';
import { findRow } from './source.ts';

builder.objectField(RunRef, 'tags', (t) =>
  t.stringList({
    description: 'Labels that people gave it with `setRunTags`; everybody sees them who sees the run. At most 20.',
    resolve: async (run, _args, context) => [...((await findRow(run, context))?.tags ?? [])],
  }),
);

const RunTagType = builder.objectRef<RunTag>('RunTag').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A label of runs.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What it says.' }),
    runCount: t.exposeInt('runCount', { description: 'How many runs have it, among the newest 10,000 that have a tag.' }),
  }),
});

const SavedRunFilterType = builder.objectRef<SavedRunFilter>('SavedRunFilter').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What the caller narrows the list of runs to, by name. Nobody else sees it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first saved.' }),
    name: t.exposeString('name', { description: 'Its name, which no other filter of the caller has.' }),
    query: t.exposeString('query', { description: 'The narrowing, as the front end writes it into the address of its list.' }),
  }),
});

builder.queryFields((t) => ({
  runTags: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: [RunTagType],
    description: 'The tags of runs that the caller may see, the ones of the most runs first; at most 200.',
    resolve: async (_root, _args, { deps, caller }) => [...(await listRunTags(deps, caller))],
  }),
  savedRunFilters: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: [SavedRunFilterType],
    description: "The caller's filters of runs, by name; at most 50.",
    resolve: async (_root, _args, { deps, caller }) => [...(await listRunFilters(deps, caller))],
  }),
}));

const SaveRunFilterInput = builder.inputType('SaveRunFilterInput', {
  description: 'A filter of runs. One with the same name is replaced.',
  fields: (t) => ({
    name: t.string({ description: '1 to 100 characters.' }),
    query: t.string({
      description: 'The narrowing, as the front end writes it into the address of its list; at most 2,000 characters.',
    }),
  }),
});

builder.mutationFields((t) => ({
  setRunTags: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: RunRef,
    description: 'Gives a run that the caller may see other tags, in place of those before.',
    args: {
      id: t.arg.id({ description: 'The id of the run.' }),
      tags: t.arg.stringList({ description: 'At most 20 of 1 to 50 characters; none takes them all away.' }),
    },
    resolve: (_root, { id, tags }, { deps, caller }) => setRunTags(deps, caller, id, tags),
  }),
  saveRunFilter: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: SavedRunFilterType,
    description: 'Saves what the caller narrows the list of runs to, by name.',
    args: { input: t.arg({ type: SaveRunFilterInput, description: 'The filter.' }) },
    resolve: (_root, { input }, { deps, caller }) => saveRunFilter(deps, caller, input),
  }),
  deleteRunFilter: t.field({
    authScopes: { key: 'CHATS:WRITE' },
    type: SavedRunFilterType,
    description: 'Deletes a filter of the caller. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the filter.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteRunFilter(deps, caller, id),
  }),
}));
