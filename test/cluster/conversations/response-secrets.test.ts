import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { clusterLeaseMs } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import type { WireEvent } from '../../support/runs/response-walk.ts';
import { startService, type TestService } from '../../support/service.ts';
import { copyOf, type Place, testServerUrl } from '../../support/storage/databases.ts';
import { databaseText } from '../../support/storage/dump.ts';
import { never, startUpstream, type Upstream } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Secrets over several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('secrets of a request, over two instances', secretsOverTwoInstances);

function secretsOverTwoInstances(): void {
  const path = '/api/v2/responses';
  let place: Place;
  let upstream: Upstream;
  let api: ApiServer;
  let one: TestService;
  let two: TestService;
  let ann: Person;
  let annAtTwo: TestClient;
  let agentId: string;
  const planted: string[] = [];
  /** All requests to the model. */
  const asked: string[] = [];

  beforeAll(async () => {
    [place, upstream, api] = await Promise.all([copyOf(inject('template')), startUpstream(), startApiServer()]);
    [one, two] = [await startService({ env: env() }), await startService({ env: env() })];
    const make = makeFor(one);
    ann = await make.person();
    annAtTwo = two.client(ann.key);
    const agent = await make.agent({ owner: ann });
    agentId = agent.id;
    const data = {
      description: 'Looks into the CRM',
      method: 'GET',
      url: `${api.url}/crm`,
      headers: { 'X-Token': '{{secret:CRM_TOKEN}}' },
    };
    expect((await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'crm', type: 'API_FUNCTION', data })).status).toBe(200);
    // A request's secret wins over the agent's: otherwise the call would use another person's rights.
    const [row] = (await ann.get(`/api/v1/ais/${agentId}/secrets`)).body.data;
    await ann.patch(`/api/v1/ais/${agentId}/secrets/${row.id}`, { value: 'of-the-agent' });
  });
  beforeEach(() => {
    upstream.reset();
    upstream.otherwise({ text: 'Done.' });
    api.reset();
    api.answer(({ headers }) => ({ body: `you are ${headers['x-token']}` }));
  });
  afterEach(() => void asked.push(JSON.stringify(upstream.requests)));
  afterAll(async () => {
    await killProcesses();
    await Promise.all([one.close(), two.close(), upstream.close(), api.close()]);
    await place.remove();
  });

  function env(): Record<string, string> {
    const { DATA_DIR: _own, ...shared } = place.env;
    const model = { OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model', MODEL_RETRIES_MAX: '0' };
    return { ...shared, ...model, RUN_LEASE_MS: String(clusterLeaseMs), EGRESS_ALLOW: '127.0.0.1' };
  }
  const secret = (name: string) => {
    const value = `CANARY-${name}-0123456789abcdef`;
    planted.push(value);
    return { user_secrets: { CRM_TOKEN: value } };
  };
  const asksCrm = { toolCalls: [{ id: 'call_1', name: 'crm', arguments: '{}' }] };
  const create = async (who: TestClient, input: string, members: Record<string, unknown> = {}): Promise<WireEvent> =>
    (await who.post(path, { model: agentId, input, background: true, ...members })).body;
  const ended = (id: string, timeoutMs = 60_000) =>
    eventually(async () => {
      const { body } = await ann.get(`${path}/${id}`);
      expect(body.status).not.toBe('in_progress');
      return body as WireEvent;
    }, timeoutMs);
  const tokens = () => api.requests.map(({ headers }) => headers['x-token']);
  const gate = () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { open, opened };
  };
  /** A thread on which instance one works until `open` is called. */
  async function busyThread() {
    const { open, opened } = gate();
    upstream.next({ text: 'First.', gate: opened });
    const first = await create(ann, 'A');
    await upstream.until(({ requests }) => requests.length === 1);
    return { open, first, conversation: first.conversation.id as string };
  }

  it('a request that waited is begun by the instance that has its secrets', async () => {
    const { open, conversation } = await busyThread();
    const waiting = await create(annAtTwo, 'B', { conversation, ...secret('waiting') });
    upstream.next(asksCrm);
    open();
    const done = await ended(waiting.id);
    expect(done.status).toBe('completed');
    expect(tokens()).toEqual(['CANARY-waiting-0123456789abcdef']);
    expect(done.output.find((item: WireEvent) => item.type === 'server_tool_call_output').output).toBe('you are [secret]');
  });

  it('only requests with the same secrets are answered together', async () => {
    const { open, conversation } = await busyThread();
    const mine = secret('mine');
    const ids = [];
    for (const [who, members] of [
      [ann, mine],
      [ann, mine],
      [ann, secret('other')],
      [annAtTwo, secret('other')],
      [annAtTwo, {}],
    ] as const) {
      ids.push((await create(who, 'B', { conversation, ...members })).id);
    }
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe(ids[1]);
    upstream.next(asksCrm, { text: '1' }, asksCrm, { text: '2' }, asksCrm, { text: '3' }, asksCrm, { text: '4' });
    open();
    for (const id of ids) expect((await ended(id)).status).toBe('completed');
    expect(tokens()).toEqual([
      'CANARY-mine-0123456789abcdef',
      'CANARY-other-0123456789abcdef',
      'CANARY-other-0123456789abcdef',
      'of-the-agent',
    ]);
  });

  it('a steering request with secrets joins at the instance that works, and waits its turn at another', async () => {
    const { open, first, conversation } = await busyThread();
    const steer = { conversation, thread_mode: 'steer' };
    const there = await create(annAtTwo, 'B', { ...steer, ...secret('there') });
    expect(there.id).not.toBe(first.id);
    const here = await create(ann, 'C', { ...steer, ...secret('here') });
    expect(here.id).toBe(first.id);
    upstream.next(asksCrm, { text: 'C done' }, asksCrm, { text: 'B done' });
    open();
    for (const id of [first.id, there.id]) expect((await ended(id)).status).toBe('completed');
    expect(tokens()).toEqual(['CANARY-here-0123456789abcdef', 'CANARY-there-0123456789abcdef']);
  });

  it('resume takes them again, at any instance', async () => {
    upstream.next({ text: ['x ', 'x '], restGate: never });
    const response = await create(ann, 'A', secret('first'));
    await eventually(async () => expect((await annAtTwo.get(`${path}/${response.id}`)).body.output).toHaveLength(1));
    const pause = () => annAtTwo.post(`${path}/${response.id}/pause`);
    expect((await pause()).body.incomplete_details).toEqual({ reason: 'paused' });
    upstream.next(asksCrm, { text: ['y ', 'y '], restGate: never });
    await annAtTwo.post(`${path}/${response.id}/resume`, { background: true, ...secret('again') });
    await eventually(async () => expect((await ann.get(`${path}/${response.id}`)).body.output).toHaveLength(4));
    await pause();
    upstream.next(asksCrm);
    expect((await ann.post(`${path}/${response.id}/resume`, {})).body.status).toBe('completed');
    expect(tokens()).toEqual(['CANARY-again-0123456789abcdef', 'of-the-agent']);
  });

  it('when the instance that has them dies, the request ends with the reason; nothing is called with other secrets', async () => {
    const third = startProcess({ ...env(), DATA_DIR: place.env.DATA_DIR ?? '', LOG_LEVEL: 'trace' });
    const url = await third.url();
    const there = new TestClient(() => url, ann.key);
    const { open, conversation } = await busyThread();
    const waiting = await create(there, 'B', { conversation, ...secret('waits') });
    upstream.next({ gate: never });
    const begun = await create(there, 'C', secret('begun'));
    await upstream.until(({ requests }) => requests.length === 2);
    await third.kill('SIGKILL');
    open();
    upstream.otherwise(asksCrm);
    for (const { id } of [waiting, begun]) {
      expect(await ended(id, clusterLeaseMs + 10_000)).toMatchObject({
        status: 'failed',
        error: { code: 'server_error', message: expect.stringContaining('secrets of this request') },
        output: [],
      });
    }
    upstream.otherwise({ text: 'Done.' });
    expect(tokens()).toEqual([]);
    expect(third.output()).not.toContain('CANARY');
    const next = await create(ann, 'D', { conversation, background: false });
    expect(next.status).toBe('completed');
  });

  it('stand in no row of any table, and in nothing that the model is given', async () => {
    const text = await databaseText(one);
    expect(planted.length).toBeGreaterThan(8);
    for (const value of planted) expect(text).not.toContain(value);
    expect(text).not.toMatch(/CANARY|Q0FOQVJZ/);
    expect(asked.join()).toContain('you are [secret]');
    expect(asked.join()).not.toContain('CANARY');
  });
}
