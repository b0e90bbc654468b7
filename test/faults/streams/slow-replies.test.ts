import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RawClient } from '../../support/apis/raw-request.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { startService, type TestService } from '../../support/service.ts';
import { startUpstream } from '../../support/upstream.ts';

const MiB = 1024 * 1024;
/** More than the machine buffers for both ends of a connection. */
const largeBytes = 24 * MiB;
const instructionsBytes = 400_000;
const agentsCount = Math.ceil(largeBytes / instructionsBytes);
const pipelinedMax = 50;
const settings = {
  CHAT_FILE_MAX_BYTES: String(2 * largeBytes),
  LIST_PAGE_MAX_BYTES: String(2 * largeBytes),
  PIPELINED_REQUESTS_MAX: String(pipelinedMax),
};
const list = '/api/v1/ais?limit=100';
const query = JSON.stringify({ query: '{ agents(first: 100) { nodes { id instructions } } }' });

function get(path: string, key?: string, extra: readonly string[] = []): string {
  const lines = [`GET ${path} HTTP/1.1`, 'host: parley', ...extra];
  if (key !== undefined) lines.push(`authorization: Bearer ${key}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A person with a long list of agents. */
async function personWithAgents(service: TestService): Promise<Person> {
  const make = makeFor(service);
  const owner = await make.person();
  const instructions = 'x'.repeat(instructionsBytes);
  for (let made = 0; made < agentsCount; made += 1) await make.agent({ owner, instructions });
  return owner;
}

/** Sends bytes, and does not read the reply. */
function unread(service: TestService, text: string): RawClient {
  const client = new RawClient(service.url);
  client.socket.pause();
  client.socket.write(text);
  return client;
}

async function unsentBytes(service: TestService): Promise<number> {
  const { body } = await service.nobody.get('/metrics');
  return Number(/^parley_replies_unsent_bytes (\S+)/m.exec(body)?.[1]);
}

describe('a client that does not read', () => {
  let service: TestService;
  let ann: Person;
  let content: string;
  const lines: string[] = [];
  beforeAll(async () => {
    const env = { ...settings, SSE_STALL_TIMEOUT_MS: '1000', LOG_LEVEL: 'info' };
    service = await startService({ env, onLog: (line) => lines.push(line) });
    ann = await personWithAgents(service);
    const make = makeFor(service);
    const agent = await make.agent({ owner: ann });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(largeBytes)]), 'large.bin');
    const { body } = await ann.post(`/api/v1/chats/${chat.id}/files`, form);
    content = `/api/v1/chats/${chat.id}/files/${body.id}/content`;
  });
  afterAll(() => service.close());

  const graphql = () =>
    `POST /graphql HTTP/1.1\r\nhost: parley\r\nauthorization: Bearer ${ann.key}\r\ncontent-type: application/json\r\ncontent-length: ${query.length}\r\n\r\n${query}`;
  it.each<[string, string, () => string]>([
    ['a list', list, () => get(list, ann.key)],
    ['a result of GraphQL', '/graphql', graphql],
    ['a download', '/content', () => get(content, ann.key)],
    // Each reply is smaller than the buffers of a connection, so many are requested.
    ['pages', '/docs/swagger-ui-bundle.js', () => get('/docs/swagger-ui-bundle.js').repeat(pipelinedMax)],
    ['descriptions', '/openapi.json', () => get('/openapi.json').repeat(pipelinedMax)],
  ])('is cut off in %s, and the log says so', async (_kind, path, request) => {
    const seen = lines.length;
    const client = unread(service, request());
    await eventually(() => {
      const logged = lines.slice(seen).join('').split('\n');
      const cut = logged.filter((line) => line.includes('"aborted"') && line.includes(path.split('?')[0] ?? ''));
      expect(cut.map((line) => JSON.parse(line)).map(({ status, aborted }) => [status, aborted])).toEqual([[499, 'stalled']]);
    });
    client.leave();
    await eventually(async () => expect(await unsentBytes(service)).toBe(0));
  });

  it('but slowly is served to the end', async () => {
    const client = new RawClient(service.url);
    let seenBytes = 0;
    client.socket.on('data', (chunk: Buffer) => {
      seenBytes += chunk.length;
      client.socket.pause();
      setImmediate(() => client.socket.resume());
    });
    client.socket.write(get(list, ann.key, ['connection: close']));
    await eventually(() => expect(client.socket.closed).toBe(true));
    expect(seenBytes).toBeGreaterThan(largeBytes);
  });

  it('a client that leaves in mid-reply is logged as one that left', async () => {
    const seen = lines.length;
    const client = unread(service, get(list, ann.key));
    await eventually(async () => expect(await unsentBytes(service)).toBeGreaterThan(0));
    client.leave();
    await eventually(() => {
      const cut = lines
        .slice(seen)
        .join('')
        .split('\n')
        .find((line) => line.includes('"aborted"'));
      expect(JSON.parse(cut ?? '{}')).toMatchObject({ status: 499, aborted: 'client' });
    });
  });
});

describe('of a service with long time limits', () => {
  let service: TestService;
  let ann: Person;
  let bob: Person;
  let clients: RawClient[] = [];
  beforeAll(async () => {
    const env = { ...settings, SSE_STALL_TIMEOUT_MS: '600000', REPLIES_UNSENT_MAX_BYTES: String(3 * largeBytes) };
    service = await startService({ env });
    ann = await personWithAgents(service);
    bob = await personWithAgents(service);
  });
  afterAll(async () => {
    for (const client of clients) client.leave();
    await service.close();
  });

  it('requests that are sent at once are answered in turn, and only one reply waits', async () => {
    const count = 20;
    const requests = Array.from({ length: count }, (_, index) => get(list, ann.key, [`x-request-id: turn-${index}`]));
    const client = unread(service, requests.join(''));
    let mostBytes = 0;
    await eventually(async () => {
      mostBytes = Math.max(mostBytes, await unsentBytes(service));
      expect(mostBytes).toBeGreaterThan(0);
    });
    for (let look = 0; look < 20; look += 1) mostBytes = Math.max(mostBytes, await unsentBytes(service));
    expect(mostBytes).toBeLessThan(2 * largeBytes);
    const turns: string[] = [];
    client.socket.on('data', (chunk: Buffer) => {
      for (const [, turn] of chunk.toString('latin1').matchAll(/x-request-id: turn-(\d+)/g)) turns.push(String(turn));
    });
    client.socket.resume();
    await eventually(() => expect(turns.length).toBe(count));
    expect(turns).toEqual(Array.from({ length: count }, (_, index) => String(index)));
    client.leave();
    await eventually(async () => expect(await unsentBytes(service)).toBe(0));
  });

  it('a connection with more requests than may wait is closed', async () => {
    const allowed = new RawClient(service.url);
    allowed.socket.write(get('/healthz').repeat(pipelinedMax) + get('/healthz', undefined, ['connection: close']));
    expect((await allowed.rest()).match(/HTTP\/1\.1 200/g)).toHaveLength(pipelinedMax + 1);
    const greedy = new RawClient(service.url);
    greedy.socket.write(get('/healthz').repeat(4 * pipelinedMax));
    expect((await greedy.rest()).match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThan(4 * pipelinedMax);
  });

  it('an organization with many unread bytes is refused further replies, and others are not', async () => {
    const refusal = await eventually(async () => {
      clients.push(unread(service, get(list, ann.key)));
      const reply = await ann.get(list);
      if (clients.length > 30) throw new Error('nothing is refused', { cause: 'final' });
      expect(reply.status).toBe(503);
      return reply;
    });
    expect([refusal.body.error.code, refusal.headers.get('retry-after')]).toEqual(['overloaded', '1']);
    expect((await bob.get(list)).status).toBe(200);
    for (const client of clients) client.leave();
    clients = [];
    await eventually(async () => expect((await ann.get(list)).status).toBe(200));
  });
});

describe('of replies that may not be refused, because asking again would do their work twice', () => {
  it('too many unread bytes end those whose clients read nothing, long before they count as stalled', async () => {
    const upstream = await startUpstream();
    const answerChars = 12 * MiB;
    upstream.otherwise({ text: 'x'.repeat(answerChars) });
    const env = {
      ...{ OPENAI_BASE_URL: upstream.url, SSE_STALL_TIMEOUT_MS: '600000', REPLIES_UNSENT_MAX_BYTES: String(16 * MiB) },
      ...{ ANSWER_MAX_CHARS: String(2 * answerChars), MODEL_BODY_MAX_BYTES: String(4 * answerChars) },
    };
    const service = await startService({ env });
    const body = JSON.stringify({ model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }] });
    const head = `POST /api/v1/chat/completions HTTP/1.1\r\nhost: parley\r\nauthorization: Bearer ${service.adminKey}\r\n`;
    const request = `${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const clients = Array.from({ length: 4 }, () => unread(service, request));
    await eventually(() => expect(upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(4));
    await eventually(async () => expect(await unsentBytes(service)).toBeGreaterThan(0));
    await eventually(async () => expect(await unsentBytes(service)).toBeLessThanOrEqual(8 * MiB));
    // Who reads is answered meanwhile.
    expect((await service.client().get('/api/v1/models')).status).toBe(200);
    for (const client of clients) client.leave();
    await service.close();
    await upstream.close();
  });
});

it('every complete body in memory is sent by code that counts it', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const senders = files.filter((path) => /\bres\.(end|write)\([^)\s]/.test(readFileSync(join('src', path), 'utf8')));
  // The event stream waits for its reader itself.
  expect(senders.sort()).toEqual(['http/reply/reply.ts', 'http/reply/sse.ts']);
});
