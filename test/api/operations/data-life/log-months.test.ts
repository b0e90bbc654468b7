import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepOldData } from '../../../../src/domain/operations/data-life/sweep.ts';
import { makeId } from '../../../../src/entities/ground/ids.ts';
import { UsageBatch, type UsageRow } from '../../../../src/storage/ground/ledger/ledger.ts';
import { readMigrations } from '../../../../src/storage/ground/migrations/migrate.ts';
import { earlierMigrationsFolder } from '../../../../src/storage/ground/migrations/migrations-folder.ts';
import { LogMonths } from '../../../../src/storage/operations/data-life/log-months.ts';
import { LogSweeps } from '../../../../src/storage/operations/data-life/log-sweeps.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', { env: { USAGE_RETENTION_DAYS: '90', TASKS_FIRST_AFTER_MS: '250' } });
const {
  db,
  operations: { usage, logSweeps },
} = service.deps.storage;
const { pool } = db;
const tables = ['usage_entries', 'audit_entries'] as const;
const past = new Date('2024-02-10T12:00:00Z');
const [month, quiet] = ['2024_02', '2024_03'];
let organization: Organization;
let ann: Person;
let admin: Person;

// The sweep of the start would drop the months of the first test.
beforeAll(() => eventually(() => expect(service.deps.dataLife.sweptAt).toBeDefined()));
beforeEach(async () => {
  await logSweeps.makeAhead(past);
  organization = await make.organization();
  ann = await make.person({ organization });
  admin = await make.person({ organization, role: 'ADMIN' });
});

const sweep = () => sweepOldData(service.deps, AbortSignal.timeout(60_000));
const partsOf = async (table: string): Promise<readonly string[]> =>
  (
    await pool.query(`select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1`, [
      table,
    ])
  ).rows.map(({ name }) => name.slice(table.length + 1));
const rowsOf = async (table: string, orgId: string) =>
  (await pool.query(`select tableoid::regclass::text as part from ${table} where "orgId" = $1`, [orgId])).rows.map(
    ({ part }) => part,
  );
const call = (at: Date, { orgId, userId }: { orgId: string; userId: string }): UsageRow => ({
  ...{ id: makeId('usageEntry', at.getTime()), createdAt: at, orgId, userId, keyId: null, agentId: null, runId: null },
  ...{ purpose: 'run', modelId: 'm', inputTokens: 3, outputTokens: 4, cachedTokens: 0, reasoningTokens: 0 },
});
const entry = (at: Date, orgId: string, userId: string) =>
  pool.query(
    `insert into audit_entries (id, "createdAt", "orgId", "actorUserId", "actorEmail", "actorKeyId", action, changes, "requestId")
     values ($1, $2, $3, $4, '', 'key_x', 'createAgent', '[]', 'req_x')`,
    [makeId('auditEntry', at.getTime()), at, orgId, userId],
  );
/** One call and one entry of each organization, in the month. */
async function writePast(...orgIds: string[]) {
  for (const orgId of orgIds) {
    await usage.add(UsageBatch.of([call(past, { orgId, userId: ann.userId })]), 'test');
    await entry(past, orgId, ann.userId);
  }
}

describe('a month of the ledger and of the audit log', () => {
  it('is dropped whole once nobody keeps its rows; sums stay', async () => {
    await writePast(organization.id, (await make.organization()).id);
    for (const table of tables) expect(await partsOf(table)).toEqual(expect.arrayContaining([month, quiet]));
    const before = await usage.total(organization.id, { from: undefined, to: undefined });
    await sweep();
    for (const table of tables) {
      expect(await partsOf(table)).not.toEqual(expect.arrayContaining([month]));
      expect(await rowsOf(table, organization.id)).not.toContain(`${table}_${month}`);
    }
    expect(before.apiTokensUsed).toBe(7);
    expect(await usage.total(organization.id, { from: undefined, to: undefined })).toEqual(before);
    expect(await partsOf('usage_entries')).toContain('other');
  });

  it('stays while an organization keeps it longer or a hold lasts; what nobody keeps goes row by row', async () => {
    const [longer, held] = [await make.organization(), await make.organization()];
    const keeper = await make.person({ organization: longer, role: 'ADMIN' });
    const counsel = await make.person({ organization: held, role: 'ADMIN' });
    await writePast(organization.id, longer.id, held.id);
    const update = 'mutation ($input: UpdateDataRetentionInput!) { updateDataRetention(input: $input) { usage { days } } }';
    expect((await keeper.graphql(update, { input: { usageDays: 36_500, auditDays: 36_500 } })).errors).toBeUndefined();
    const hold = 'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }';
    const { data } = await counsel.graphql(hold, { input: { reason: 'Claim 1' } });
    await sweep();
    for (const table of tables) {
      expect(await partsOf(table)).toEqual(expect.arrayContaining([month]));
      expect(await partsOf(table)).not.toContain(quiet);
      expect(await rowsOf(table, organization.id)).not.toContain(`${table}_${month}`);
      for (const { id } of [longer, held]) expect(await rowsOf(table, id)).toContain(`${table}_${month}`);
    }
    // Rows that stayed are passed over, and looked at again when a hold has ended and when days were changed.
    const ended = await counsel.graphql('mutation ($id: ID!) { endLegalHold(id: $id) { endedAt } }', {
      id: data.setLegalHold.id,
    });
    expect(ended.errors).toBeUndefined();
    await sweep();
    for (const table of tables) expect(await rowsOf(table, held.id)).not.toContain(`${table}_${month}`);
    expect((await keeper.graphql(update, { input: { usageDays: null, auditDays: null } })).errors).toBeUndefined();
    await sweep();
    for (const table of tables) expect(await partsOf(table)).not.toEqual(expect.arrayContaining([month]));
  });

  it('is left for its end where it is large, for those who keep it the longest', async () => {
    const large = new LogSweeps(db, { keepsUnsent: false, droppedFromBytes: 1 });
    await writePast(organization.id);
    expect(await large.endOfRows('audit', past)).toEqual(new Date('2024-02-01T00:00:00Z'));
    expect(await logSweeps.endOfRows('audit', past)).toEqual(past);
    expect(await large.endOfRows('audit', new Date('2024-03-10T00:00:00Z'))).toEqual(new Date('2024-03-10T00:00:00Z'));
  });

  it('is made ahead, and takes what was written before it was there', async () => {
    const later = new Date('2031-05-06T07:08:09.123Z');
    await usage.add(UsageBatch.of([call(later, { orgId: organization.id, userId: ann.userId })]), 'test');
    expect(await rowsOf('usage_entries', organization.id)).toEqual(['usage_entries_other']);
    await logSweeps.makeAhead(later);
    expect(await rowsOf('usage_entries', organization.id)).toEqual(['usage_entries_2031_05']);
    const months = new LogMonths(db);
    const made = (await months.list('usage')).filter(({ name }) => name.startsWith('usage_entries_2031'));
    expect(made.map(({ name, from, to }) => [name.slice(-2), from?.toISOString(), to.toISOString()])).toEqual(
      ['05', '06', '07', '08', '09']
        .slice(0, 4)
        .map((number, index) => [number, `2031-${number}-01T00:00:00.000Z`, `2031-0${6 + index}-01T00:00:00.000Z`]),
    );
    await logSweeps.makeAhead(later);
    for (const found of made) await months.drop(found);
  });

  it('is made for old rows that came from another database', async () => {
    const older = new Date('2022-07-08T09:10:11Z');
    await usage.add(UsageBatch.of([call(older, { orgId: organization.id, userId: ann.userId })]), 'test');
    expect(await rowsOf('usage_entries', organization.id)).toEqual(['usage_entries_other']);
    await logSweeps.makeAhead(past);
    expect(await rowsOf('usage_entries', organization.id)).toEqual(['usage_entries_2022_07']);
    await sweep();
    expect(await partsOf('usage_entries')).not.toEqual(expect.arrayContaining(['2022_07']));
  });

  it('charges a call once, whichever month it is written in', async () => {
    const row = call(past, { orgId: organization.id, userId: ann.userId });
    for (const createdAt of [past, new Date()]) await usage.add(UsageBatch.of([{ ...row, createdAt }]), 'test');
    expect((await usage.total(organization.id, { from: undefined, to: undefined })).apiTokensUsed).toBe(7);
    expect((await usage.counted(organization.id)).api).toBe(7);
  });

  it('is read with the others: the audit log is in order across months', async () => {
    for (const day of ['2024-02-28', '2024-03-02', '2024-01-31']) await entry(new Date(day), organization.id, ann.userId);
    const { data } = await admin.graphql('{ auditLog(filter: { action: "createAgent" }) { nodes { createdAt } totalCount } }');
    expect(data.auditLog.nodes.map(({ createdAt }: { createdAt: string }) => createdAt.slice(0, 10))).toEqual([
      '2024-03-02',
      '2024-02-28',
      '2024-01-31',
    ]);
  });
});

describe('the migration to months', () => {
  it('copies no row, and the statements of the version before go on', async () => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query('create schema older');
      await client.query('set local search_path to older');
      for (const table of tables) {
        await client.query(
          `create table ${table} (like public.${table} including defaults including generated, constraint ${table}_pkey primary key (id))`,
        );
        await client.query(`create index "${table}_orgId_createdAt_idx" on ${table} ("orgId", "createdAt")`);
      }
      const insert = (id: string) => ({
        name: 'written-by-the-version-before',
        text: `insert into usage_entries (id, "orgId", "userId", purpose, "modelId", "inputTokens", "outputTokens")
          values ($1, 'org_1', 'user_1', 'run', 'm', 1, 2) on conflict ("id") do nothing returning *`,
        values: [id],
      });
      const [old, next] = [makeId('usageEntry', past.getTime()), makeId('usageEntry', Date.now())];
      expect((await client.query(insert(old))).rowCount).toBe(1);
      const fileOf = `select pg_relation_filenode($1::regclass)::int as node`;
      const { rows: before } = await client.query(fileOf, ['usage_entries']);
      for (const { name, sql } of readMigrations(earlierMigrationsFolder)) if (/^8[56]_/.test(name)) await client.query(sql);
      expect((await client.query(fileOf, ['usage_entries_before'])).rows).toEqual(before);
      expect((await client.query(insert(old))).rowCount).toBe(0);
      expect((await client.query(insert(next))).rowCount).toBe(1);
      const { rows } = await client.query('select id from usage_entries order by id');
      expect(rows.map(({ id }) => id)).toEqual([old, next]);
      const { rows: indexes } = await client.query(
        `select tablename, indexname from pg_indexes where schemaname = 'older' and tablename like 'usage%' and indexname not like '%20%' order by 1, 2`,
      );
      expect(indexes.map(({ indexname }) => indexname)).toEqual(
        expect.arrayContaining([
          'usage_entries_orgId_createdAt_idx',
          'usage_entries_pkey',
          'usage_entries_orgId_createdAt_idx_before',
        ]),
      );
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});
