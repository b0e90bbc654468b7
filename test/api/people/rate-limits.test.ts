import { connect } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Reply, TestClient } from '../../support/client.ts';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { ResponseSocket } from '../../support/runs/responses.ts';
import { withService } from '../../support/service.ts';

const ofKey = 30;
const ofOrganization = 60;
const ofAddress = 20;
const { service, make } = await withService('plain', {
  env: {
    RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: String(ofKey),
    RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION: String(ofOrganization),
    RATE_LIMIT_FAILED_KEYS_PER_MINUTE_ADDRESS: String(ofAddress),
  },
});
let ann: Person;

beforeEach(async () => {
  ann = await make.person();
});

interface Asked {
  readonly allowed: number;
  readonly refused: Reply;
  readonly grown: number;
}

/** The requests that the elapsed time allows in addition. */
const grownSince = (startedMs: number, perMinute: number) => ((performance.now() - startedMs) / 60_000) * perMinute + 1;

/** Sends requests until one is refused. */
async function exhaust(ask: () => Promise<Reply>, perMinute: number): Promise<Asked> {
  const startedMs = performance.now();
  for (let allowed = 0; ; allowed += 1) {
    const reply = await ask();
    if (reply.status === 429) return { allowed, refused: reply, grown: grownSince(startedMs, perMinute) };
  }
}

function expectAbout({ allowed, grown }: Pick<Asked, 'allowed' | 'grown'>, limit: number): void {
  expect(allowed).toBeGreaterThanOrEqual(limit);
  expect(allowed).toBeLessThanOrEqual(limit + grown);
}

const rest = (who: TestClient) => who.get('/api/v1/users/me');
const graphql = (who: TestClient) => who.post('/graphql', { query: '{ viewer { keyId } }' });

describe('a key', () => {
  it.each([
    ['REST', rest],
    ['GraphQL', graphql],
  ])('may make so many requests a minute over %s, and is told what is left', async (_api, ask) => {
    const first = await ask(ann);
    const { headers } = first;
    expect(first.status).not.toBe(429);
    expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual(['30', '29']);
    expect(Number(headers.get('x-ratelimit-reset'))).toBeLessThanOrEqual(2);
    expect(headers.get('x-ratelimit-limit-requests')).toBe('30');
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('29');
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^[0-2]s$/);
    const asked = await exhaust(() => ask(ann), ofKey);
    expectAbout(asked, ofKey - 1);
    const { refused } = asked;
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60 / ofKey);
    expect(JSON.stringify(refused.body).toLowerCase()).toContain('rate_limit_exceeded');
    expect(JSON.stringify(refused.body)).toContain('This key may make 30 requests a minute');
  });

  it('pays for an operation of GraphQL by its cost, so that fifty searches are not one request', async () => {
    const leftAfter = async (query: string) => {
      const { status, headers } = await ann.post('/graphql', { query });
      expect(status).toBe(200);
      return Number(headers.get('x-ratelimit-remaining'));
    };
    const fifty = (field: string) => `{ ${Array.from({ length: 50 }, (_, index) => `a${index}: ${field}`).join(' ')} }`;
    const startedMs = performance.now();
    const left = [
      await leftAfter('{ agents(first: 20) { nodes { id name } } }'),
      await leftAfter(fifty('agents(first: 20) { nodes { id name } }')),
      await leftAfter(fifty('search(query: "store") { __typename }')),
      await leftAfter(fifty('nodes(ids: ["ai_1", "ds_1", "chat_1"]) { id }')),
    ];
    const grown = grownSince(startedMs, ofKey);
    for (const [index, paid] of [29, 27, 23, 22].entries()) {
      expect(left[index]).toBeGreaterThanOrEqual(paid);
      expect(left[index]).toBeLessThanOrEqual(paid + grown);
    }
  });

  it('is refused an operation that costs more than what is left, before it runs', async () => {
    const left = ({ headers }: Reply) => Number(headers.get('x-ratelimit-remaining'));
    const nameOf = async () => (await (await make.withKey(ann, {})).get('/api/v1/users/me')).body.name;
    let attempt = 0;
    // A busy machine may take the seconds after which further requests are allowed: then once more, with another name.
    await eventually(async () => {
      attempt += 1;
      const name = `Late ${attempt}`;
      while (left(await rest(ann)) > 1);
      const fields = Array.from(
        { length: 20 },
        (_, index) =>
          `a${index}: updateUser(id: "${ann.userId}", input: { name: "${name}" }) { groups(first: 100) { nodes { id name } } }`,
      );
      const refused = await ann.post('/graphql', { query: `mutation { ${fields.join(' ')} }` });
      expect(JSON.stringify(refused.body)).toMatch(/the operation counts as [2-9] requests by its cost/);
      expect(refused).toMatchObject({ status: 429, body: { errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }] } });
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]/);
      expect(await nameOf()).not.toBe(name);
    });
  });

  it('is refused before its body is read', async () => {
    // A busy machine may take the two seconds after which one more request is allowed: then once more.
    await eventually(async () => {
      await exhaust(() => rest(ann), ofKey);
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      let answer = '';
      socket.setEncoding('latin1').on('data', (text: string) => {
        answer += text;
      });
      socket.on('error', () => undefined);
      socket.write(
        `POST /api/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ann.key}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`,
      );
      const isRefused = () => expect(answer).toMatch(/^HTTP\/1.1 429 [\s\S]*rate_limit_exceeded/);
      await eventually(isRefused, 1_000).finally(() => socket.destroy());
    });
  });

  it('has its messages over a WebSocket counted', async () => {
    const startedMs = performance.now();
    const socket = await ResponseSocket.connect(service.url, ann.key);
    let allowed = 0;
    for (;;) {
      const [event] = await socket.ask({ input: 7 });
      if (event.code === 'rate_limit_exceeded') break;
      allowed += 1;
    }
    expect(allowed).toBeGreaterThanOrEqual(ofKey - 1);
    socket.close();
    allowed += (await exhaust(() => rest(ann), ofKey)).allowed;
    expectAbout({ allowed, grown: grownSince(startedMs, ofKey) }, ofKey - 1);
  });

  it('has the opening of a WebSocket counted', async () => {
    await exhaust(() => rest(ann), ofKey);
    await expect(ResponseSocket.connect(service.url, ann.key)).rejects.toThrow('429');
  });

  it('leaves others alone', async () => {
    await exhaust(() => rest(ann), ofKey);
    expect((await rest(await make.person())).status).not.toBe(429);
    expect((await rest(await make.withKey(ann, {}))).status).not.toBe(429);
  });
});

it('an organization may make so many requests a minute, however many keys it has', async () => {
  const keys = [ann, ...(await Promise.all(Array.from({ length: 9 }, () => make.withKey(ann, {}))))];
  let turn = 0;
  const ask = () => {
    turn += 1;
    return rest(keys[turn % keys.length] ?? ann);
  };
  const asked = await exhaust(ask, ofOrganization);
  expectAbout(asked, ofOrganization);
  expect(JSON.stringify(asked.refused.body)).toContain('This organization may make 60 requests a minute');
});

it('an address that tries keys is refused after some, and keys that are known go on', async () => {
  // Its organization has not used its requests up, as the tests above did with others.
  const known = await make.person();
  expect((await rest(known)).status).not.toBe(429);
  let tried = 0;
  const mistyped = `${known.key.slice(0, -1)}${known.key.endsWith('0') ? '1' : '0'}`;
  const tries = [service.nobody, service.client(mistyped), service.client('pk_wrong')] as const;
  const asked = await exhaust(async () => {
    tried += 1;
    const reply = await rest(tries[tried % 3] ?? service.nobody);
    expect([401, 429]).toContain(reply.status);
    return reply;
  }, ofAddress);
  expectAbout(asked, ofAddress);
  expect(Number(asked.refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect((await rest(known)).status).not.toBe(429);
  await expect.poll(async () => (await rest(service.nobody)).status, { timeout: 60_000, interval: 200 }).toBe(401);
});
