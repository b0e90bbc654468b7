import { type GraphQLField, isObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../../src/entities/people/caller.ts';
import { createApis } from '../../../src/start/app.ts';
import type { Person } from '../../support/make.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import type { Arguments } from './calls.ts';
import { roomForWholeSelections } from './selection.ts';
import { table } from './table.ts';
import { Walk } from './walk.ts';
import { type Canary, canaries, makeWalked, type Walked } from './walked-world.ts';
import { World, worldEnv } from './world.ts';

// Walks the whole graph: from `viewer` and every other query on, along the edges, by the ids that replies show. The administrator's walk reaches every
// type and field of the schema but those named here. The walks of others begin at the same things, and ask for everything that the administrator saw:
// they are shown exactly the texts that are theirs to see, and what is not theirs is null or missing, never an error that takes other things along.

const { schema } = createApis();
const roots = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(({ name }) => name !== 'node' && name !== 'nodes');
const runEvents = schema.getSubscriptionType()?.getFields().runEvents as GraphQLField<unknown, unknown>;

/** Types that no walk reaches, and why. */
const unreached: Readonly<Record<string, readonly string[]>> = {
  'only mutations show them': [
    'AddDataSourcePayload',
    'AttachDataSourcePayload',
    'AuthorizeConnectionPayload',
    'BeginPasskeyPayload',
    'BulkDeleteDataSourcesPayload',
    'ChangeChatsPayload',
    'ChatChangeError',
    'ChatChangeResult',
    'ChatCompression',
    'ChatSummary',
    'Compaction',
    'CopySharedChatPayload',
    'CreateApiKeyPayload',
    'DeleteMemoriesPayload',
    'Embeddings',
    'DetachDataSourcePayload',
    'EndOtherSessionsPayload',
    'ImportAgentPayload',
    'InvitePayload',
    'ModelTest',
    'PushItemsPayload',
    'ShareChatPayload',
    'SignInLinkPayload',
    'ToolTrial',
    'TransferOwnershipPayload',
    'UploadToken',
    'WebhookSecretPayload',
  ],
  'only a source that is MIRRORED has them: test/api/knowledge/permissions': [
    'OpenDocument',
    'OpenDocumentConnection',
    'OpenDocumentEdge',
    'OpeningAccessList',
    'OpeningPrincipal',
    'SourcePermissionReading',
    'SourcePermissionReport',
    'UnknownPermissionsReason',
    'UnreadableGroup',
  ],
  'chats show them to their users while something waits, or once models get less of it: test/api/conversations/chats/threads': [
    'ChatComparison',
    'ContextStart',
    'QueuedMessage',
  ],
  'it holds drafts that are published on request: test/api/conversations/evaluation/gate.test.ts': [
    'AgentGate',
    'AgentGateReport',
  ],
  'no guard of the walk has patterns, and nothing was masked: test/api/agents/guards.test.ts': ['GuardCount', 'GuardPattern'],
  'people make them, and none does here: test/api/conversations/runs/tags.test.ts': ['RunTag', 'SavedRunFilter'],
  'only lists that are live show them, around things that are walked: test/api/operations/live': [
    'AgentChange',
    'ApiKeyChange',
    'ChatChange',
    'ChatImportChange',
    'DataSourceChange',
    'IntegrationChange',
    'MemoryChange',
    'MessageChange',
    'PeopleChange',
    'RunChange',
    'UsageChange',
  ],
  'the service of the account shows them, and this test calls none: test/api/knowledge': [
    'IntegrationEntry',
    'IntegrationEntryConnection',
    'IntegrationEntryEdge',
  ],
  'the server of an agent shows it, and none answers here: test/api/agents/tools/tool-trials.test.ts': ['McpOfferedTool'],
  'no chat of the walk has a tag, and none is deleted: test/api/conversations/chats': ['BinnedChat', 'BinnedChatEdge', 'ChatTag'],
  'no agent of the walk has one: test/api/agents/versions': ['AgentCanary'],
  'this service has no model for embeddings: test/api/knowledge/search/embeddings.test.ts': ['SourceVectors'],
};

const ofAgent = ['instructions', 'flow', 'tool', 'agentName'] as const;
const ofShared = ['sharedInstructions', 'sharedFlow', 'sharedTool', 'sharedName'] as const;
const ofSkills = ['skill', 'sharedSkill'] as const;
/** What was said and done in chats of the owner with the agent, which shows its chats to its editors. */
const ofChats = [
  ...['question', 'answer', 'chatName', 'chatFile', 'reasoning', 'toolOutput', 'confidentialOutput', 'request', 'comment'],
] as readonly Canary[];
const ofSources = ['source', 'passage', 'webSource'] as const;
const ofStores = ['vectorStore', 'storedFile'] as const;
const ofGroup = ['group', 'invited'] as const;
/** Nobody is shown them, whatever the key. */
const secret: readonly Canary[] = ['secret', 'sharedSecret', 'token', 'hiddenOutput'];

/** Of a chat that is shared with the organization, for those who know the link. */
const ofLink: readonly Canary[] = ['chatName', 'question', 'answer', 'chatFile'];

/** Exactly the texts that each caller is shown. */
const shown: Readonly<Record<string, readonly Canary[]>> = {
  editor: [...ofAgent, ...ofShared, ...ofSkills, ...ofChats, ...ofSources, 'category'],
  // May use the agent: sees what it is called and can do, and the passages that it answers from.
  groupMember: ['agentName', 'tool', 'sharedName', 'sharedTool', 'source', 'passage', ...ofGroup, ...ofLink, 'category'],
  // A shared chat names the agent that answered.
  colleague: ['sharedName', 'sharedTool', 'category', 'agentName', ...ofLink],
  orgAdmin: [
    ...[...ofAgent, ...ofShared, ...ofSkills, ...ofChats, ...ofSources, ...ofStores, ...ofGroup],
    ...(['keyName', 'connection', 'category'] as const),
  ],
  auditor: [
    ...[...ofAgent, ...ofShared, ...ofSkills, ...ofChats, ...ofSources, ...ofStores, ...ofGroup],
    ...(['keyName', 'connection', 'category'] as const),
  ],
  otherOrganization: [],
  otherTenant: [],
  'key without a scope': [],
  // Keys of the owner with one scope.
  'AGENTS:READ': [...ofAgent, ...ofShared, 'category'],
  // A chat names who answers in it, on REST too, and citations name documents with the cited passage.
  'CHATS:READ': [
    ...ofChats.filter((name) => name !== 'confidentialOutput'),
    ...([
      'agentName',
      'sharedName',
      'conversation',
      'memory',
      'chatImport',
      'prompt',
      'schedule',
      'source',
      'passage',
      'storedFile',
    ] as const),
  ],
  'DATA_SOURCES:READ': [...ofSources, ...ofStores],
  'GROUPS:READ': ofGroup,
  'API_KEYS:READ': ['keyName'],
  'USAGE:READ': [],
  'SKILLS:READ': ofSkills,
  'CONNECTIONS:READ': ['connection'],
  'ADMIN:READ': [],
};

/** How a root field may refuse a caller. Below the root nothing is refused. */
const refusals: readonly string[] = ['NOT_FOUND', 'MODEL_NOT_FOUND', 'FORBIDDEN', 'INSUFFICIENT_SCOPE'];
/** The account of the walk is of a kind that cannot be browsed. */
const unbrowsable = 'Query.connectionEntries INVALID_VALUE';
/** The source is LENT; the other needs a scope of its own, as the item itself does. */
const tolerated = [unbrowsable, 'Query.openDocuments CONFLICT', 'Query.unidentifiedPeople CONFLICT'];

const { service, upstream } = await withService('model', {
  env: { ...worldEnv, ...roomForWholeSelections, GRAPHQL_COST_MAX: '1000000000000' },
});
let world: World;
let walked: Walked;
let asked: readonly (readonly [GraphQLField<unknown, unknown>, Arguments])[];
let callers: Readonly<Record<string, Person>>;
let admin: Walk;

beforeAll(async () => {
  world = await World.create(service);
  walked = await makeWalked(world, { service, upstream });
  asked = await Promise.all(roots.map(async (field) => [field, await argumentsOf(field)] as const));
  callers = await world.people();
  admin = await walkOf(await world.make.withKey(world.owner, { level: 'INSTANCE' }));
}, 300_000);

/** Made once: every walk begins at the same things. */
async function argumentsOf({ name }: GraphQLField<unknown, unknown>): Promise<Arguments> {
  const own: Readonly<Record<string, Arguments>> = {
    conversation: { id: walked.conversation },
    conversationItems: { id: walked.conversation },
    search: { query: 'canary' },
    vectorStore: { id: walked.vectorStore },
    vectorStoreSearch: { id: walked.vectorStore, input: { queries: ['Hello'] } },
  };
  return own[name] ?? (await table[`Query.${name}`]?.given(walked)) ?? {};
}

async function walkOf(who: Person): Promise<Walk> {
  const walk = new Walk(schema, who, Object.values(canaries));
  for (const [field, given] of asked) await walk.from(field, given);
  for (const runId of walked.runs) await walk.follow(runEvents, { runId });
  await walk.goOn();
  return walk;
}

async function callerOf(name: string): Promise<Person> {
  if (name === 'key without a scope') return world.make.withKey(world.owner, { scopes: [] });
  return callers[name] ?? world.make.withKey(world.owner, { scopes: [name as Scope] });
}

/** The texts that a walk was shown, each with the place: so that a failure says where. */
function placesOf(walk: Walk): Readonly<Record<string, string>> {
  const places = Object.entries(canaries).map(([name, text]) => [name, walk.shownTexts.get(text)] as const);
  return Object.fromEntries(places.flatMap(([name, place]) => (place === undefined ? [] : [[name, place] as const])));
}

/** Things that a field showed and that their own id does not give to the same key. */
function unfound({ things, found }: Walk): readonly string[] {
  return [...things].flatMap(([id, { typeName, place }]) => (found.has(id) ? [] : [`${place} shows a ${typeName}`]));
}

describe('the walk of an administrator', () => {
  it('is answered everywhere', () => {
    expect(admin.refusals.map(({ place, code }) => `${place} ${code}`)).toEqual([
      unbrowsable,
      // The source is LENT.
      'Query.openDocuments CONFLICT',
      'Query.unidentifiedPeople CONFLICT',
    ]);
    expect(unfound(admin)).toEqual([]);
  });

  it('reaches every type of the schema but those that are named', () => {
    const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !type.name.startsWith('__'));
    const operations = ['Query', 'Mutation', 'Subscription'];
    const missing = types.map(({ name }) => name).filter((name) => !admin.types.has(name) && !operations.includes(name));
    expect(missing.toSorted()).toEqual(Object.values(unreached).flat().toSorted());
  });

  it('reaches every field of these types', () => {
    const fields = [...admin.types].flatMap((name) => {
      const type = schema.getType(name);
      return isObjectType(type) ? Object.keys(type.getFields()).map((field) => `${name}.${field}`) : [];
    });
    expect(fields.filter((field) => !admin.answered.has(field)).toSorted()).toEqual([]);
    expect(roots.map(({ name }) => `Query.${name}`).filter((field) => !admin.answered.has(field))).toEqual([
      'Query.connectionEntries',
      // Its source is LENT.
      'Query.openDocuments',
      'Query.unidentifiedPeople',
    ]);
  });

  it('is shown everything but secrets', () => {
    const all = Object.keys(canaries).filter((name) => !secret.includes(name as Canary));
    expect(Object.keys(placesOf(admin)).toSorted()).toEqual(all.toSorted());
  });
});

describe('the walk of others, who ask for everything that the administrator saw', () => {
  it.each(sampled(Object.keys(shown)))('%s', async (name) => {
    const walk = await walkOf(await callerOf(name));
    await walk.lookUp(admin.things);
    const places = placesOf(walk);
    expect(Object.keys(places).toSorted(), JSON.stringify(places)).toEqual([...(shown[name] ?? [])].toSorted());
    expect(unfound(walk)).toEqual([]);
    const isRoot = (place: string) => place.startsWith('Query.') || place === 'Subscription.runEvents';
    const odd = walk.refusals.filter(({ place, code }) => !isRoot(place) || !refusals.includes(code));
    expect(odd.map(({ place, code }) => `${place} ${code}`).filter((text) => !tolerated.includes(text))).toEqual([]);
  });
});
