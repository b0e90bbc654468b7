import { globSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { Prisma } from '../../../../src/storage/generated/client.ts';
import { tableRules } from '../../../../src/storage/operations/data-life/tables.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

type Model = Prisma.ModelName;
const { service, make } = await withService('plain', {});
const {
  db,
  operations: { erasures },
} = service.deps.storage;

const organizationOfAgent = { agentId: 'agent' };
const organizationOfChat = { chatId: 'chat' };
/**
 * The tables with what people said, gave or made. A hold keeps each of their rows from every statement. The value: columns of a row beside those of its person.
 */
const kept: Readonly<Partial<Record<Model, Readonly<Record<string, unknown>>>>> = {
  User: {},
  Organization: {},
  Agent: {},
  AgentTool: organizationOfAgent,
  AgentUserInput: organizationOfAgent,
  AgentSkill: organizationOfAgent,
  AgentFlow: organizationOfAgent,
  AgentSecret: organizationOfAgent,
  AgentVersion: { ...organizationOfAgent, members: [] },
  AgentRating: organizationOfAgent,
  Chat: {},
  Message: organizationOfChat,
  ChatFile: organizationOfChat,
  MessageFeedback: {},
  Run: {},
  ResponseItem: {},
  File: {},
  Memory: {},
  Project: {},
  Prompt: {},
  DatasetCase: { sourceUserId: 'person' },
  Schedule: {},
  ScheduleRun: {},
  DataSource: { type: 'FILE_UPLOAD', deletingAt: null },
  KnowledgeItem: { dataSourceId: 'source', indexStatus: 'INDEXED' },
};
/** No statement of a store deletes them alone, or only what another row that is kept makes anew. */
const goesWith: Readonly<Partial<Record<Model, Model>>> = {
  AgentFlowVersion: 'AgentFlow',
  VectorStore: 'DataSource',
  VectorStoreFileBatch: 'DataSource',
  FoldedResponse: 'Run',
  ChatOrigin: 'Chat',
  Task: 'Run',
  PromptGroup: 'Prompt',
  // Rows of a run's log are deleted with the run, by the run that writes them anew, and by the sweep, which asks for holds: retention.test.ts.
  RunEventBatch: 'Run',
};
/** Which a hold does not keep, and why. */
const notKept: Readonly<Partial<Record<Model, string>>> = {
  SavedRunFilter: 'It is a name for a list.',
  McpOauthClient: 'It is what the service is called elsewhere; the audit log keeps which one.',
  SavedDocument: 'It is a query that an administrator named; the audit log keeps what it said.',
  GuardCount: 'It is a number, without what was masked.',
  Experiment: 'It is a report on an agent; the cases it asked are kept.',
  ExperimentResult: 'It is a part of that report.',
  Dataset: 'It is a name for its cases, which are kept, and it with them.',
  ChatImport: 'It is a report; what an import brought is in chats, which are kept.',
  ...Object.fromEntries(
    (['UsageEntry', 'UsageDay', 'UsageSum', 'UsageMonth', 'UsageCounter', 'AuditEntry'] as const).map((model) => [
      model,
      'Nobody deletes them but the sweep, which asks for holds: log-months.test.ts, retention.test.ts.',
    ]),
  ),
  ...Object.fromEntries(
    (
      [
        ...[
          'Membership',
          'Password',
          'Passkey',
          'Session',
          'SignInIdentity',
          'SignInLink',
          'ApiKey',
          'Invitation',
          'ScimUser',
          'ScimGroup',
        ],
        ...[
          'Group',
          'GroupMember',
          'AgentEditor',
          'AgentGroup',
          'AgentGrant',
          'AgentDataSource',
          'AgentDraftChange',
          'AgentToolName',
          'AgentCategory',
          'AgentGate',
          'Budget',
          'Guard',
          'Connection',
          'PersonAccount',
        ],
        ...['Webhook', 'DataRetention', 'ChatRead', 'ChatShare', 'ChatShareReader'],
        ...['ProjectGroup', 'ProjectSource', 'ProjectAgent'],
      ] as Model[]
    ).map((model) => [model, 'It says who may do what, or how, and not what anybody said, gave or made.']),
  ),
  ...Object.fromEntries(
    (['ConnectionAttempt', 'CallApproval', 'WebhookDelivery', 'FileUpload', 'FileUploadPart', 'CodeState'] as const).map(
      (model) => [model, 'It is short-lived by nature.'],
    ),
  ),
  DataExport: 'A copy.',
  SourceRun: 'What became of the readings of a source.',
  LegalHold: 'Nothing deletes it but the deletion of its organization, which it refuses.',
  Erasure: 'Nothing deletes it but the deletion of its organization.',
};

const tables: ReadonlyMap<string, Model> = new Map(
  [...readFileSync('prisma/schema.prisma', 'utf8').matchAll(/^model (\w+) \{.*?^ {2}@@map\("(\w+)"\)/gms)].map(
    ([, model, table]) => [table ?? '', model as Model] as const,
  ),
);
const tableOf = (model: Model) => [...tables].find(([, found]) => found === model)?.[0] ?? '';

let organization: Organization;
let ann: Person;
let admin: Person;
let agentId: string;
beforeEach(async () => {
  organization = await make.organization();
  ann = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
  agentId = (await make.agent({ owner: ann })).id;
});

const setDocument = 'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }';
const hold = async (userId?: string, by = admin): Promise<string> => {
  const data = await by.ask(setDocument, {
    input: { reason: 'Claim', ...(userId === undefined ? {} : { userId }) },
  });
  return data.setLegalHold.id;
};
const end = (id: string) => admin.graphql('mutation ($id: ID!) { endLegalHold(id: $id) { id } }', { id });
const refusal = { name: 'DomainError', code: 'CONFLICT', message: expect.stringContaining('A legal hold keeps this since') };

/** Writes a row with a value in every column that needs one. @returns SQL that finds it, and its values. */
async function addRow(
  model: Model,
  given: Readonly<Record<string, unknown>>,
): Promise<readonly [where: string, values: unknown[]]> {
  const { rows: columns } = await db.pool.query<{ name: string; type: string; needed: boolean; place: number | null }>(
    `select column_name as name, udt_name as type, is_nullable = 'NO' and column_default is null and is_generated = 'NEVER' as needed,
       array_position((select conkey from pg_constraint where conrelid = $2::regclass and contype = 'p'), ordinal_position::int2) as place
     from information_schema.columns where table_schema = 'public' and table_name = $1`,
    [tableOf(model), tableOf(model)],
  );
  const valueFor = (name: string, type: string): unknown => {
    if (name in given) return given[name];
    if (type.startsWith('json')) return '{}';
    if (type === '_text') return [];
    if (type === 'bool') return false;
    if (type === 'timestamptz') return new Date();
    return type === 'text' ? `${model}-${name}-${ann.userId}` : 1;
  };
  const set = columns.filter(({ name, needed }) => needed || name in given);
  const values = set.map(({ name, type }) => valueFor(name, type));
  const client = await db.pool.connect();
  try {
    // Rows that it would refer to are not all there.
    await client.query('set session_replication_role = replica');
    const [names, places] = [set.map(({ name }) => `"${name}"`), set.map((_column, index) => `$${index + 1}`)];
    await client.query(`insert into ${tableOf(model)} (${names.join()}) values (${places.join()})`, values);
  } finally {
    await client.query('set session_replication_role = default');
    client.release();
  }
  const key = set.flatMap(({ name, place }, index) => (place === null ? [] : [[name, values[index]] as const]));
  return [key.map(([name], index) => `"${name}" = $${index + 1}`).join(' and '), key.map(([, value]) => value)];
}

async function rowOf(model: Model): Promise<readonly [string, unknown[]]> {
  if (model === 'User') return ['id = $1', [ann.userId]];
  if (model === 'Organization') return ['id = $1', [organization.id]];
  const { userId, orgId } = ann;
  const chatId = (await make.chat({ owner: ann, agentId })).id;
  const source = `source-${userId}`;
  if (model === 'KnowledgeItem')
    await addRow('DataSource', { id: source, orgId, ownerUserId: userId, type: 'API', deletingAt: null });
  const parents: Readonly<Record<string, unknown>> = { agent: agentId, chat: chatId, source, person: userId };
  const more = Object.entries(kept[model] ?? {}).map(([name, value]) => [name, parents[String(value)] ?? value]);
  const columns: readonly string[] = Object.keys(Prisma[`${model}ScalarFieldEnum`]);
  const persons = Object.entries({ userId, ownerUserId: userId, orgId }).filter(([name]) => columns.includes(name));
  return addRow(model, Object.fromEntries([...persons, ...more]));
}

describe('what a hold keeps is told by rows', () => {
  it('names each table that has rows of people, and each one that a store deletes from', () => {
    const classified = [...Object.keys(kept), ...Object.keys(goesWith), ...Object.keys(notKept)];
    expect(classified.toSorted()).toEqual([...new Set(classified)].toSorted());
    const ofPeople = Object.entries(tableRules).flatMap(([model, rule]) => ('leftOut' in rule ? [] : [model]));
    expect(ofPeople.filter((model) => !classified.includes(model))).toEqual([]);
    // Derived rows, and rows of the service itself, are left out of exports with a reason each.
    const listed = new Set([
      ...classified,
      ...Object.entries(tableRules).flatMap(([model, rule]) => ('leftOut' in rule ? [model] : [])),
    ]);
    const unknown = globSync('src/storage/**/*.ts').flatMap((path) => {
      if (path.includes('/generated/') || path.includes('/move/')) return [];
      const text = readFileSync(path, 'utf8');
      const raw = [...text.matchAll(/delete from (?:only )?"?(\w+|\$\{[^}]+\})/gi)].map(
        ([, table = '']) => tables.get(table) ?? (table.startsWith('$') ? 'a name in a variable' : table),
      );
      const byPrisma = [...text.matchAll(/(\w+|\))\.delete(?:Many)?\(\s*\{/g)].map(([, name = '']) => {
        const model = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
        return model in tableRules ? model : name;
      });
      return [...raw, ...byPrisma].filter((table) => !listed.has(table)).map((table) => `${path}: ${table}`);
    });
    expect([...new Set(unknown)].toSorted()).toEqual([
      // The tables of the parts of an agent, all of which are kept.
      'src/storage/agents/parts/part-table.ts: parts',
      // Made of vectors, as these are of passages.
      'src/storage/ground/vectors/sketches.ts: chunk_sketches',
      // What tables.ts says that an erasure deletes: each of them has a rule there, so it is listed here.
      'src/storage/operations/data-life/erasures.ts: )',
      // The ledger and the audit log: rows move between months, and the sweep asks for holds.
      'src/storage/operations/data-life/log-months.ts: a name in a variable',
      'src/storage/operations/data-life/log-sweeps.ts: a name in a variable',
      // Rows of a user or an organization that was deleted, which a hold refuses.
      'src/storage/people/purge.ts: table',
    ]);
  });

  it('has its rule at exactly the tables that it keeps', async () => {
    const { rows } = await db.pool.query(
      `select distinct tgrelid::regclass::text as name from pg_trigger where tgname = 'parley_refuse_held' and not tgisinternal`,
    );
    const named = rows.map(({ name }) => tables.get(name));
    expect(named.toSorted()).toEqual(Object.keys(kept).toSorted());
  });

  it.each(Object.keys(kept) as Model[])('%s: a row is kept from any statement, as long as the hold lasts', async (model) => {
    const [where, values] = await rowOf(model);
    const remove = () => db.execute(`delete from ${tableOf(model)} where ${where}`, values);
    const others = await hold(admin.userId);
    if (model !== 'Organization')
      await db
        .transaction(async (tx) => {
          expect(await tx.execute(`delete from ${tableOf(model)} where ${where}`, values)).toBe(1);
          throw new Error('taken back');
        })
        .catch((error: Error) => expect(error.message).toBe('taken back'));
    await end(others);
    for (const id of [await hold(ann.userId), await hold()]) {
      await expect(remove()).rejects.toMatchObject(refusal);
      await expect(
        db.transaction((tx) => tx.execute(`delete from ${tableOf(model)} where ${where}`, values)),
      ).rejects.toMatchObject(refusal);
      await end(id);
    }
    expect(await remove()).toBe(1);
  });
});

describe('a hold', () => {
  it('is set by an administrator on nobody who was never there, whose account it would keep', async () => {
    const sister = await make.organization({ tenant: { id: organization.tenantId } });
    const stranger = await make.person({ organization: sister });
    const { errors } = await admin.graphql(setDocument, { input: { reason: 'Claim', userId: stranger.userId } });
    expect(errors?.[0].extensions.code).toBe('NOT_FOUND');
    await db.pool.query('delete from memberships where "userId" = $1', [ann.userId]);
    await end(await hold(ann.userId));
  });

  it('keeps what people have who left the organization, and their accounts', async () => {
    const chat = await make.chat({ owner: ann, agentId: (await make.agent({ owner: admin, visibility: 'ORGANIZATION' })).id });
    await db.pool.query('delete from memberships where "userId" = $1', [ann.userId]);
    await db.pool.query('update agents set "userId" = $2 where "userId" = $1', [ann.userId, admin.userId]);
    const held = await hold();
    const operator = service.client();
    const reply = await operator.delete(`/api/v1/admin/users/${ann.userId}`);
    expect(reply).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('A legal hold keeps this') } },
    });
    expect((await db.pool.query('select from chats where id = $1', [chat.id])).rows).toHaveLength(1);
    await end(held);
    expect((await operator.delete(`/api/v1/admin/users/${ann.userId}`)).status).toBeLessThan(300);
  });

  it.each([
    ['on the organization', false],
    ['on the person', true],
  ])('%s outlives an erasure of the person in another organization', async (_name, isOnPerson) => {
    const sister = await make.organization({ tenant: { id: organization.tenantId } });
    const elsewhere = await make.person({ organization: sister, role: 'ADMIN' });
    await service.deps.storage.people.tenancy.addMember({
      ...{ id: service.deps.newId('membership'), orgId: sister.id, userId: ann.userId },
      ...{ role: 'MEMBER', createdAt: service.deps.now() },
    });
    const chat = await make.chat({ owner: ann, agentId });
    await db.pool.query('delete from memberships where "userId" = $1 and "orgId" = $2', [ann.userId, organization.id]);
    await hold(isOnPerson ? ann.userId : undefined);
    const { data } = await elsewhere.graphql('mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }', {
      input: { userId: ann.userId },
    });
    const erasure = await eventually(async () => {
      const found = await erasures.find(data.erasePerson.id);
      expect(found?.status).toBe('DONE');
      return found;
    }, 60_000);
    expect(erasure?.report).toContainEqual(
      expect.objectContaining({
        table: 'users',
        action: 'STAYS',
        reason: 'Another organization has to keep what the person has there.',
      }),
    );
    expect((await db.pool.query('select from users where id = $1', [ann.userId])).rows).toHaveLength(1);
    expect((await db.pool.query('select from chats where id = $1', [chat.id])).rows).toHaveLength(1);
  });

  it('keeps what other people left at an agent that is erased with its owner', async () => {
    const bob = await make.person({ organization });
    await addRow('Memory', { orgId: organization.id, userId: bob.userId, agentId });
    const id = await hold(bob.userId);
    const erase = async () => {
      const { data } = await admin.graphql('mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }', {
        input: { userId: ann.userId },
      });
      return eventually(async () => {
        const found = await erasures.find(data.erasePerson.id);
        expect(found?.status).toBe('DONE');
        return found?.report;
      }, 60_000);
    };
    expect(await erase()).toContainEqual(
      expect.objectContaining({ table: 'agents', action: 'STAYS', count: 1, reason: expect.stringContaining('other people') }),
    );
    expect((await db.pool.query('select from memories where "userId" = $1', [bob.userId])).rows).toHaveLength(1);
    await end(id);
  });

  it('on a person keeps what the person owns from being handed over, and so from deletion by somebody else', async () => {
    const bob = await make.person({ organization });
    const spare = await make.agent({ owner: ann });
    const source = await make.apiDataSource({ owner: ann, agentId: spare.id, data: { text: 'a' } });
    const { data } = await ann.graphql('mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { id } }', {
      input: { agentId: spare.id, name: 's', prompt: 'p', cron: '0 9 * * *', timeZone: 'UTC' },
    });
    const give = async (who: Person, input: object) => {
      const document =
        'mutation ($input: TransferOwnershipInput!, $to: ID!) { transferOwnership(input: $input, toUserId: $to) { agents } }';
      return (await who.graphql(document, { input, to: bob.userId })).errors?.[0];
    };
    const schedule = { scheduleId: data.createSchedule.id };
    const things = [{ agentId }, { dataSourceId: source.id }, { allOf: { userId: ann.userId } }];
    const id = await hold(ann.userId);
    for (const [who, thing] of [
      [ann, schedule] as const,
      ...[ann, admin].flatMap((each) => things.map((one) => [each, one] as const)),
    ])
      expect(await give(who, thing), JSON.stringify(thing)).toMatchObject({
        message: expect.stringContaining('A legal hold keeps this'),
        extensions: { code: 'CONFLICT' },
      });
    await end(id);
    // One on the organization keeps them at their new owner too.
    const whole = await hold();
    expect(await give(ann, { agentId })).toBeUndefined();
    expect((await bob.delete(`/api/v1/ais/${agentId}`)).status).toBe(409);
    await end(whole);
    for (const thing of [schedule, ...things.slice(1)]) expect(await give(ann, thing)).toBeUndefined();
  });

  it('keeps an opinion that is taken back, and a part of a message', async () => {
    const chat = await make.chat({ owner: ann, agentId });
    const { body: sent } = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'What is it?' });
    const messages = (await ann.get(`/api/v1/chats/${chat.id}`)).body.messages;
    const messageId = messages.at(-1).id;
    expect(sent.runId).toBeDefined();
    const rate = (rating: string) =>
      ann.graphql('mutation ($id: ID!, $input: RateMessageInput!) { rateMessage(id: $id, input: $input) { id } }', {
        id: messageId,
        input: { rating },
      });
    expect((await rate('UP')).errors).toBeUndefined();
    const rateAgent = (rating: number | null) =>
      ann.graphql('mutation ($id: ID!, $input: RateAgentInput!) { rateAgent(id: $id, input: $input) { id } }', {
        id: agentId,
        input: { rating },
      });
    expect((await rateAgent(5)).errors).toBeUndefined();
    const id = await hold(ann.userId);
    for (const reply of [await rate('NONE'), await rateAgent(null)])
      expect(reply.errors?.[0]).toMatchObject({
        message: expect.stringContaining('A legal hold keeps this'),
        extensions: { code: 'CONFLICT' },
      });
    expect(await ann.post(`/api/v1/chats/${chat.id}/reset`, {})).toMatchObject({ status: 409 });
    // A change is none of what it stops.
    expect((await rate('DOWN')).errors).toBeUndefined();
    expect((await rateAgent(1)).errors).toBeUndefined();
    await end(id);
    for (const reply of [await rate('NONE'), await rateAgent(null)]) expect(reply.errors).toBeUndefined();
  });
});
