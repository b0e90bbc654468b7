import type { ObjectRef } from '@pothos/core';
import {
  watchAgents,
  watchApiKeys,
  watchChatImports,
  watchChats,
  watchConnections,
  watchDataSources,
  watchMemories,
  watchPeople,
  watchRuns,
} from '../../../domain/operations/live/lists.ts';
import { watchMessages } from '../../../domain/operations/live/messages.ts';
import { type UsageChange, watchUsage } from '../../../domain/operations/live/usage.ts';
import { getUsage } from '../../../domain/operations/usage.ts';
import { type Change, changeKinds } from '../../../entities/operations/live.ts';
import type { Scope } from '../../../entities/people/caller.ts';
import { type BuilderTypes, builder } from '../../ground/builder/builder.ts';
import type { GraphContext } from '../../ground/builder/context.ts';
import { type ArgBuilder, decodeCursor, encodeCursor } from '../../ground/pagination.ts';
import {
  AgentRef,
  ApiKeyRef,
  ChatImportRef,
  ChatRef,
  DataSourceRef,
  IntegrationRef,
  MemoryRef,
  MessageRef,
  RunRef,
} from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';
import { UsageReportType } from '../usage/usage.ts';
import { nodeOfChange } from './nodes.ts';

/**
 * Lists that are live: one subscription a list, which tells each change of it by the id of the thing. The thing itself is loaded when `node` is selected,
 * under the rights of that moment.
 */

const ChangeKindType = createEnum('ChangeKind', 'What happened to a thing of a list, as the caller sees the list.', changeKinds, {
  created: 'It is new, or the caller may see it from now on.',
  updated: 'It has changed. Also told of a thing that the client does not know: take it into the list.',
  deleted: 'It is gone, or the caller may not see it any more. Only its id is told.',
});

interface ChangeTypeOptions {
  /** Of the thing: `Agent`. */
  readonly name: string;
  readonly node: ObjectRef<BuilderTypes, object>;
  readonly scope: Scope;
  /** How the descriptions call the thing: `an agent`. */
  readonly thing: string;
}

function changeType({ name, node, scope, thing }: ChangeTypeOptions) {
  return builder.objectRef<Change>(`${name}Change`).implement({
    access: { scope },
    description: `A change of ${thing} in a list.`,
    fields: (t) => ({
      kind: t.expose('kind', { type: ChangeKindType, description: 'What happened.' }),
      id: t.exposeID('id', { description: `The id of ${thing}.` }),
      node: t.field({
        type: node,
        nullable: true,
        description: 'The thing as it is now. Null when it was deleted, or went away meanwhile.',
        // The loader of the kind gives what the type shows.
        resolve: (change, _args, context) => nodeOfChange(change, context),
      }),
      cursor: t.string({
        description:
          'Pass it as `after` to a new subscription, which then begins with what changed since. Some changes come twice.',
        resolve: ({ batch }) => encodeCursor([batch.until.toISOString()]),
      }),
    }),
  });
}

const AgentChange = changeType({ name: 'Agent', node: AgentRef, scope: 'AGENTS:READ', thing: 'an agent' });
const ChatChange = changeType({ name: 'Chat', node: ChatRef, scope: 'CHATS:READ', thing: 'a chat' });
const MessageChange = changeType({ name: 'Message', node: MessageRef, scope: 'CHATS:READ', thing: 'a message' });
const DataSourceChange = changeType({
  name: 'DataSource',
  node: DataSourceRef,
  scope: 'DATA_SOURCES:READ',
  thing: 'a data source',
});
const RunChange = changeType({ name: 'Run', node: RunRef, scope: 'CHATS:READ', thing: 'a run' });
const MemoryChange = changeType({ name: 'Memory', node: MemoryRef, scope: 'CHATS:READ', thing: 'a memory' });
const ChatImportChange = changeType({
  name: 'ChatImport',
  node: ChatImportRef,
  scope: 'CHATS:READ',
  thing: 'an import of chats',
});
const IntegrationChange = changeType({
  ...{ name: 'Integration', node: IntegrationRef, scope: 'CONNECTIONS:READ' },
  thing: 'a connection',
});

const ApiKeyChange = changeType({ name: 'ApiKey', node: ApiKeyRef, scope: 'API_KEYS:READ', thing: 'a key' });
const PeopleChange = builder.objectRef<Change>('PeopleChange').implement({
  access: { scope: 'ADMIN:READ' },
  description: 'A change of a member, an invitation or a group of an organization.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ChangeKindType, description: 'What happened.' }),
    id: t.exposeID('id', { description: 'The id of the membership, the invitation or the group.' }),
    node: t.field({
      type: NodeType,
      nullable: true,
      description: 'The Membership, Invitation or Group as it is now. Null when it was deleted, or went away meanwhile.',
      resolve: (change, _args, context) => nodeOfChange(change, context),
    }),
    cursor: t.string({
      description:
        'Pass it as `after` to a new subscription, which then begins with what changed since. Some changes come twice.',
      resolve: ({ batch }) => encodeCursor([batch.until.toISOString()]),
    }),
  }),
});

const UsageChangeType = builder.objectRef<UsageChange>('UsageChange').implement({
  access: { scope: 'USAGE:READ' },
  description: 'The organization has used more, or its limits have changed.',
  fields: (t) => ({
    kind: t.field({
      type: ChangeKindType,
      description: 'What happened: use is UPDATED, never new or gone.',
      resolve: () => 'updated' as const,
    }),
    id: t.exposeID('orgId', { description: 'The id of the organization.' }),
    node: t.field({
      type: UsageReportType,
      description: 'What the organization and its agents have used until now.',
      resolve: (_change, _args, { deps, caller }) => getUsage(deps, caller, {}),
    }),
  }),
});

const timingNote =
  'Changes within a quarter of a second are told once. Subscribe first and load the list then, so that no change is missed.';

function afterArg(arg: ArgBuilder, replayedNote: string) {
  const description = `The \`cursor\` of a change: what changed since is told first. ${replayedNote} INVALID_VALUE when more than 1,000 things changed since: load the list anew.`;
  return { after: arg.string({ required: false, description }) };
}

/** @throws DomainError INVALID_VALUE naming `after`. */
function toOptions({ signal }: GraphContext, { after }: { readonly after?: string | null | undefined }) {
  if (after === undefined || after === null) return { after: undefined, signal };
  const [time] = decodeCursor(after, ['time']);
  return { after: new Date(String(time)), signal };
}

builder.subscriptionFields((t) => ({
  agentsChanged: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentChange,
    description: `The agents that \`agents\` lists, as they change: with their tools, skills, flows, inputs, secrets, sources, groups and ratings. An agent that becomes visible to the caller is CREATED, one that does not stay so is DELETED. Of more than 2,000 agents, the end of access is told of the newest. ${timingNote}`,
    args: afterArg(t.arg, 'Of agents, changes of their own members and deletions.'),
    subscribe: (_root, args, context) => watchAgents(context.deps, context.caller, toOptions(context, args)),
    resolve: (change) => change,
  }),
  chatsChanged: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatChange,
    description: `The chats that \`chats\` lists, as they change: at a message, a run that begins or ends, a new name. ${timingNote}`,
    args: {
      agentId: t.arg.id({
        required: false,
        description:
          'Only chats with this agent; for its editors also those of others that it shows. Default: the caller’s own chats.',
      }),
      ...afterArg(t.arg, 'Of chats, all changes, and deletions of the caller’s own.'),
    },
    subscribe: (_root, { agentId, ...args }, context) =>
      watchChats(context.deps, context.caller, agentId ?? undefined, toOptions(context, args)),
    resolve: (change) => change,
  }),
  messagesChanged: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: MessageChange,
    description: `The messages of a chat that \`chatMessages\` lists, the newest 1,000, as they are written, changed, rated and removed: those of the active branch, so another branch comes as DELETED and CREATED messages. An answer is CREATED when its run ends; \`runEvents\` tells it word by word. Ends when the chat is deleted or the caller may not read it any more. ${timingNote}`,
    args: {
      chatId: t.arg.id({ description: 'The id of the chat.' }),
      ...afterArg(t.arg, 'Of messages, new and changed ones; removed ones are not told.'),
    },
    subscribe: (_root, { chatId, ...args }, context) =>
      watchMessages(context.deps, context.caller, chatId, toOptions(context, args)),
    resolve: (change) => change,
  }),
  dataSourcesChanged: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: DataSourceChange,
    description: `The data sources that \`dataSources\` lists, as they change, also while they are read and indexed. A source that becomes visible to the caller is CREATED, one that does not stay so is DELETED. Of more than 2,000 sources, the end of access is told of the newest. ${timingNote}`,
    args: afterArg(t.arg, 'Of sources, changes of their own members; deleted ones are not told.'),
    subscribe: (_root, args, context) => watchDataSources(context.deps, context.caller, toOptions(context, args)),
    resolve: (change) => change,
  }),
  runsChanged: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunChange,
    description: `The runs that \`runs\` lists, as they begin, wait, start and end: for administrators those of the organization, for others their own and those of agents that they may edit. A run that is not stored, such as a completion, is told once it is over. ${timingNote}`,
    args: afterArg(t.arg, 'Of runs, those that began within a day before that; deleted ones are not told.'),
    subscribe: (_root, args, context) => watchRuns(context.deps, context.caller, toOptions(context, args)),
    resolve: (change) => change,
  }),
}));

/** What belongs to the caller or, for administrators, to the organization. */
builder.subscriptionFields((t) => ({
  memoriesChanged: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: MemoryChange,
    description: `What is remembered of the caller, as it changes: by the caller, or by a tool of an agent. ${timingNote}`,
    args: afterArg(t.arg, 'Of memories, new and changed ones; deleted ones are not told.'),
    subscribe: (_root, args, context) => watchMemories(context.deps, context.caller, toOptions(context, args)),
    resolve: (change) => change,
  }),
  chatImportsChanged: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ChatImportChange,
    description: `The caller's imports of chats, as they go on: with each chat that is brought, and at their end. ${timingNote}`,
    args: afterArg(t.arg, 'Of imports, new and changed ones.'),
    subscribe: (_root, args, context) => watchChatImports(context.deps, context.caller, toOptions(context, args)),
    resolve: (change) => change,
  }),
  connectionsChanged: t.field({
    authScopes: { key: 'CONNECTIONS:READ' },
    type: IntegrationChange,
    description: `The connections that \`connections\` lists, as they change: also when a service refuses a token. ${timingNote}`,
    args: {
      ofOrganization: t.arg.boolean({
        required: false,
        description: 'All connections of the organization, for its administrators. Default: the caller’s own.',
      }),
      ...afterArg(t.arg, 'Of connections, new and changed ones; deleted ones are not told.'),
    },
    subscribe: (_root, { ofOrganization, ...args }, context) =>
      watchConnections(context.deps, context.caller, ofOrganization === true, toOptions(context, args)),
    resolve: (change) => change,
  }),
  apiKeysChanged: t.field({
    authScopes: { key: 'API_KEYS:READ' },
    type: ApiKeyChange,
    description: `The keys that \`apiKeys\` lists, as they change: a key that is revoked is DELETED. Uses of a key are not told. ${timingNote}`,
    args: {
      ofOrganization: t.arg.boolean({
        required: false,
        description: 'All keys of the organization, for its administrators. Default: the caller’s own.',
      }),
      ...afterArg(t.arg, 'Of keys, new and revoked ones.'),
    },
    subscribe: (_root, { ofOrganization, ...args }, context) =>
      watchApiKeys(context.deps, context.caller, ofOrganization === true, toOptions(context, args)),
    resolve: (change) => change,
  }),
  peopleChanged: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: PeopleChange,
    description: `The members, invitations and groups of the caller's organization, as they change, for its administrators: also at a new role, name or e-mail of a member, and when an invitation is sent or accepted. Groups are told to keys with the scope GROUPS:READ. ${timingNote}`,
    args: afterArg(t.arg, 'New members and invitations, new and changed groups; what was removed is not told.'),
    subscribe: (_root, args, context) => watchPeople(context.deps, context.caller, toOptions(context, args)),
    resolve: (change) => change,
  }),
  usageChanged: t.field({
    authScopes: { key: 'USAGE:READ' },
    type: UsageChangeType,
    description:
      'What the organization uses: at once, and as it changes, at most once a second. Each event tells the whole, so nothing is lost when a client subscribes anew.',
    subscribe: (_root, _args, { deps, caller, signal }) => watchUsage(deps, caller, signal),
    resolve: (change) => change,
  }),
}));
