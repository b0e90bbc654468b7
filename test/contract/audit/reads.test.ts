import { beforeEach, describe, expect, it } from 'vitest';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { exportOperations, sharedOperations } from '../../../src/domain/ground/audit/reads.ts';
import { auditTargetsMax } from '../../../src/entities/operations/audit.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { createApis } from '../../../src/start/app.ts';
import type { Person } from '../../support/make.ts';
import { inTurn, sampledOperations, triesAll } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { callsOf, operationsOf } from '../authorization/calls.ts';
import { outcomeOf } from '../authorization/relations.ts';
import { ask, roomForWholeSelections } from '../authorization/selection.ts';
import { type Line, table } from '../authorization/table.ts';
import { World } from '../authorization/world.ts';
import { Numbered } from './numbered.ts';

// An administrator who is shown other people's content leaves one entry: for every query and subscription of the schema, every REST route, and each
// kind of administrator. Operations come from the schema, arguments from the authorization table.

const { schema } = createApis();
const contentScopes: ReadonlySet<string | null> = new Set([
  'AGENTS:READ',
  'SKILLS:READ',
  'DATA_SOURCES:READ',
  'CHATS:READ',
  null,
]);
const showsContent = (operation: string) => {
  const scope = operationScopes[operation];
  return scope !== undefined && contentScopes.has(scope);
};
const queries = operationsOf(schema).filter(
  ({ name }) => name.startsWith('Query.') && !name.startsWith('Query.node') && showsContent(name),
);
const subscriptions = callsOf(schema, []).filter(
  ({ operation }) => operation.startsWith('Subscription.') && showsContent(operation),
);
const rows = callsOf(schema, allRoutes).filter(
  ({ title, operation }) => title.startsWith('GET ') && operation.startsWith('Query.') && showsContent(operation),
);
const administrators = ['orgAdmin', 'auditor', 'tenantKey', 'instanceKey'] as const;

const { service } = await withService('web', { env: { ...roomForWholeSelections } });
/** Operations that left an entry. */
const entered = new Set<string>();
/** Ids of the owner's things, also of those that lines of the table made until now. */
const own = () => [setting.agent, setting.chat, setting.source, ...setting.world.vectorStores];
let calls = 0;
/** They show what an agent is asked and answers, and do not name it. */
const ofUnnamedAgent: ReadonlySet<string> = new Set([
  'Query.datasetCases',
  'Query.datasetExport',
  'Query.experimentPairs',
  'Query.experimentReport',
]);

const world = await World.create(service);
const setting = await world.setting('PRIVATE');
const people = await world.people();

beforeEach(() => service.deps.audit.flush());

/** The use of an agent names it, and shows nothing of it: what shows the agent is read on. */
function withoutUse(reply: unknown): unknown {
  return JSON.parse(JSON.stringify(reply ?? null), (_name, value) => (value?.__typename === 'AgentUsage' ? value.agent : value));
}

/** Runs of the caller name what it asked: a search is an entry when it is made, not when it is listed. The agent behind such a run is read on. */
function withoutRunsOf(userId: string, reply: unknown): unknown {
  return JSON.parse(JSON.stringify(reply ?? null), (_name, value) => (value?.userId === userId ? { agent: value.agent } : value));
}

const others = administrators.filter((who) => who !== 'orgAdmin');
/** Who makes a call in this run, of those that may: an administrator of the organization, and one of the others. */
const callersOf = ({ needs }: Line, turn: number) =>
  (['orgAdmin', ...inTurn(others, turn)] as const).filter((who) => outcomeOf(needs, who, 'PRIVATE', true) === 'allowed');

describe.each(administrators)('%s is shown what others have', (who) => {
  it.each(sampledOperations(queries.map(({ name, field }, turn) => [name, field, turn] as const)))(
    'by %s: one entry',
    async (name, field, turn) => {
      const line = table[name];
      if (line === undefined) throw new Error(`${name} has no line`);
      // What is in a state that refuses it shows nothing.
      if (line.reaches === 409 || !callersOf(line, turn).includes(who)) return;
      const given = await line.given(setting);
      const requestId = nextId();
      const reply = withoutRunsOf(people[who].userId, withoutUse(await ask(new Numbered(people[who], requestId), field, given)));
      const shown = JSON.stringify([reply, given]);
      const reads = await entriesOf(requestId);
      const isNamed = ofUnnamedAgent.has(name) || own().some((id) => shown.includes(id)) || shown.includes(setting.run);
      if (!isNamed) return expect(reads).toEqual([]);
      expect(reads).toMatchObject([
        {
          action: field.name,
          outcome: 'SUCCEEDED',
          actorUserId: people[who].userId,
          orgId: setting.world.home.id,
          address: '127.0.0.1',
        },
      ]);
      if (sharedOperations.has(field.name)) return expect(reads[0].targetId).toMatch(/^shr_/);
      expect(own()).toContain(reads[0].targetId);
      const named = own().filter((id) => JSON.stringify(given).includes(id) || idsIn(reply).includes(id));
      expect(reads[0].targetIds).toEqual(expect.arrayContaining(named));
    },
  );

  it.each(sampledOperations(subscriptions.map((call, turn) => [call.title, call, turn] as const)))(
    'by %s: one entry when it names a thing',
    async (name, found, turn) => {
      const line = table[name];
      if (line === undefined) throw new Error(`${name} has no line`);
      if (!['readsChat', 'readsSource'].includes(line.needs) || !callersOf(line, turn).includes(who)) return;
      const requestId = nextId();
      const { status } = await found.call(new Numbered(people[who], requestId), await line.given(setting));
      expect(status).toBe(200);
      expect(await entriesOf(requestId)).toMatchObject([{ action: name.split('.')[1], actorUserId: people[who].userId }]);
    },
  );

  it.each(sampledOperations(rows.map((call, turn) => [call.title, call, turn] as const)))(
    'by %s: one entry',
    async (title, { operation, call }, turn) => {
      const line = table[title] ?? table[operation];
      if (line === undefined) throw new Error(`${operation} has no line`);
      if (line.reaches === 409 || !callersOf(line, turn).includes(who)) return;
      const given = await line.given(setting);
      const requestId = nextId();
      const { status, body } = await call(new Numbered(people[who], requestId), given);
      expect(status).toBe(200);
      const shown = JSON.stringify([withoutRunsOf(people[who].userId, body), given]);
      const reads = await entriesOf(requestId);
      const isNamed = ofUnnamedAgent.has(operation) || own().some((id) => shown.includes(id)) || shown.includes(setting.run);
      if (!isNamed) return expect(reads).toEqual([]);
      expect(reads).toMatchObject([{ action: operation.split('.')[1], actorUserId: people[who].userId }]);
    },
  );
});

it.runIf(triesAll)('there are entries about lists, single things, their parts, files, exports and streams', () => {
  expect([...entered]).toEqual(
    expect.arrayContaining([
      ...['agents', 'agent', 'agentBundle', 'agentTools', 'skills', 'flows', 'agentSecrets', 'modelCatalog'],
      ...['dataSources', 'dataSource', 'dataSourceRun', 'knowledgeItems', 'knowledgeItem'],
      ...['searchKnowledge', 'search'],
      ...['vectorStores', 'vectorStore', 'vectorStoreFiles', 'vectorStoreFile', 'vectorStoreSearch'],
      ...['vectorStoreFileBatch'],
      ...['chats', 'chat', 'chatExport', 'chatTree', 'chatFile', 'run'],
      ...['chatUpdated', 'runEvents', 'dataSourceUpdated'],
    ]),
  );
});

it.each(sampledOperations(queries.map(({ name, field }) => [name, field] as const)))(
  'the owner reads its own by %s: an entry for exports only',
  async (name, field) => {
    const line = table[name];
    if (line === undefined) throw new Error(`${name} has no line`);
    if (line.reaches === 409) return;
    const requestId = nextId();
    await ask(new Numbered(people.owner, requestId), field, await line.given(setting));
    expect(await entriesOf(requestId)).toHaveLength(exportOperations.has(field.name) ? 1 : 0);
  },
);

it('a mutation shows no more of other users than its own entry names', async () => {
  const requestId = nextId();
  const admin = new Numbered(people.orgAdmin, requestId);
  const rate = (selected: string) =>
    admin.graphql(`mutation ($id: ID!) { rateAgent(id: $id, input: { rating: 5 }) { ${selected} } }`, { id: setting.agent });
  await rate('id instructions');
  expect(await entriesOf(requestId)).toEqual([]);
  await rate('sources(first: 1) { nodes { settings { __typename } } }');
  expect(await entriesOf(requestId)).toMatchObject([{ action: 'rateAgent', targetId: setting.source }]);
});

it('an entry names the operation, whatever its alias, also in a fragment', async () => {
  const requestId = nextId();
  const admin = new Numbered(people.orgAdmin, requestId);
  const fragment = 'fragment F on Query { viewer: agent(id: $id) { id instructions } }';
  await admin.graphql(`query ($id: ID!) { ...F } ${fragment}`, { id: setting.agent });
  expect(await entriesOf(requestId)).toMatchObject([{ action: 'agent', targetId: setting.agent }]);
});

it('the use of one agent is an entry', async () => {
  const requestId = nextId();
  const query = 'query ($id: ID!) { usageDays(agentId: $id) { nodes { day } } }';
  await new Numbered(people.orgAdmin, requestId).graphql(query, { id: setting.agent });
  expect(await entriesOf(requestId)).toMatchObject([{ action: 'usageDays', targetIds: [setting.agent] }]);
});

it('node shows things like the fields of their types', async () => {
  for (const id of [setting.agent, setting.chat, setting.source, setting.run]) {
    const requestId = nextId();
    const { data } = await new Numbered(people.orgAdmin, requestId).graphql('query ($id: ID!) { node(id: $id) { id } }', { id });
    expect(data.node).toEqual({ id });
    const target = id === setting.run ? setting.chat : id;
    expect(await entriesOf(requestId)).toMatchObject([{ action: 'node', targetIds: [target] }]);
  }
});

it('a request with several root fields is one entry with their names, and is found by each of them', async () => {
  const requestId = nextId();
  const admin = new Numbered(people.orgAdmin, requestId);
  const query = 'query ($id: ID!, $chat: ID!) { agent(id: $id) { name } chat(id: $chat) { name } }';
  await admin.graphql(query, { id: setting.agent, chat: setting.chat });
  expect(await entriesOf(requestId)).toMatchObject([{ action: 'agent, chat', targetIds: [setting.agent, setting.chat] }]);
  for (const action of ['agent', 'chat']) {
    const log = 'query ($action: String!) { auditLog(first: 1, filter: { action: $action }) { nodes { requestId } } }';
    expect((await people.orgAdmin.graphql(log, { action })).data.auditLog.nodes).toEqual([{ requestId }]);
  }
});

it('no thing is left out: more than 100 are further entries', async () => {
  const ids: string[] = [];
  while (ids.length < auditTargetsMax + 1) ids.push(await setting.world.agent('PRIVATE'));
  const requestId = nextId();
  const fields = ids.map((id, index) => `a${index}: agent(id: "${id}") { name }`);
  await new Numbered(people.orgAdmin, requestId).graphql(`{ ${fields.join(' ')} }`);
  const entries = await entriesOf(requestId);
  expect(entries.map(({ targetIds }) => targetIds.length).sort()).toEqual([1, auditTargetsMax]);
  expect(new Set(entries.flatMap(({ targetIds }) => targetIds))).toEqual(new Set(ids));
});

it('an administrator reads what a plain member sees too: no entry', async () => {
  const open = await setting.world.agent('ORGANIZATION');
  const requestId = nextId();
  const admin = new Numbered(people.orgAdmin, requestId);
  await admin.graphql('query ($id: ID!) { agent(id: $id) { name description } }', { id: open });
  expect(await entriesOf(requestId)).toEqual([]);
  await admin.graphql('query ($id: ID!) { agent(id: $id) { instructions } }', { id: open });
  expect(await entriesOf(requestId)).toMatchObject([{ action: 'agent', targetId: open }]);
});

it('the parts of such an agent: an entry for what only editors see', async () => {
  const open = await setting.world.agent('ORGANIZATION');
  await setting.world.owner.post(`/api/v1/ais/${open}/skills`, { name: 'Cook', content: 'Boil it' });
  const read = async (selected: string) => {
    const requestId = nextId();
    const admin = new Numbered(people.orgAdmin, requestId);
    await admin.graphql(`query ($id: ID!) { skills(agentId: $id) { ${selected} } }`, { id: open });
    return entriesOf(requestId);
  };
  expect(await read('name')).toEqual([]);
  expect(await read('content')).toMatchObject([{ action: 'skills', targetIds: [open] }]);
});

it('the entry of an export names the sources in the bundle', async () => {
  const requestId = nextId();
  const admin = new Numbered(people.orgAdmin, requestId);
  await admin.get(`/api/v1/ais/${setting.agent}/export`);
  expect(await entriesOf(requestId)).toMatchObject([
    { action: 'agentBundle', targetId: setting.agent, targetIds: expect.arrayContaining([setting.source]) },
  ]);
});

it('administrators see that runs are active, not what people say in chats whose agents keep their logs to themselves', async () => {
  const { world } = setting;
  const quiet = (await world.make.agent({ owner: world.owner, visibility: 'PRIVATE', chatLogsVisible: false })).id;
  const { chat } = await world.awaiting(quiet);
  const { pool } = service.deps.storage.db;
  // An active run: it only has to be in the list.
  await pool.query(`update runs set status = 'in_progress' where "chatId" = $1`, [chat]);
  const query =
    '{ activeRuns { chatId messages { content } message { content } toolCalls { arguments } citations { snippet } } }';
  const runsOf = async (who: Person) =>
    (await who.graphql(query)).data.activeRuns.filter(({ chatId }: { chatId: string }) => chatId === chat);
  expect(await runsOf(people.orgAdmin)).toEqual([{ chatId: chat, messages: [], message: null, toolCalls: [], citations: [] }]);
  expect((await runsOf(world.owner))[0].messages).not.toEqual([]);
  const requestId = nextId();
  await new Numbered(people.orgAdmin, requestId).graphql('{ activeRuns { id } }');
  expect(await entriesOf(requestId)).toMatchObject([{ action: 'activeRuns', targetIds: [chat] }]);
  await pool.query(`update runs set status = 'completed' where "chatId" = $1`, [chat]);
});

function nextId(): string {
  calls += 1;
  return `read-${calls}`;
}

/** The ids of things that a reply shows. The agents of chats and runs are labels there. */
function idsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'string') return ['id', 'chatId', 'dataSourceId'].includes(name) ? [member] : [];
    return name === 'agent' ? [] : idsIn(member);
  });
}

/** The entries of reads for one request, in any organization. */
async function entriesOf(requestId: string) {
  await service.deps.audit.flush();
  const { rows: found } = await service.deps.storage.db.pool.query(
    `select * from audit_entries where "requestId" = $1 and kind = 'READ'`,
    [requestId],
  );
  for (const { action } of found) entered.add(action);
  return found;
}
