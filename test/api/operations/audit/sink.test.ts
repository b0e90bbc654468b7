import { Client } from 'pg';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepOldData } from '../../../../src/domain/operations/data-life/sweep.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { startAuditReceiver } from '../../../support/operations/receiver.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { testServerUrl } from '../../../support/storage/databases.ts';

const receiver = await startAuditReceiver();
afterAll(() => receiver.close());
const log: string[] = [];
const { service, make } = await withService('plain', {
  env: { ...receiver.env, DUE_LOOK_EVERY_MS: '100', LOG_LEVEL: 'info' },
  onLog: (line) => log.push(line),
});
const { pool } = service.deps.storage.db;
let organization: Organization;
let admin: Person;

beforeEach(async () => {
  receiver.answer();
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
});

const stored = async (where = 'true', ...values: unknown[]): Promise<readonly string[]> =>
  (await pool.query(`select id from audit_entries where ${where} order by "createdAt", id`, values)).rows.map(({ id }) => id);
const received = (orgId: string) => receiver.entries.filter((entry) => entry.orgId === orgId);
const allSent = () =>
  eventually(async () => {
    const ids = await stored();
    const taken = new Set(receiver.entries.map(({ id }) => id));
    expect(ids.filter((id) => !taken.has(id))).toEqual([]);
    expect((await service.deps.storage.operations.auditSink.progress()).waitingCount).toBe(0);
  });
const act = (name: string) => make.agent({ owner: admin, name });
let made = 0;
/** Writes an entry as a change does, on the client of the test. @returns its id. */
async function insert(client: Pick<Client, 'query'>, orgId: string, createdAt: string, changes: object = []): Promise<string> {
  made += 1;
  const id = `aud_test_${String(made).padStart(6, '0')}`;
  await client.query(
    `insert into audit_entries (id, "createdAt", "orgId", "actorUserId", "actorEmail", "actorKeyId", action, changes, "requestId")
     values ($1, $2, $3, 'user_x', 'x@example.com', 'key_x', 'createAgent', $4, 'req_x')`,
    [id, createdAt, orgId, JSON.stringify(changes)],
  );
  return id;
}

describe('the receiver of AUDIT_SINK_URL', () => {
  it('gets every entry of every organization, in order, signed, with the members that GraphQL shows', async () => {
    await act('One');
    await act('Two');
    const other = await make.person({ organization: await make.organization(), role: 'ADMIN' });
    await make.agent({ owner: other, name: 'Three' });
    await allSent();
    expect(receiver.unsigned).toEqual([]);
    expect(received(other.orgId).map(({ action }) => action)).toContain('createAgent');
    const sent = received(organization.id).filter(({ action }) => action === 'createAgent');
    const members = `id createdAt orgId actorUserId actorEmail actorKeyId action kind outcome count targetKind targetId targetIds
      address changes { member value } requestId`;
    const { data } = await admin.graphql(
      `{ auditLog(first: 100, filter: { action: "createAgent" }) { nodes { ${members.replace('{ member value }', '{ member values }')} } } }`,
    );
    const shown = data.auditLog.nodes.toReversed();
    const plain = ({ changes, createdAt, ...entry }: Record<string, unknown>) => ({
      ...entry,
      createdAt: new Date(String(createdAt)).toISOString(),
      members: (changes as { member: string }[]).map(({ member }) => member),
    });
    expect(sent.map((entry) => plain({ ...entry }))).toEqual(shown.map(plain));
    expect(Object.keys(sent[0] ?? {}).sort()).toEqual(
      members
        .match(/\w+/g)
        ?.filter((name) => !/^(member|value)$/.test(name))
        .sort(),
    );
  });

  it('gets each entry once while it answers', async () => {
    for (const name of ['a', 'b', 'c']) await act(name);
    await allSent();
    const ids = received(organization.id).map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('gets the oldest first, in requests of at most 500 entries and some 500 kB', async () => {
    await allSent();
    const before = receiver.batches.length;
    await pool.query(
      `insert into audit_entries (id, "createdAt", "orgId", "actorUserId", "actorEmail", "actorKeyId", action, changes, "requestId")
       select 'aud_many_' || lpad(place::text, 5, '0'), now() - interval '1 hour' + place * interval '1 ms', $1, 'user_x', '', 'key_x', 'createAgent',
         case when place > 1200 then jsonb_build_array(jsonb_build_object('member', 'name', 'value', repeat('x', 50000))) else '[]' end, 'req_x'
       from generate_series(1, 1230) place`,
      [organization.id],
    );
    await allSent();
    const many = receiver.batches.slice(before).filter(({ entries }) => entries.some(({ id }) => id.startsWith('aud_many_')));
    expect(many.flatMap(({ entries }) => entries.map(({ id }) => id)).filter((id) => id.startsWith('aud_many_'))).toEqual(
      Array.from({ length: 1230 }, (_, index) => `aud_many_${String(index + 1).padStart(5, '0')}`),
    );
    expect(Math.max(...many.map(({ entries }) => entries.length))).toBe(500);
    expect(Math.max(...many.map(({ body }) => Buffer.byteLength(body)))).toBeLessThan(600_000);
    expect(many.length).toBeGreaterThan(4);
  });

  it.skipIf(testServerUrl === undefined)('gets entries of a transaction that commits after later ones', async () => {
    const [early, late] = [new Client(pool.options), new Client(pool.options)];
    await Promise.all([early.connect(), late.connect()]);
    try {
      await early.query('begin');
      const first = await insert(early, organization.id, '2026-11-01T00:00:00Z');
      const second = await insert(late, organization.id, '2026-11-02T00:00:00Z');
      await eventually(() => expect(received(organization.id).map(({ id }) => id)).toContain(second));
      expect(received(organization.id).map(({ id }) => id)).not.toContain(first);
      // The place of `second` is sent, and everything that is visible.
      const { auditSink } = service.deps.storage.operations;
      await eventually(async () => expect((await auditSink.progress()).waitingCount).toBe(0));
      await early.query('commit');
      await eventually(() => expect(received(organization.id).map(({ id }) => id)).toContain(first));
      await allSent();
      const ids = received(organization.id).map(({ id }) => id);
      expect(ids.filter((id) => id === first || id === second)).toEqual([second, first]);
    } finally {
      await Promise.all([early.end(), late.end()]);
    }
  });

  it('gets an entry again, with the same id, when it changes', async () => {
    const agent = await act('One');
    await allSent();
    const entry = received(organization.id).find(({ action }) => action === 'createAgent');
    expect(agent.id).toBeTruthy();
    await service.deps.storage.operations.auditEntries.fail(entry?.id ?? '');
    await eventually(() => {
      const outcomes = received(organization.id).flatMap(({ id, outcome }) => (id === entry?.id ? [outcome] : []));
      expect(outcomes).toEqual(['SUCCEEDED', 'FAILED']);
    });
  });
});

describe('while the receiver fails', () => {
  it.each([
    [302, 'answered 302: set AUDIT_SINK_URL to where it redirects'],
    [401, 'answered 401: see whether it has the secret'],
    [413, 'answered 413: let it take bodies of 1 MB'],
    [500, 'answered 500.'],
  ])('with %i nothing is lost, and the reason is a sentence', async (status, words) => {
    await allSent();
    receiver.answer(() => ({ status, headers: { location: 'http://127.0.0.1:9/elsewhere' } }));
    const before = receiver.batches.length;
    await act('Waits');
    await eventually(async () => {
      const progress = await service.deps.storage.operations.auditSink.progress();
      expect(progress.lastError).toContain(words);
      expect(progress.failingSince).not.toBeNull();
      expect(progress.waitingCount).toBeGreaterThan(0);
    });
    receiver.answer();
    await allSent();
    // The same request again: the same id, the same body.
    const [refused, again] = receiver.batches.slice(before);
    expect(refused?.status).toBe(status);
    expect(again).toEqual({ ...refused, status: 204 });
    expect(await service.deps.storage.operations.auditSink.progress()).toMatchObject({ lastError: null, failingSince: null });
  });

  it('further attempts come later and later', async () => {
    await allSent();
    const times: number[] = [];
    receiver.answer(() => {
      times.push(Date.now());
      return { status: 503 };
    });
    await act('Waits');
    await eventually(() => expect(times.length).toBe(3));
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(2_000);
    expect(third - second).toBeGreaterThanOrEqual(4_000);
    receiver.answer();
    await allSent();
  });

  it('the service answers and is ready; metrics tell the lag and the failures', async () => {
    const metric = async (name: string) => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return Number(new RegExp(`^parley_${name} (.+)$`, 'm').exec(text)?.[1]);
    };
    await allSent();
    const failed = await metric('audit_sink_failures_total');
    receiver.answer(() => ({ status: 500 }));
    await pool.query(`update audit_entries set "sinkPosition" = null where "orgId" = $1`, [organization.id]);
    await insert(pool, organization.id, new Date(Date.now() - 3_600_000).toISOString());
    await eventually(async () => {
      expect(await metric('audit_sink_failures_total')).toBeGreaterThan(failed);
      expect(await metric('audit_sink_lag_entries')).toBeGreaterThan(0);
      expect(await metric('audit_sink_lag_seconds')).toBeGreaterThan(3_599);
    });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    receiver.answer();
    await allSent();
    await eventually(async () => expect(await metric('audit_sink_lag_entries')).toBe(0));
    expect(await metric('audit_sink_lag_seconds')).toBe(0);
    expect(await metric('audit_sink_sent_total')).toBeGreaterThan(0);
  });

  it('retention keeps what waits, and deletes it once it is sent', async () => {
    await allSent();
    receiver.answer(() => ({ status: 500 }));
    const id = await insert(pool, organization.id, '2020-01-01T00:00:00Z');
    const sweep = () => sweepOldData(service.deps, AbortSignal.timeout(60_000));
    await eventually(() => expect(receiver.batches.at(-1)?.entries.map((entry) => entry.id)).toContain(id));
    await sweep();
    expect(await stored('id = $1', id)).toEqual([id]);
    receiver.answer();
    await eventually(() => expect(received(organization.id).map((entry) => entry.id)).toContain(id));
    await eventually(async () => {
      await sweep();
      expect(await stored('id = $1', id)).toEqual([]);
    });
  });
});

describe('an erasure', () => {
  it('sends what is left of the entries of the person, without e-mail and address', async () => {
    const ann = await make.person({ organization });
    await make.agent({ owner: ann, name: 'Hers' });
    await allSent();
    const of = () => received(organization.id).filter(({ actorUserId }) => actorUserId === ann.userId);
    const before = of();
    expect(before.length).toBeGreaterThan(0);
    expect(before.every(({ actorEmail }) => actorEmail !== '')).toBe(true);
    const mutation = 'mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }';
    const { errors } = await admin.graphql(mutation, { input: { userId: ann.userId, transferToUserId: admin.userId } });
    expect(errors).toBeUndefined();
    await eventually(() => {
      const last = new Map(of().map((entry) => [entry.id, entry]));
      expect([...last.keys()].sort()).toEqual([...new Set(before.map(({ id }) => id))].sort());
      expect([...last.values()]).toEqual([...last.values()].map((entry) => ({ ...entry, actorEmail: '', address: null })));
    });
    await allSent();
  });
});

describe('a start', () => {
  it('with a receiver on an old table sends from its oldest entry on, and what was written while there was none', async () => {
    await allSent();
    await service.restart({ AUDIT_SINK_URL: '', AUDIT_SINK_SECRET: '' });
    await act('Meanwhile');
    await expect.poll(async () => (await service.deps.storage.operations.auditSink.progress()).waitingCount).toBeGreaterThan(0);
    await service.restart(receiver.env);
    await eventually(async () => {
      expect((await service.deps.storage.operations.auditSink.progress()).waitingCount).toBe(0);
      expect(received(organization.id).map(({ action }) => action)).toContain('createAgent');
    });
  });
});

it('the log has neither the secret nor the address nor an entry', () => {
  const text = log.join('\n');
  expect(text).toContain('entries of the audit log wait for their receiver');
  expect(text).toContain('takes entries again');
  for (const secret of [receiver.secret, receiver.secret.slice(6), 'of-the-address', 'aud_', 'x@example.com'])
    expect(text).not.toContain(secret);
});
