import { describe, expect, it } from 'vitest';
import { graphqlResponse } from '../../support/apis/graphql-inputs.ts';
import type { Person } from '../../support/make.ts';
import { startClock } from '../../support/processes/clock.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { noAnswer, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

const withinMs = 5_000;

const bench = await responsesBench();

const completions = '/api/v1/chat/completions';
const completion = { model: testModel, messages: [{ role: 'user', content: 'Hi' }] };
const response = { model: testModel, input: 'Hi' };

/** Another key of Ann. */
function otherKey(): Promise<Person> {
  return bench.make.withKey(bench.ann, {});
}

function revoke(who: Person) {
  return bench.ann.delete(`/api/v1/api-keys/${who.keyId}`);
}

async function background(who: Person, members: object = {}) {
  const { body } = await who.post(responsesPath, { ...response, background: true, ...members });
  return body;
}

/** Repeats `work` until it succeeds, and fails when that takes too long. */
async function inTime(work: () => Promise<unknown>): Promise<void> {
  const clock = startClock();
  await work();
  expect(clock.elapsedMs()).toBeLessThan(withinMs);
  clock.stop();
}

describe('a request that waits for its answer when its key is revoked', () => {
  const upstreamIdle = () => bench.upstream.until(({ openStreams }) => openStreams === 0, withinMs);

  it.each([
    ['a stored response', responsesPath, response],
    ['a response that is not stored', responsesPath, { ...response, store: false }],
    ['a compaction', `${responsesPath}/compact`, response],
    ['a completion', completions, completion],
  ])('is refused within 5 seconds and asks the model no more: %s', async (_case, path, body) => {
    const who = await otherKey();
    bench.upstream.next(noAnswer);
    const asking = who.post(path, body);
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    await inTime(async () => {
      await revoke(who);
      const { status, body: refusal } = await asking;
      const type = path === completions ? 'invalid_request_error' : expect.any(String);
      expect({ status, error: refusal.error }).toMatchObject({ status: 401, error: { code: 'invalid_api_key', type } });
      await upstreamIdle();
    });
  });

  it('is refused over GraphQL too', async () => {
    const who = await otherKey();
    bench.upstream.next(noAnswer);
    const query = 'mutation ($input: ResponseInput!) { createResponse(input: $input) { id } }';
    const asking = who.graphql(query, { input: graphqlResponse({ ...response, store: false }) });
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    await revoke(who);
    expect(await asking).toMatchObject({ errors: [{ extensions: { code: 'INVALID_API_KEY' } }] });
    await upstreamIdle();
  });
});

describe('a run that goes on by itself when its key is revoked', () => {
  const refused = { status: 'failed', error: { code: 'invalid_api_key', message: expect.stringContaining('revoked') } };
  const seen = async (id: string) => (await bench.get(id)).body;

  it('fails within 5 seconds, says why, and leaves a thread that goes on', async () => {
    const who = await otherKey();
    bench.upstream.next(noAnswer);
    const { id } = await background(who);
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    await inTime(async () => {
      await revoke(who);
      await eventually(async () => expect(await seen(id)).toMatchObject(refused));
      await bench.upstream.until(({ openStreams }) => openStreams === 0, withinMs);
    });
    const next = await bench.created({ previous_response_id: id });
    expect(next).toMatchObject({ status: 'completed', conversation: (await seen(id)).conversation });
  });

  it('fails also where it waits for its thread, and what holds the thread goes on', async () => {
    const who = await otherKey();
    bench.upstream.next(noAnswer);
    const { id: first, conversation } = await background(bench.ann);
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    const { id: second } = await background(who, { conversation: conversation.id });
    await inTime(async () => {
      await revoke(who);
      await eventually(async () => expect(await seen(second)).toMatchObject(refused));
    });
    expect(await seen(first)).toMatchObject({ status: 'in_progress' });
    await bench.ann.post(`${responsesPath}/${first}/cancel`);
  });

  it('is not started when its turn comes after a revocation whose signal was lost', async () => {
    const who = await otherKey();
    bench.upstream.next(noAnswer);
    const { id: first, conversation } = await background(bench.ann);
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    const { id: second } = await background(who, { conversation: conversation.id });
    await bench.service.deps.storage.db.pool.query('update api_keys set "revokedAt" = now() where id = $1', [who.keyId]);
    await bench.ann.post(`${responsesPath}/${first}/cancel`);
    await eventually(async () => expect(await seen(second)).toMatchObject(refused));
    expect(bench.upstream.requests).toHaveLength(1);
  });

  it('is one of a chat', async () => {
    const who = await otherKey();
    const agent = await bench.make.agent({ owner: bench.ann, modelId: testModel });
    const { body: chat } = await bench.ann.post(`/api/v1/ais/${agent.id}/chats`, {});
    bench.upstream.next(noAnswer);
    const asking = who.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    await revoke(who);
    expect(await asking).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
    await eventually(async () => {
      const again = await bench.ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
      expect(again).toMatchObject({ status: 200, body: { status: 'completed' } });
    });
  });

  it('goes on under the key that resumed it', async () => {
    const who = await otherKey();
    bench.upstream.next(noAnswer);
    const { id } = await background(who);
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    await who.post(`${responsesPath}/${id}/pause`);
    await revoke(who);
    const resumed = await bench.ann.post(`${responsesPath}/${id}/resume`, {});
    expect(resumed).toMatchObject({ status: 200, body: { id, status: 'completed', error: null } });
  });

  it('fails when the user is taken out of the organization', async () => {
    const leaver = await bench.make.person();
    bench.upstream.next(noAnswer);
    const { id } = await background(leaver);
    await bench.upstream.until(({ openStreams }) => openStreams === 1);
    const { pool } = bench.service.deps.storage.db;
    await pool.query('delete from memberships where "userId" = $1', [leaver.userId]);
    const find = async () => (await bench.service.deps.storage.conversations.runs.find(id))?.error?.code;
    await inTime(() => eventually(async () => expect(await find()).toBe('INVALID_API_KEY')));
  });
});

it('an expired key ends streams, not runs that end by themselves', async () => {
  const {
    db,
    signals,
    people: { apiKeys },
  } = bench.service.deps.storage;
  const who = await otherKey();
  let isRevoked = false;
  const ended = new Promise<void>((resolve) => apiKeys.watch(who.keyId, resolve));
  const revoked = new Promise<void>((resolve) => {
    apiKeys.watchRevocation(who.keyId, () => {
      isRevoked = true;
      resolve();
    });
  });
  await db.pool.query('update api_keys set "expiresAt" = now() where id = $1', [who.keyId]);
  signals.publish('key-changed', who.keyId);
  await ended;
  expect(isRevoked).toBe(false);
  await revoke(who);
  await revoked;
});
