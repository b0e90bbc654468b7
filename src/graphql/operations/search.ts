import { foundMax, type SearchInput, searchEverything } from '../../domain/operations/search/search.ts';
import { type FoundThing, type SearchKind, searchKinds, type TextSpan } from '../../entities/operations/search.ts';
import type { Scope } from '../../entities/people/caller.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode } from '../ground/builder/nodes.ts';
import { AgentRef, ChatRef, DataSourceRef, MessageRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';

const SearchKindType = createEnum('SearchKind', 'What a search finds.', searchKinds, {
  agent: 'Agents, by name and description.',
  chat: "The caller's newest 50,000 chats, by name.",
  message: "What was said in the caller's newest chats.",
  source: 'Data sources, by name.',
});

const HighlightType = builder.objectRef<TextSpan>('TextHighlight').implement({
  access: { scope: null },
  description: 'A part of a text that is to be shown as found.',
  fields: (t) => ({
    start: t.exposeInt('start', { description: 'Where it starts, in UTF-16 code units.' }),
    end: t.exposeInt('end', { description: 'Where it ends.' }),
  }),
});

const SearchResultType = builder.interfaceRef<FoundThing>('SearchResult').implement({
  access: { scope: null },
  description: 'A thing that `search` found.',
  fields: (t) => ({
    kind: t.expose('kind', { type: SearchKindType, description: 'What it is.' }),
    title: t.string({
      nullable: true,
      description: 'Its name; of a message that of its chat. Null for a chat without a name.',
      resolve: ({ title }) => (title === '' ? null : title),
    }),
    titleHighlights: t.field({
      type: [HighlightType],
      description: 'The words of the query in the title; at most 200.',
      resolve: ({ titleHighlights }) => [...titleHighlights],
    }),
    snippet: t.string({
      nullable: true,
      description:
        'The text about the first word that was found, at most 202 characters on one line; null for a thing without a text.',
      resolve: ({ snippet }) => (snippet === '' ? null : snippet),
    }),
    highlights: t.field({
      type: [HighlightType],
      description: 'The words of the query in the snippet; at most 200.',
      resolve: ({ highlights }) => [...highlights],
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
  resolveType: ({ kind }) => typeNames[kind],
});

/** The interface has the node as anything; each type has its own. */
builder.interfaceField(SearchResultType, 'node', (t) =>
  t.field({
    type: NodeType,
    nullable: true,
    description: 'The thing itself; null when it went away meanwhile.',
    resolve: () => null,
  }),
);

const typeNames: Readonly<Record<SearchKind, string>> = {
  agent: 'AgentSearchResult',
  chat: 'ChatSearchResult',
  message: 'MessageSearchResult',
  source: 'DataSourceSearchResult',
};

const options = (scope: Scope, resultNote: string) => ({
  interfaces: [SearchResultType],
  access: { scope },
  description: `${resultNote} that a search found.`,
});
const goneNote = 'null when it went away meanwhile.';

builder.objectRef<FoundThing>(typeNames.agent).implement({
  ...options('AGENTS:READ', 'An agent'),
  fields: (t) => ({
    node: t.field({
      type: AgentRef,
      nullable: true,
      description: `The agent; ${goneNote}`,
      resolve: ({ id }, _args, context) => loadNode(context, 'agent', id),
    }),
  }),
});
builder.objectRef<FoundThing>(typeNames.chat).implement({
  ...options('CHATS:READ', 'A chat'),
  fields: (t) => ({
    node: t.field({
      type: ChatRef,
      nullable: true,
      description: `The chat; ${goneNote}`,
      resolve: ({ id }, _args, context) => loadNode(context, 'chat', id),
    }),
  }),
});
builder.objectRef<FoundThing>(typeNames.message).implement({
  ...options('CHATS:READ', 'A message'),
  fields: (t) => ({
    node: t.field({
      type: MessageRef,
      nullable: true,
      description: `The message; ${goneNote}`,
      resolve: ({ id }, _args, context) => loadNode(context, 'message', id),
    }),
  }),
});
builder.objectRef<FoundThing>(typeNames.source).implement({
  ...options('DATA_SOURCES:READ', 'A data source'),
  fields: (t) => ({
    node: t.field({
      type: DataSourceRef,
      nullable: true,
      description: `The source; ${goneNote}`,
      resolve: ({ id }, _args, context) => loadNode(context, 'dataSource', id),
    }),
  }),
});

builder.queryField('search', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: [SearchResultType],
    description: `Agents, chats, messages and data sources that mention all words of the query, in any case, among what lists show the caller: for a command palette. Names that are or begin with the query come first, then what changed last; at most ${foundMax}. A key is shown the kinds that it may read. Of messages, the newest of the caller's newest chats are read, about four megabytes; \`chats(search)\` reads all of them. Passages of knowledge are found by \`searchKnowledge\`.`,
    args: {
      query: t.arg.string({
        description: 'Words, or beginnings and parts of words; at most 200 characters, of which eight words count.',
      }),
      kinds: t.arg({ type: [SearchKindType], required: false, description: 'Only these kinds; default: all.' }),
      first: t.arg.int({ required: false, description: `How many, from 1 to ${foundMax}; default 20.` }),
    },
    resolve: async (_root, input, { deps, caller }) => [...(await searchEverything(deps, caller, input as SearchInput))],
  }),
);
