import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sweepOldData } from '../../../../src/domain/operations/data-life/sweep.ts';
import { DataRows } from '../../../../src/storage/operations/data-life/rows.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { unzip } from '../../../support/storage/unzip.ts';

const { service, make } = await withService('plain', {});
const { pool } = service.deps.storage.db;
const marker = 'Quokka7319';
const secret = 'secretNumbat42';
/** Columns with the id of a person. */
const personColumns = ['userId', 'ownerUserId', 'actorUserId'];

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly isGenerated: boolean;
}

async function columns(): Promise<readonly Column[]> {
  const { rows } = await pool.query(
    `select c.table_name as "table", c.column_name as name, c.udt_name as type, c.is_nullable = 'YES' as "isNullable",
       c.is_generated <> 'NEVER' or c.is_identity = 'YES' or coalesce(c.column_default, '') like 'nextval%' as "isGenerated"
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
       and not (select relispartition from pg_class where oid = quote_ident(c.table_name)::regclass)`,
  );
  return rows;
}

/** Writes a row of the person into each table that names people and has none of this person yet: every text is the marker. Also in tables that are added later. */
async function fillEveryTable({ userId, orgId }: Person): Promise<string[]> {
  const filled: string[] = [];
  const byTable = Map.groupBy(await columns(), ({ table }) => table);
  for (const [table, all] of byTable) {
    const person = all.find(({ name }) => personColumns.includes(name));
    // A report of an erasure is made by one.
    if (person === undefined || table === 'erasures') continue;
    const { rows } = await pool.query(`select from ${table} where "${person.name}" = $1 limit 1`, [userId]);
    if (rows.length > 0) continue;
    const given = all.filter(({ isGenerated, name }) => !isGenerated && name !== 'rowBytes');
    const values = given.map(({ name, type }) => {
      if (personColumns.includes(name)) return userId;
      if (name === 'orgId') return orgId;
      if (name === 'agentId') return shared;
      if (name === 'chatId') return chatId;
      // A grant is of one thing.
      if (table === 'agent_grants' && ['connectionId', 'askedAgentId'].includes(name)) return null;
      if (['endedAt', 'endedBy'].includes(name) && table !== 'legal_holds') return null;
      if (['hash', 'mailHash', 'sealed', 'confirmHash'].includes(name)) return `${secret}-${table}`;
      if (name === 'counts' || name === 'report') return '{}';
      if (type.startsWith('json')) return JSON.stringify({ text: marker });
      if (type === '_text') return [marker];
      if (type === 'text') return `${marker}-${table}-${name}`;
      if (type === 'bool') return false;
      if (type === 'timestamptz' || type === 'date') return new Date();
      return 1;
    });
    const client = await pool.connect();
    try {
      // Rows of other tables that these would refer to are not there.
      await client.query(`set session_replication_role = replica`);
      const names = given.map(({ name }) => `"${name}"`).join(', ');
      const places = given.map((_column, index) => `$${index + 1}`).join(', ');
      await client.query(`insert into ${table} (${names}) values (${places})`, values);
      filled.push(table);
    } finally {
      await client.query(`set session_replication_role = default`);
      client.release();
    }
  }
  return filled;
}

/** Tables of all schemas with a row that has the text, whatever the column. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await pool.query(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
       and not (select relispartition from pg_class where oid = (quote_ident(table_schema) || '.' || quote_ident(table_name))::regclass)
     order by 1`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rows: hits } = await pool.query(`select from ${name} row where strpos(row::text, $1) > 0 limit 1`, [text]);
    if (hits.length > 0) found.push(name.replace('public.', ''));
  }
  return found;
}

/** The paths of files below DATA_DIR/blobs that have the text. */
function blobsWith(text: string): string[] {
  const folder = join(service.deps.settings.DATA_DIR, 'blobs');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}

let organization: Organization;
let ann: Person;
let admin: Person;
let shared: string;
let chatId: string;
let filled: string[];

beforeAll(async () => {
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
  ann = await make.person({ organization, email: `${marker.toLowerCase()}@example.com`, name: `${marker} Ann` });
  shared = (await make.agent({ owner: ann, name: 'Shared', visibility: 'ORGANIZATION' })).id;
  const own = (await make.agent({ owner: ann, name: `${marker} own`, instructions: `${marker} instructions` })).id;
  // The audit log says what this replaced.
  await ann.patch(`/api/v1/ais/${shared}`, { name: `${marker} named` });
  expect((await admin.patch(`/api/v1/ais/${shared}`, { name: 'Named by another' })).status).toBe(200);
  const source = await make.apiDataSource({
    owner: ann,
    agentId: own,
    name: `${marker} source`,
    data: { text: `${marker} document` },
  });
  await indexed(ann, source.id);
  const chat = await make.chat({ owner: ann, agentId: shared, name: `${marker} chat` });
  await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: `${marker} prompt` });
  const form = new FormData();
  form.append('file', new Blob([`${marker} bytes`], { type: 'text/plain' }), `${marker}.txt`);
  expect((await ann.post(`/api/v1/chats/${chat.id}/files`, form)).status).toBeLessThan(300);
  chatId = chat.id;
  const share = { mode: 'GROWING', audience: 'PEOPLE', emails: [ann.email] };
  await ann.graphql('mutation ($id: ID!, $input: ShareChatInput!) { shareChat(chatId: $id, input: $input) { url } }', {
    ...{ id: chatId, input: share },
  });
  const gone = await make.chat({ owner: ann, agentId: shared, name: `${marker} deleted` });
  await ann.delete(`/api/v1/chats/${gone.id}`);
  const kept = new FormData();
  kept.append('purpose', 'user_data');
  kept.append('file', new Blob([`${marker} kept`], { type: 'text/plain' }), `${marker}.txt`);
  expect((await ann.post('/api/v1/files', kept)).status).toBeLessThan(300);
  await ann.post('/api/v2/responses', { model: shared, input: `${marker} input` });
  await ann.post(`/api/v1/ais/${shared}/skills`, { name: 'Greeting', content: 'Say hello.' });
  await admin.post('/api/v1/groups', { name: 'Sales', availability: 'EVERYONE', memberEmails: ann.email });
  await admin.patch(`/api/v1/admin/users/${ann.userId}`, { name: `${marker} Ann` });
  await eventually(async () => {
    const { rows } = await pool.query('select from usage_entries where "userId" = $1', [ann.userId]);
    expect(rows.length).toBeGreaterThan(1);
  });
  filled = await fillEveryTable(ann);
});

async function exported(who: Person, mutation: string) {
  const data = await who.ask(`mutation { started: ${mutation} { id status } }`);
  const { id } = data.started;
  const node = await eventually(async () => {
    const reply = await who.graphql(
      'query ($id: ID!) { node(id: $id) { ... on DataExport { status url sizeBytes expiresAt counts { table count } } } }',
      { id },
    );
    expect(reply.data.node.status).toBe('READY');
    return reply.data.node;
  });
  return { id, ...node };
}

describe('an export', () => {
  it('has every table with rows of the person, or says why not, and the files; no secret', async () => {
    const { url, counts, id } = await exported(ann, 'exportPersonData(input: {})');
    const reply = await fetch(url);
    expect(reply.status).toBe(200);
    const files = await unzip(Buffer.from(await reply.arrayBuffer()));
    const about = JSON.parse(files.get('about.json') ?? '{}');
    const leftOut = about.leftOut.map(({ name }: { name: string }) => name);
    const named = [...new Set((await columns()).filter(({ name }) => personColumns.includes(name)).map(({ table }) => table))];
    for (const table of named) expect([table, files.has(`${table}.ndjson`) || leftOut.includes(table)]).toEqual([table, true]);
    const place = { orgId: organization.id, userId: ann.userId };
    for (const { name } of new DataRows(service.deps.storage.db).tables(place)) expect(files.has(`${name}.ndjson`)).toBe(true);
    for (const table of filled.filter((name) => files.has(`${name}.ndjson`) && name !== 'legal_holds' && name !== 'erasures'))
      expect([table, files.get(`${table}.ndjson`)]).toEqual([
        table,
        expect.stringMatching(new RegExp(`${marker}|${ann.userId}`)),
      ]);
    for (const text of ['prompt', 'chat', 'instructions', 'own'])
      expect([...files.values()].join('')).toContain(`${marker} ${text}`);
    const attachments = [...files].filter(([path]) => path.startsWith('attachments/')).map(([, text]) => text);
    expect(attachments).toEqual(expect.arrayContaining([`${marker} bytes`, `${marker} kept`]));
    expect([...files.values()].join('')).not.toContain(secret);
    expect([...files.values()].join('')).not.toContain(createHash('sha256').update(ann.key).digest('hex'));
    expect(counts.find(({ table }: { table: string }) => table === 'chats').count).toBeGreaterThan(0);
    const { data } = await ann.graphql('mutation ($id: ID!) { deleteDataExport(id: $id) { id } }', { id });
    expect(data.deleteDataExport.id).toBe(id);
    expect((await fetch(url)).status).toBe(404);
  });

  it('of the organization has what all people have, and none of another organization', async () => {
    const stranger = await make.person({ name: 'Wombat8080' });
    const { url } = await exported(admin, 'exportOrganizationData');
    const files = await unzip(Buffer.from(await (await fetch(url)).arrayBuffer()));
    expect(files.get('users.ndjson')).toContain(admin.email);
    expect(files.get('users.ndjson')).toContain(ann.email);
    expect(files.get('usage_sums.ndjson')).toContain(organization.id);
    expect([...files.values()].join('')).not.toContain(stranger.userId);
  });

  it('is begun, seen and downloaded only by whom it concerns', async () => {
    const bob = await make.person({ organization });
    const stranger = await make.person({ role: 'ADMIN' });
    const codeOf = async (who: Person, field: string) =>
      (await who.graphql(`mutation { ${field} { id } }`)).errors?.[0].extensions.code;
    expect(await codeOf(bob, `exportPersonData(input: { userId: "${ann.userId}" })`)).toBe('FORBIDDEN');
    expect(await codeOf(stranger, `exportPersonData(input: { userId: "${ann.userId}" })`)).toBe('NOT_FOUND');
    expect(await codeOf(bob, 'exportOrganizationData')).toBe('FORBIDDEN');
    const poor = await make.withKey(bob, { scopes: ['USAGE:READ'] });
    expect(await codeOf(poor, 'exportPersonData(input: {})')).toBe('INSUFFICIENT_SCOPE');
    const { id } = await exported(bob, 'exportPersonData(input: {})');
    const seen = async (who: Person) =>
      (await who.graphql('query ($id: ID!) { node(id: $id) { ... on DataExport { url } } }', { id })).data.node;
    expect((await seen(bob)).url).toContain('link=');
    expect((await seen(poor)).url).toBeNull();
    expect((await seen(admin)).url).toBeNull();
    expect(await seen(ann)).toBeNull();
    expect(await seen(stranger)).toBeNull();
  });
});

describe('an erasure', () => {
  const erase = 'mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id status } }';
  const state =
    'query ($id: ID!) { node(id: $id) { ... on Erasure { status report { table action count reason } user { id } } } }';
  const codeOf = async (who: Person, input: object) => (await who.graphql(erase, { input })).errors?.[0].extensions.code;
  const finished = async (id: string) =>
    eventually(async () => {
      const { node } = (await admin.graphql(state, { id })).data;
      expect(['DONE', 'STOPPED']).toContain(node.status);
      return node;
    }, 60_000);

  it('is refused where it must be: others, oneself, a hold, no successor', async () => {
    const bob = await make.person({ organization });
    const stranger = await make.person({ role: 'ADMIN' });
    expect(await codeOf(bob, { userId: ann.userId })).toBe('FORBIDDEN');
    expect(await codeOf(stranger, { userId: ann.userId })).toBe('NOT_FOUND');
    const sister = await make.organization({ tenant: { id: organization.tenantId } });
    const neverHere = await make.person({ organization: sister });
    expect(await codeOf(admin, { userId: neverHere.userId })).toBe('NOT_FOUND');
    const { body: left } = await service.client().get(`/api/v1/admin/memberships?userId=${neverHere.userId}`);
    await service.client().delete(`/api/v1/admin/memberships/${left.data[0].id}`);
    expect(await codeOf(admin, { userId: neverHere.userId })).toBe('NOT_FOUND');
    expect(await codeOf(admin, { userId: admin.userId })).toBe('CONFLICT');
    expect(await codeOf(admin, { userId: ann.userId, transferToUserId: stranger.userId })).toBe('NOT_FOUND');
    expect(await codeOf(admin, { userId: ann.userId, transferToUserId: ann.userId })).toBe('INVALID_VALUE');
    const chief = await make.person({ organization, level: 'INSTANCE' });
    expect(await codeOf(admin, { userId: chief.userId })).toBe('FORBIDDEN');
    const set = 'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }';
    const { data } = await admin.graphql(set, { input: { userId: bob.userId, reason: 'Claim' } });
    expect(await codeOf(admin, { userId: bob.userId })).toBe('CONFLICT');
    await admin.graphql('mutation ($id: ID!) { endLegalHold(id: $id) { id } }', { id: data.setLegalHold.id });
  });

  it('stops when a hold is set before it began', async () => {
    const bob = await make.person({ organization });
    const chat = await make.chat({ owner: bob, agentId: shared });
    const { id } = (await admin.graphql(erase, { input: { userId: bob.userId } })).data.erasePerson;
    const set = 'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }';
    await admin.graphql(set, { input: { userId: bob.userId, reason: 'Claim' } });
    expect(await finished(id)).toMatchObject({ status: 'STOPPED', report: [] });
    expect((await pool.query('select from chats where id = $1', [chat.id])).rows).toHaveLength(1);
  });

  it('leaves nothing of a person in any table or file but what its report names', async () => {
    const totals = async () => (await admin.graphql('{ viewer { organization { usage { apiTokensUsed } } } }')).data;
    const before = await totals();
    const { id } = (await admin.graphql(erase, { input: { userId: ann.userId } })).data.erasePerson;
    // Keys end at once, whatever the job does.
    await eventually(async () => expect((await ann.get('/api/v1/ais')).status).toBe(401), 1_000);
    const { status, report, user } = await finished(id);
    expect(status).toBe('DONE');
    expect(user).toBeNull();
    const actions = report.map(({ table, action }: { table: string; action: string }) => `${table} ${action}`);
    expect(actions).toEqual(
      expect.arrayContaining([
        'agents TRANSFERRED',
        'agents ERASED',
        'data_sources ERASED',
        'chats ERASED',
        'usage_entries PSEUDONYMISED',
        'audit_entries PSEUDONYMISED',
        'agent_versions PSEUDONYMISED',
        'users ERASED',
      ]),
    );
    expect((await admin.get(`/api/v1/ais/${shared}`)).status).toBe(200);
    expect((await pool.query('select "userId" from agents where id = $1', [shared])).rows).toEqual([{ userId: admin.userId }]);
    expect(await totals()).toEqual(before);
    // Holds and reports say whom they were about. Signals of changes are deleted after an hour.
    await pool.query('delete from cache_invalidations');
    // A group goes to the successor with its name, a prompt that is shared with its text, and a shared agent with its versions.
    expect(actions).toEqual(expect.arrayContaining(['groups TRANSFERRED', 'legal_holds STAYS']));
    expect(await tablesWith(marker)).toEqual(['agent_versions', 'experiments', 'groups', 'legal_holds', 'prompts']);
    expect(await tablesWith(ann.email)).toEqual([]);
    expect(await tablesWith(ann.userId)).toEqual(['audit_entries', 'erasures', 'legal_holds']);
    expect(await tablesWith(ann.keyId)).toEqual(['audit_entries']);
    await sweepOldData(service.deps, AbortSignal.timeout(60_000));
    expect(blobsWith(marker)).toEqual([]);
  });

  it('leaves a person of two organizations to the other one', async () => {
    const sister = await make.organization({ tenant: { id: organization.tenantId } });
    const bob = await make.person({ organization });
    const createdAt = service.deps.now();
    const elsewhere = {
      id: service.deps.newId('membership'),
      orgId: sister.id,
      userId: bob.userId,
      role: 'MEMBER',
      createdAt,
    } as const;
    await service.deps.storage.people.tenancy.addMember(elsewhere);
    const { id } = (await admin.graphql(erase, { input: { userId: bob.userId } })).data.erasePerson;
    const { report } = await finished(id);
    expect(report).toContainEqual(
      expect.objectContaining({ table: 'users', action: 'STAYS', reason: expect.stringContaining('other organizations') }),
    );
    expect((await pool.query('select "orgId" from memberships where "userId" = $1', [bob.userId])).rows).toEqual([
      { orgId: sister.id },
    ]);
  });
});
