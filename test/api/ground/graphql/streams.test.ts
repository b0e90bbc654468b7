import { request } from 'node:http';
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GraphqlFrame, startGraphqlFrame } from '../../../support/apis/graphql-frame.ts';
import { timed } from '../../../support/processes/clock.ts';
import { eventually } from '../../../support/processes/eventually.ts';

let frame: GraphqlFrame;
beforeAll(async () => {
  frame = await startGraphqlFrame({
    SSE_HEARTBEAT_MS: '200',
    SSE_STALL_TIMEOUT_MS: '1000',
    SUBSCRIPTIONS_PER_ORGANIZATION_MAX: '100',
  });
});
afterAll(() => frame.close());

const ticks = 'subscription ($input: TicksInput!) { ticks(input: $input) { value } }';
const valuesOf = (results: readonly { data?: { ticks: { value: number } } | null }[]) =>
  results.map((result) => result.data?.ticks.value);

describe.each([
  ['distinct connections', false],
  ['a single connection', true],
])('the graphql-sse client with %s', (_mode, singleConnection) => {
  const clientOf = (key: string) =>
    createClient({
      url: `${frame.url}/graphql/stream`,
      singleConnection,
      retryAttempts: 0,
      headers: { authorization: `Bearer ${key}` },
    });
  const collect = async (key: string, query: string, variables: Record<string, unknown> = {}) => {
    const client = clientOf(key);
    try {
      // biome-ignore lint/suspicious/noExplicitAny: results of any shape; what is found is what is checked.
      return await Array.fromAsync(client.iterate<any>({ query, variables }));
    } finally {
      client.dispose();
    }
  };

  it('follows a subscription to its end', async () => {
    expect(valuesOf(await collect('all', ticks, { input: { count: 5, batch: 2 } }))).toEqual([1, 2, 3, 4, 5]);
    await eventually(() => expect(frame.openSources()).toBe(0));
  });

  it('shows of each event what is selected: aliases, fragments, directives', async () => {
    const query = `subscription ($input: TicksInput!, $yes: Boolean!) {
      ticks(input: $input) { __typename first: value ...More ... @skip(if: $yes) { skipped: value } value @include(if: $yes) }
    } fragment More on Tick { second: value }`;
    const shown = (value: number) => ({ __typename: 'Tick', first: value, second: value, value });
    expect(await collect('all', query, { input: { count: 2, batch: 2 }, yes: true })).toEqual([
      { data: { ticks: shown(1) } },
      { data: { ticks: shown(2) } },
    ]);
  });

  it('shows the same where a document has too many ways to be read for a plan of each', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const query = `subscription ($input: TicksInput!, ${names.map((name) => `$${name}: Boolean!`).join(', ')}) {
      ticks(input: $input) { ${names.map((name) => `${name}: value @include(if: $${name})`).join(' ')} }
    }`;
    const variables = { input: { count: 2, batch: 1 }, a: true, b: false, c: true, d: false, e: true };
    expect(await collect('all', query, variables)).toEqual([
      { data: { ticks: { a: 1, c: 1, e: 1 } } },
      { data: { ticks: { a: 2, c: 2, e: 2 } } },
    ]);
  });

  it('runs queries and mutations too', async () => {
    expect(await collect('all', '{ hello }')).toEqual([{ data: { hello: 'world' } }]);
    expect(await collect('all', 'mutation { bump }')).toEqual([{ data: { bump: 1 } }]);
  });

  it('gets the reason of its refusal', async () => {
    const [result, ...rest] = await collect('all', 'subscription { refused { value } }');
    expect(rest).toEqual([]);
    expect(result?.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });

  it('gets a masked error and an end when its source fails', async () => {
    const results = await collect('all', 'subscription { broken { value } }');
    expect(results).toMatchObject([{ data: { broken: { value: 1 } } }, { errors: [{ extensions: { code: 'SERVER_ERROR' } }] }]);
    expect(JSON.stringify(results)).not.toContain('swordfish');
  });

  it('lets go of the source when it unsubscribes', async () => {
    const client = clientOf('all');
    for await (const _result of client.iterate({ query: ticks, variables: { input: { count: 1e9, everyMs: 5 } } })) break;
    await eventually(() => expect(frame.openSources()).toBe(0));
    client.dispose();
  });

  it('runs several at one time', async () => {
    const client = clientOf('all');
    const runs = [3, 4, 5].map((count) =>
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      Array.fromAsync(client.iterate<any>({ query: ticks, variables: { input: { count, everyMs: 5 } } })),
    );
    expect((await Promise.all(runs)).map(valuesOf)).toEqual([
      [1, 2, 3],
      [1, 2, 3, 4],
      [1, 2, 3, 4, 5],
    ]);
    client.dispose();
  });

  it('is ended with the reason when its key is revoked, and when the process stops', async () => {
    for (const [end, code] of [
      [() => frame.endKey(), 'INVALID_API_KEY'],
      [() => frame.stop(), 'OVERLOADED'],
    ] as const) {
      const following = collect('all', 'subscription { silent { value } }');
      await eventually(() => expect(frame.openSources()).toBe(1));
      end();
      expect((await following).at(-1)?.errors?.[0]?.extensions.code).toBe(code);
      await eventually(() => expect(frame.openSources()).toBe(0));
    }
  });
});

describe('plain SSE on /graphql', () => {
  it('streams a subscription', async () => {
    const results = await Array.fromAsync(frame.client('all').subscribe(ticks, { input: { count: 3 } }));
    expect(valuesOf(results)).toEqual([1, 2, 3]);
  });

  it('sends what arrived together in one write', async () => {
    const response = await frame
      .client('all')
      .fetch(
        'POST',
        '/graphql',
        { query: ticks, variables: { input: { count: 20, batch: 10, everyMs: 20 } } },
        { accept: 'text/event-stream' },
      );
    const pieces = (await Array.fromAsync(response.body ?? [])).map((piece) => Buffer.from(piece as Uint8Array).toString());
    expect(pieces.filter((piece) => piece.includes('event: next')).length).toBeLessThanOrEqual(2);
  });

  it('answers a client that takes no stream with 406', async () => {
    const reply = await frame
      .client('all')
      .post('/graphql', { query: ticks, variables: { input: { count: 1 } } }, { accept: 'application/json' });
    expect(reply).toMatchObject({ status: 406, body: { errors: [{ extensions: { code: 'NOT_ACCEPTABLE' } }] } });
  });

  it('is never silent for longer than the heartbeat', async () => {
    const controller = new AbortController();
    const response = await frame
      .client('all')
      .fetch(
        'POST',
        '/graphql',
        { query: 'subscription { silent { value } }' },
        { accept: 'text/event-stream' },
        controller.signal,
      );
    const reader = response.body?.getReader();
    for (let beats = 0; beats < 3; beats += 1) {
      const { result, elapsedMs } = await timed(async () => reader?.read());
      expect(Buffer.from(result?.value ?? []).toString()).toMatch(/^:/);
      expect(elapsedMs).toBeLessThan(400);
    }
    controller.abort();
    await eventually(() => expect(frame.openSources()).toBe(0));
  });

  it('runs no mutation by GET', async () => {
    const reply = await frame.client('all').get('/graphql?query=mutation%7Bbump%7D', { accept: 'text/event-stream' });
    expect(reply.status).toBe(405);
  });
});

describe('a client that vanishes', () => {
  function follow(path: string, variables: unknown) {
    const body = JSON.stringify({
      query: 'subscription ($input: TicksInput!) { ticks(input: $input) { text(size: 20000) } }',
      variables,
    });
    const headers = { authorization: 'Bearer all', accept: 'text/event-stream', 'content-type': 'application/json' };
    const call = request(`${frame.url}${path}`, { method: 'POST', headers });
    call.on('error', () => undefined);
    call.end(body);
    return call;
  }

  it.each(['/graphql', '/graphql/stream'])('in the middle of %s harms nobody', async (path) => {
    const calls = Array.from({ length: 20 }, () => follow(path, { input: { count: 1e9, everyMs: 1 } }));
    await eventually(() => expect(frame.openSources()).toBe(20));
    for (const call of calls) call.destroy();
    await eventually(() => expect(frame.openSources()).toBe(0));
    expect((await frame.client('all').graphql('{ hello }')).data).toEqual({ hello: 'world' });
  });

  it('or stops reading is cut off, and its source waits meanwhile', async () => {
    const call = follow('/graphql', { input: { count: 1e9, batch: 100 } });
    const closed = new Promise((resolve) =>
      call.on('response', (response) => {
        response.pause();
        response.on('close', resolve);
        response.on('error', () => undefined);
      }),
    );
    await eventually(() => expect(frame.openSources()).toBe(1));
    await eventually(() => expect(frame.openSources()).toBe(0));
    call.destroy();
    await closed;
  });
});

describe('reserved streams', () => {
  const reserve = async () => (await frame.client('all').call('PUT', '/graphql/stream')).body as string;
  /** A reserved stream on which an operation with this id began and was stopped before the stream was opened. */
  async function withStoppedOperation(id: string) {
    const token = await reserve();
    const headers = { 'x-graphql-event-stream-token': token };
    const start = (query: string, operationId: string) =>
      frame.client('all').post('/graphql/stream', { query, extensions: { operationId } }, headers);
    await start('subscription { ticks(input: { count: 3 }) { value } }', id);
    await frame.client('all').call('DELETE', `/graphql/stream?operationId=${id}`, undefined, headers);
    return { token, start };
  }

  it('belong to the key that made them', async () => {
    const token = { 'x-graphql-event-stream-token': await reserve() };
    const reply = await frame
      .client('other')
      .post('/graphql/stream', { query: '{ hello }', extensions: { operationId: 'a' } }, token);
    expect(reply.status).toBe(404);
  });

  it('are opened once', async () => {
    const path = `/graphql/stream?token=${await reserve()}`;
    const controller = new AbortController();
    const accept = { accept: 'text/event-stream' };
    expect((await frame.client('all').fetch('GET', path, undefined, accept, controller.signal)).status).toBe(200);
    expect((await frame.client('all').get(path, accept)).status).toBe(409);
    controller.abort();
    await eventually(async () => expect((await frame.client('all').get(path, accept)).status).toBe(404));
  });

  it('refuse an operation id in use, one that is missing, and a document that is wrong', async () => {
    const token = { 'x-graphql-event-stream-token': await reserve() };
    const start = (query: string, operationId?: string) =>
      frame.client('all').post('/graphql/stream', { query, extensions: { operationId } }, token);
    expect((await start('subscription { silent { value } }', 'a')).status).toBe(202);
    expect((await start('subscription { silent { value } }', 'a')).status).toBe(409);
    expect((await start('{ hello }')).status).toBe(400);
    expect((await start('{ nothing }', 'b')).body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect((await frame.client('all').call('DELETE', '/graphql/stream?operationId=a', undefined, token)).status).toBe(200);
    expect(await start('{ hello }', 'a')).toMatchObject({ status: 202 });
  });

  it('accept a reused id while the stopped operation with the same id is not yet sent', async () => {
    const { token, start } = await withStoppedOperation('a');
    expect((await start('subscription { silent { value } }', 'a')).status).toBe(202);
    await start('{ hello }', 'b');
    const frames: string[] = [];
    for await (const { event, data } of frame.client('all').sse('GET', `/graphql/stream?token=${token}`)) {
      frames.push(`${event} ${data}`);
      if (event === 'complete') break;
    }
    expect(frames).toEqual([expect.stringMatching(/^next .*"id":"b"/), 'complete {"id":"b"}']);
  });

  it('keep the operation that reuses an id', async () => {
    const { token, start } = await withStoppedOperation('a');
    await start('subscription { silent { value } }', 'a');
    const frames = frame.client('all').sse('GET', `/graphql/stream?token=${token}`);
    const opened = frames.next();
    await eventually(async () => expect((await start('{ hello }', 'b')).status).toBe(202));
    await opened;
    expect((await start('subscription { silent { value } }', 'a')).status).toBe(409);
    await frames.return(undefined);
  });

  it('are limited in number for one organization', async () => {
    const replies = await Promise.all(Array.from({ length: 101 }, () => frame.client('other').call('PUT', '/graphql/stream')));
    expect(replies.some(({ status }) => status === 429)).toBe(true);
  });
});
