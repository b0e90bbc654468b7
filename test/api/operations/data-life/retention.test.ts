import { beforeEach, describe, expect, it } from 'vitest';
import { sweepOldData } from '../../../../src/domain/operations/data-life/sweep.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { ageRun } from '../../../support/runs/aged-runs.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', {});
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

const { pool } = service.deps.storage.db;
const update =
  'mutation ($input: UpdateDataRetentionInput!) { updateDataRetention(input: $input) { chats { days effectiveDays } audit { days effectiveDays } } }';
const hold =
  'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id userId reason createdByUserId createdBy { email } endedAt } }';
const endHold = 'mutation ($id: ID!) { endLegalHold(id: $id) { endedAt endedBy { email } } }';
const keep = async (days: Readonly<Record<string, number | null>>) =>
  expect((await admin.graphql(update, { input: days })).errors).toBeUndefined();
const sweep = () => {
  // Runs become old all at once here, also those that a sweep has passed.
  service.deps.dataLife.eventsSwept.forget();
  return sweepOldData(service.deps, AbortSignal.timeout(60_000));
};
const count = async (table: string, where: string, ...values: unknown[]) =>
  Number((await pool.query(`select count(*) from ${table} where ${where}`, values)).rows[0].count);

/** 120 versions of an agent that changes made within a day, 100 days ago; the first is published, the 9th the canary, the 11th made from the 12th. */
async function oldVersions(agent: string): Promise<void> {
  await pool.query(
    `insert into agent_versions ("agentId", number, "createdAt", "userId", note, "rolledBackTo", content)
     select $1, n, now() - interval '100 days', $2, case n when 10 then 'The good one' else '' end, case n when 11 then 12 end, '{}'
     from generate_series(2, 120) n`,
    [agent, ann.userId],
  );
  await pool.query(`update agents set "canaryVersion" = 9, "canaryPercent" = 5, "canaryStartedAt" = now() where id = $1`, [
    agent,
  ]);
}

/** A chat with an answer and a file, a stored response and a plain completion, all of them 100 days old. */
async function oldThings(who: Person, agent: string) {
  const chat = await make.chat({ owner: who, agentId: agent });
  const { body: run } = await who.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'What is it?' });
  const form = new FormData();
  form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'a.txt');
  const file = await who.post(`/api/v1/chats/${chat.id}/files`, form);
  expect(file.status).toBeLessThan(300);
  const { body: response } = await who.post('/api/v2/responses', { model: agent, input: 'Hello' });
  expect(response.id).toMatch(/^resp_/);
  await who.post('/api/v1/chat/completions', { model: agent, messages: [{ role: 'user', content: 'Hi' }] });
  await expect.poll(() => count('usage_entries', '"userId" = $1', who.userId)).toBe(3);
  await expect.poll(() => count('runs', '"userId" = $1 and "endedAt" is not null', who.userId)).toBe(3);
  const past = `now() - interval '100 days'`;
  await pool.query(`update runs set "createdAt" = ${past}, "endedAt" = ${past} where "userId" = $1`, [who.userId]);
  const [runId, responseId] = [await ageRun(pool, run.runId, 100), await ageRun(pool, response.id, 100)];
  await pool.query(`update chats set "updatedAt" = ${past} where "userId" = $1`, [who.userId]);
  await pool.query(`update usage_entries set "createdAt" = ${past} where "userId" = $1`, [who.userId]);
  await pool.query(`update audit_entries set "createdAt" = ${past} where "actorUserId" = $1`, [who.userId]);
  const { rows } = await pool.query('select "blobKey" from chat_files where "chatId" = $1', [chat.id]);
  return { chatId: chat.id, runId, responseId, blobKey: rows[0].blobKey as string };
}

describe('what is older than the organization keeps it', () => {
  it('is deleted of the versions of agents too, but for the newest hundred, and what a run, an experiment, a canary or a note names', async () => {
    const { body: agent } = await ann.patch(`/api/v1/ais/${agentId}`, { instructions: 'Say one.' });
    expect(agent.id).toBe(agentId);
    await pool.query(`update agents set "publishedVersion" = 1 where id = $1`, [agentId]);
    await pool.query(`delete from agent_versions where "agentId" = $1 and number = 2`, [agentId]);
    // Before them: the service sweeps by itself, too.
    const { data } = await admin.graphql(hold, { input: { userId: ann.userId, reason: 'Claim 20' } });
    await oldVersions(agentId);
    await ann.post('/api/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: 'Hi' }] });
    await expect.poll(() => count('runs', '"agentId" = $1 and "endedAt" is not null', agentId), { timeout: 60_000 }).toBe(1);
    await pool.query(`update runs set "agentVersion" = 3 where "agentId" = $1`, [agentId]);
    const made = await ann.graphql('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "C" }) { id } }', {
      id: agentId,
    });
    const datasetId = made.data.createDataset.id;
    await ann.graphql('mutation ($id: ID!) { addDatasetCases(datasetId: $id, cases: [{ question: "Why?" }]) { id } }', {
      id: datasetId,
    });
    await pool.query(
      `insert into experiments (id, "updatedAt", "orgId", "userId", "agentId", "datasetId", revision, status, variants, scorers, repeats, "tokensMax", seed,
         "plannedCount", "endedAt")
       values ($1, now(), $2, $3, $4, $5, 1, 'DONE', '[{"version":"4","draftRevision":null,"modelId":null}]', '[]', 1, 1, 1, 0, now())`,
      [`exper_${agentId.slice(3)}`, organization.id, ann.userId, agentId, datasetId],
    );
    const numbers = async () =>
      (
        await pool.query('select number from agent_versions where "agentId" = $1 and number <= 20 order by number', [agentId])
      ).rows.map(({ number }) => number);
    await sweep();
    expect(await numbers()).toHaveLength(20);
    await admin.graphql(endHold, { id: data.setLegalHold.id });
    await sweep();
    expect(await numbers()).toEqual([1, 3, 4, 9, 10, 11, 12]);
    expect(await count('agent_versions', '"agentId" = $1', agentId)).toBe(107);
  });

  it('is deleted, kind by kind, with its files; sums stay', async () => {
    const old = await oldThings(ann, agentId);
    const usage = async () => (await admin.graphql('{ viewer { organization { usage { apiTokensUsed } } } }')).data;
    const before = await usage();
    await keep({ eventDays: 99 });
    await sweep();
    expect(await count('run_event_batches', '"runId" = $1', old.runId)).toBe(0);
    expect(await count('runs', '"userId" = $1', ann.userId)).toBe(3);
    await keep({ runDays: 99 });
    await sweep();
    expect(await count('runs', '"userId" = $1', ann.userId)).toBe(0);
    expect((await ann.get(`/api/v2/responses/${old.responseId}`)).status).toBe(404);
    expect(await count('response_items', '"userId" = $1', ann.userId)).toBe(0);
    expect((await ann.get(`/api/v1/chats/${old.chatId}`)).body.messages).toHaveLength(2);
    await keep({ chatDays: 99 });
    await sweep();
    expect((await ann.get(`/api/v1/chats/${old.chatId}`)).status).toBe(404);
    expect(await count('messages', '"chatId" = $1', old.chatId)).toBe(0);
    await expect(service.deps.storage.blobs.read(old.blobKey)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await keep({ usageDays: 99, auditDays: 99 });
    await sweep();
    expect(await count('usage_entries', '"userId" = $1', ann.userId)).toBe(0);
    expect(await usage()).toEqual(before);
    expect(await count('audit_entries', '"actorUserId" = $1', ann.userId)).toBe(0);
    expect(await count('audit_entries', '"orgId" = $1 and action = $2', organization.id, 'updateDataRetention')).toBe(4);
    expect(String((await service.nobody.get('/metrics')).body)).toMatch(/parley_retention_deleted_total\{kind="chats"\} [1-9]/);
  });

  it('stays where it is younger, where another organization keeps it longer, and where a run goes on', async () => {
    const old = await oldThings(ann, agentId);
    const elsewhere = await make.person({ role: 'ADMIN' });
    const other = await oldThings(elsewhere, (await make.agent({ owner: elsewhere })).id);
    await pool.query(`update chats set "activeRunId" = 'run_0' where id = $1`, [old.chatId]);
    await keep({ chatDays: 99, runDays: 101, usageDays: 101, auditDays: 101, eventDays: 101 });
    await sweep();
    for (const [who, id] of [
      [ann, old.chatId],
      [elsewhere, other.chatId],
    ] as const) {
      expect((await who.get(`/api/v1/chats/${id}`)).status).toBe(200);
      // The thread of a response is a chat like others.
      expect(await count('runs', '"userId" = $1', who.userId)).toBe(who === ann ? 2 : 3);
      expect(await count('usage_entries', '"userId" = $1', who.userId)).toBe(3);
    }
  });

  it('leaves a row of a deleted chat for thirty days, and then nothing', async () => {
    const old = await oldThings(ann, agentId);
    expect((await ann.delete(`/api/v1/chats/${old.chatId}`)).status).toBeLessThan(300);
    await sweep();
    expect(await count('chats', 'id = $1', old.chatId)).toBe(1);
    await pool.query(`update chats set "deletedAt" = now() - interval '31 days' where id = $1`, [old.chatId]);
    await sweep();
    expect(await count('chats', 'id = $1', old.chatId)).toBe(0);
    expect(await count('chat_files', '"chatId" = $1', old.chatId)).toBe(0);
  });
});

describe('a legal hold', () => {
  it.each([
    ['on the organization', false],
    ['on the person', true],
  ])('%s keeps everything that is old, until it is ended', async (_name, isPerson) => {
    const old = await oldThings(ann, agentId);
    await keep({ chatDays: 99, runDays: 99, eventDays: 99, usageDays: 99, auditDays: 99 });
    const input = { reason: 'Claim 17', ...(isPerson ? { userId: ann.userId } : {}) };
    const { data } = await admin.graphql(hold, { input });
    expect(data.setLegalHold).toMatchObject({ reason: 'Claim 17', createdBy: { email: admin.email }, endedAt: null });
    await sweep();
    expect((await ann.get(`/api/v1/chats/${old.chatId}`)).status).toBe(200);
    expect(await count('runs', '"userId" = $1', ann.userId)).toBe(3);
    expect(await count('run_event_batches', '"runId" = $1', old.runId)).toBeGreaterThan(0);
    expect(await count('usage_entries', '"userId" = $1', ann.userId)).toBe(3);
    expect(await count('audit_entries', '"actorUserId" = $1', ann.userId)).toBeGreaterThan(0);
    const { data: ended } = await admin.graphql(endHold, { id: data.setLegalHold.id });
    expect(ended.endLegalHold.endedBy.email).toBe(admin.email);
    expect((await admin.graphql(endHold, { id: data.setLegalHold.id })).errors?.[0].extensions.code).toBe('CONFLICT');
    await sweep();
    expect((await ann.get(`/api/v1/chats/${old.chatId}`)).status).toBe(404);
    expect(await count('runs', '"userId" = $1', ann.userId)).toBe(0);
  });

  it('refuses deletions by the person, and by others of what the person owns, and leaves people without a hold alone', async () => {
    const old = await oldThings(ann, agentId);
    const own = await make.chat({ owner: admin, agentId: (await make.agent({ owner: admin })).id });
    const { data } = await admin.graphql(hold, { input: { reason: 'Claim 18', userId: ann.userId } });
    const said = { error: { code: expect.stringMatching(/conflict/i), message: expect.stringContaining('legal hold') } };
    for (const [who, method, path] of [
      [ann, 'DELETE', `/api/v1/chats/${old.chatId}`],
      [ann, 'DELETE', `/api/v2/responses/${old.responseId}`],
      [ann, 'DELETE', `/api/v1/ais/${agentId}`],
      [admin, 'DELETE', `/api/v1/ais/${agentId}`],
      [service.client(), 'DELETE', `/api/v1/admin/users/${ann.userId}`],
    ] as const) {
      const reply = await who.call(method, path);
      expect([path, reply.status]).toEqual([path, 409]);
      if (!path.includes('v2')) expect(reply.body).toMatchObject(said);
      expect(JSON.stringify(reply.body)).not.toContain('Claim 18');
    }
    expect((await admin.delete(`/api/v1/chats/${own.id}`)).status).toBeLessThan(300);
    await admin.graphql(endHold, { id: data.setLegalHold.id });
    expect((await ann.delete(`/api/v1/chats/${old.chatId}`)).status).toBeLessThan(300);
  });
});

describe('days and holds', () => {
  it.each([
    ['too few for the audit log', { auditDays: 29 }, 'input.auditDays must be a number of days from 30 to 36500'],
    ['none', { chatDays: 0 }, 'input.chatDays must be a number of days from 1 to 36500'],
    ['too many', { runDays: 36_501 }, 'input.runDays must be a number of days from 1 to 36500'],
  ])('are refused: %s', async (_name, input, message) => {
    const { errors } = await admin.graphql(update, { input });
    expect(errors?.[0]).toMatchObject({ message, extensions: { code: 'INVALID_VALUE' } });
  });

  it('are seen by members as far as they concern them, and set by administrators of the organization only', async () => {
    await keep({ chatDays: 400 });
    const { data } = await ann.graphql(
      '{ viewer { organization { dataRetention { chats { days effectiveDays } events { days effectiveDays } usage { effectiveDays } } } } }',
    );
    expect(data.viewer.organization.dataRetention).toEqual({
      chats: { days: 400, effectiveDays: 400 },
      events: { days: null, effectiveDays: 30 },
      usage: { effectiveDays: null },
    });
    await keep({ chatDays: null });
    const stranger = await make.person({ role: 'ADMIN' });
    const held = (await admin.graphql(hold, { input: { reason: 'Claim 19' } })).data.setLegalHold.id;
    for (const [who, code] of [
      [ann, 'FORBIDDEN'],
      [stranger, 'NOT_FOUND'],
    ] as const) {
      const input = { orgId: organization.id };
      expect((await who.graphql(update, { input: { ...input, chatDays: 1 } })).errors?.[0].extensions.code).toBe(code);
      expect((await who.graphql(hold, { input: { ...input, reason: 'x' } })).errors?.[0].extensions.code).toBe(code);
      expect((await who.graphql(endHold, { id: held })).errors?.[0].extensions.code).toBe(code);
      expect(
        (
          await who.graphql('query ($filter: LegalHoldFilter) { legalHolds(filter: $filter) { nodes { id } } }', {
            filter: input,
          })
        ).errors?.[0].extensions.code,
      ).toBe(code);
    }
    const { data: listed } = await admin.graphql(
      '{ legalHolds(filter: { isLasting: true }) { totalCount nodes { id reason user { id } } } }',
    );
    expect(listed.legalHolds).toEqual({ totalCount: 1, nodes: [{ id: held, reason: 'Claim 19', user: null }] });
    expect((await admin.graphql(hold, { input: { userId: stranger.userId, reason: 'x' } })).errors?.[0].extensions.code).toBe(
      'NOT_FOUND',
    );
  });
});
