import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from '../../../support/egress/dns-server.ts';
import { makeFor, type Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { startService, type TestService } from '../../../support/service.ts';
import { startUpstream, type Upstream } from '../../../support/upstream.ts';

const model = 'openai/test-model';
let dns: DnsServer;
let upstream: Upstream;
let service: TestService;
let greedy: Person;
let other: Person;
let chatIds: readonly string[];

beforeAll(async () => {
  [dns, upstream] = [await startDnsServer(() => 'silent'), await startUpstream()];
  const env = {
    // A host name, as operators use it: the system resolves it.
    OPENAI_BASE_URL: upstream.url.replace('127.0.0.1', 'localhost'),
    ...{ MODEL_RETRIES_MAX: '0', DEFAULT_MODEL: model, LOG_LEVEL: 'fatal' },
    ...{ EGRESS_DNS_SERVERS: dns.address, EGRESS_LOOKUP_TIMEOUT_MS: '3000', EGRESS_FETCH_TIMEOUT_MS: '3000' },
    EXTRACT_TEXT_MAX_CHARS: '100000',
  };
  service = await startService({ env });
  const make = makeFor(service);
  [greedy, other] = [await make.person(), await make.person()];
  const agent = await make.agent({ owner: greedy });
  chatIds = await Promise.all(Array.from({ length: 24 }, async () => (await make.chat({ owner: greedy, agentId: agent.id })).id));
});
afterAll(async () => {
  await service.close();
  await upstream.close();
  await dns.close();
});

describe('addresses in prompts', () => {
  it('whose names no server resolves end by themselves, and delay no other organization', async () => {
    let ended = 0;
    const stuck = chatIds.map(async (id, index) => {
      const prompt = [{ type: 'url', url: `http://silent-${index}.example/` }];
      const reply = await greedy.post(`/api/v1/chats/${id}/messages`, { prompt });
      ended += 1;
      return reply;
    });
    await eventually(() => expect(dns.questions.length).toBeGreaterThan(10));
    const reply = await other.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });
    expect(reply).toMatchObject({ status: 200 });
    expect(ended).toBe(0);
    for (const { status, body } of await Promise.all(stuck)) {
      expect([status, body.error.param]).toEqual([400, 'prompt[0].url']);
      expect(body.error.message).toMatch(/within 3000 ms/);
    }
  });
});

describe('the files of one request', () => {
  it('give no more text together than one document may', async () => {
    const file = { type: 'input_file', filename: 'a.txt', file_data: `data:text/plain;base64,${btoa('word '.repeat(14_000))}` };
    const create = (...content: object[]) =>
      other.post('/api/v2/responses', { model, store: false, input: [{ role: 'user', content }] });
    expect((await create(file)).status).toBe(200);
    expect(await create(file, file)).toMatchObject({
      status: 400,
      body: { error: { param: 'input[0].content[1].file_data', message: expect.stringContaining('100000 characters of text') } },
    });
  });
});
