import { beforeEach, describe, expect, it } from 'vitest';
import { runOnce } from '../../../../src/domain/ground/idempotency.ts';
import { withService } from '../../../support/service.ts';

const { service } = await withService();
let number = 0;
let key = '';

const admin = service.client();

beforeEach(() => {
  number += 1;
  key = `order-${number}`;
});

const group = (name: string) => ({ name, availability: 'EVERYONE', memberEmails: '' });
const createGroup = (name: string, who = admin, idempotencyKey = key) =>
  who.post('/api/v1/groups', group(name), { 'idempotency-key': idempotencyKey });
async function groupsNamed(name: string): Promise<number> {
  const { body } = await admin.get('/api/v1/groups');
  return (body as { name: string }[]).filter((found) => found.name === name).length;
}

/** Calls the domain function directly: the first call waits until the test continues it. */
function request(idempotencyKey: string, body = 'body') {
  return { keyId: 'key_test', secret: 'secret of the key', idempotencyKey, request: body };
}

describe('Idempotency-Key', () => {
  it('makes a thing once and replays the reply', async () => {
    const first = await createGroup('once');
    const second = await createGroup('once');
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect([first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')]).toEqual([null, 'true']);
    expect(await groupsNamed('once')).toBe(1);
  });
  it('makes a thing once when both requests come at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => createGroup('race')));
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(replies.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await groupsNamed('race')).toBe(1);
  });
  it('refuses another body, and another path, under the same key', async () => {
    await createGroup('one body');
    const mismatch = { status: 422, body: { error: { code: 'idempotency_mismatch', param: 'Idempotency-Key' } } };
    expect(await createGroup('another body')).toMatchObject(mismatch);
    const keyBody = { name: 'k', scopes: ['AGENTS:READ'] };
    expect(await admin.post('/api/v1/api-keys', keyBody, { 'idempotency-key': key })).toMatchObject(mismatch);
  });
  it('belongs to the caller: the same key of somebody else is another one', async () => {
    const { body } = await admin.post('/api/v1/api-keys', { name: 'other', scopes: ['GROUPS:WRITE', 'GROUPS:READ'] });
    await createGroup('shared');
    const reply = await createGroup('shared', service.client(body.key as string));
    expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([200, null]);
  });
  it('keeps no failure: what was refused may be sent again', async () => {
    const headers = { 'idempotency-key': key };
    expect((await admin.post('/api/v1/groups', { ...group('x'), name: ' ' }, headers)).status).toBe(400);
    expect((await createGroup('after a failure')).status).toBe(200);
  });
  it.each([['a'.repeat(256)], ['caf\u00e9']])('must be short and printable: %s', async (bad) => {
    const reply = await createGroup('x', admin, bad);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'invalid_value', param: 'Idempotency-Key' } } });
  });
  it('replays a secret to its owner and keeps it sealed in the database', async () => {
    const body = { name: 'secret', scopes: ['AGENTS:READ'] };
    const first = await admin.post('/api/v1/api-keys', body, { 'idempotency-key': key });
    const second = await admin.post('/api/v1/api-keys', body, { 'idempotency-key': key });
    expect(second.body.key).toBe(first.body.key);
    const { rows } = await service.deps.storage.db.pool.query<{ text: string }>(
      'select r::text as text from idempotency_records r',
    );
    const stored = rows.map(({ text }) => text).join('\n');
    expect(stored).not.toContain(first.body.key);
    expect(stored).not.toContain(Buffer.from(String(first.body.key)).toString('base64').slice(0, 20));
  });
  it('answers 409 while the first request runs, and asks to try again', async () => {
    let letGo: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let hasBegun: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve;
    });
    const reply = { status: 200, text: '{}', headers: {} };
    const first = runOnce(service.deps, request(key), async () => {
      hasBegun();
      await waits;
      return reply;
    });
    await begun;
    await expect(runOnce(service.deps, request(key), async () => reply)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_IN_PROGRESS',
      detail: { retryAfterSeconds: 1 },
    });
    letGo();
    expect(await first).toEqual({ reply, isReplay: false });
    expect(await runOnce(service.deps, request(key), async () => ({ ...reply, status: 500 }))).toEqual({ reply, isReplay: true });
  });
  it('is free again when the process that had it died, and the dead one cannot write any more', async () => {
    const of = { keyId: 'key_test', idempotencyKey: key };
    const { idempotency } = service.deps.storage;
    const dead = await idempotency.claim(of, 'hash', -1, 86_400_000);
    const next = await idempotency.claim(of, 'hash', 30_000, 86_400_000);
    if (dead.kind !== 'claimed' || next.kind !== 'claimed') throw new Error('not claimed');
    await idempotency.complete(of, dead.token, { status: 200, sealedBody: 'late', headers: {} });
    await idempotency.release(of, dead.token);
    expect(await idempotency.renew(of, dead.token, 30_000)).toBeUndefined();
    expect((await idempotency.claim(of, 'hash', 30_000, 86_400_000)).kind).toBe('running');
    expect(await idempotency.renew(of, next.token, 30_000)).toBeDefined();
  });
  it('is forgotten after a day', async () => {
    await createGroup('a day ago');
    const { pool } = service.deps.storage.db;
    await pool.query(
      `update idempotency_records set "createdAt" = "createdAt" - interval '25 hours' where "idempotencyKey" = $1`,
      [key],
    );
    await createGroup('a day ago');
    expect(await groupsNamed('a day ago')).toBe(2);
    await pool.query(
      `update idempotency_records set "createdAt" = "createdAt" - interval '25 hours' where "idempotencyKey" = $1`,
      [key],
    );
    // A sweep of the service itself may have run before.
    await service.deps.storage.idempotency.sweep(86_400_000);
    const left = await pool.query('select 1 from idempotency_records where "idempotencyKey" = $1', [key]);
    expect(left.rowCount).toBe(0);
  });
});
