import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestClient } from '../../support/client.ts';
import { type ApiRequest, type ApiServer, startApiServer } from '../../support/egress/api-server.ts';
import { type Cluster, clusterLeaseMs, type Instance, startCluster } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { testServerUrl } from '../../support/storage/databases.ts';
import { heldAnswer } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Tasks over several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('tasks of A2A when an instance is killed', tasksOfKilledInstances);

function tasksOfKilledInstances(): void {
  // biome-ignore lint/suspicious/noExplicitAny: what the protocol sends, of any shape; what is found in it is what is checked.
  type Wire = any;
  let cluster: Cluster;
  let hook: ApiServer;
  let a: Instance;
  let b: Instance;
  let agentId: string;

  beforeAll(async () => {
    cluster = await startCluster();
    hook = await startApiServer();
  });
  beforeEach(async () => {
    cluster.upstream.reset();
    hook.reset();
    [a, b] = await Promise.all([start(), start()]);
    const agent = { name: 'Desk', modelId: 'openai/test-model', src: '', description: 'x', instructions: 'x' };
    const { status, body } = await a.client().post('/api/v1/ais', agent);
    expect(status).toBe(200);
    agentId = body.id;
  });
  afterEach(() => Promise.all([a, b].map((instance) => instance.process.kill('SIGKILL'))));
  afterAll(async () => {
    await hook.close();
    await cluster.close();
  });

  const start = () => cluster.start({ EGRESS_ALLOW: '127.0.0.1' });
  async function rpc(who: TestClient, method: string, params: object): Promise<Wire> {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const reply = await who.call('POST', `/a2a/${agentId}`, body, { 'a2a-version': '1.0' });
    expect(reply.body.error).toBeUndefined();
    return reply.body.result;
  }
  /** Begins a task that tells the hook, and does not wait for it. */
  async function begin(who: TestClient): Promise<Wire> {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'When does it open?' }] };
    const config = { url: `${hook.url}/hook`, token: 'tok', authentication: { scheme: 'Bearer', credentials: 'of-mine' } };
    const configuration = { returnImmediately: true, taskPushNotificationConfig: config };
    return (await rpc(who, 'SendMessage', { message, configuration })).task;
  }
  const stateAt = async (who: TestClient, id: string) => (await rpc(who, 'GetTask', { id })).status.state as string;
  const updateIn = ({ body }: ApiRequest) => JSON.parse(body).statusUpdate;
  const stateTold = (request: ApiRequest) => updateIn(request).status.state as string;
  /** What the hook was told of a task. A killed instance may have told of an earlier test's task without noting it: that is told again. */
  const toldOf = ({ id }: Wire) => hook.requests.filter((request) => updateIn(request).taskId === id);

  it('go on at another one before the model has said anything, and are told of once', { timeout: 120_000 }, async () => {
    const gate = Promise.withResolvers<void>();
    cluster.upstream.next({ text: 'Lost', gate: gate.promise }, { text: 'At nine.' });
    const task = await begin(a.client());
    await cluster.upstream.until(({ requests }) => requests.length === 1);
    await a.process.kill('SIGKILL');
    gate.resolve();
    const states = async () => stateAt(b.client(), task.id);
    await eventually(async () => expect(await states()).toBe('TASK_STATE_COMPLETED'), clusterLeaseMs + 30_000);
    const done = await rpc(b.client(), 'GetTask', { id: task.id });
    expect(done).toMatchObject({ id: task.id, contextId: task.contextId });
    expect(done.artifacts.map(({ parts }: Wire) => parts[0].text)).toEqual(['At nine.']);
    await eventually(() => expect(toldOf(task).map(stateTold)).toEqual(['TASK_STATE_COMPLETED']), 20_000);
    expect(toldOf(task)[0]?.headers).toMatchObject({ authorization: 'Bearer of-mine', 'x-a2a-notification-token': 'tok' });
    // A task that was told of is told of no more: another one ends after it, and its notification is the next.
    cluster.upstream.next({ text: 'At ten.' });
    const next = await begin(b.client());
    await eventually(() => expect(toldOf(next)).toHaveLength(1), 20_000);
    expect(toldOf(task)).toHaveLength(1);
  });

  it('that have begun their answer fail with what was said of it, and are told of once', { timeout: 120_000 }, async () => {
    const { script, goOn } = heldAnswer({ text: ['At nine, ', 'or ', 'at ten.'] });
    cluster.upstream.next(script);
    const task = await begin(a.client());
    const said = async () => {
      const { artifacts = [] } = await rpc(b.client(), 'GetTask', { id: task.id });
      return artifacts.flatMap(({ parts }: Wire) => parts.map(({ text }: Wire) => text)).join('');
    };
    await eventually(async () => expect(await said()).toContain('At nine'), 20_000);
    await a.process.kill('SIGKILL');
    goOn();
    await eventually(() => expect(toldOf(task)).toHaveLength(1), clusterLeaseMs + 30_000);
    const done = await rpc(b.client(), 'GetTask', { id: task.id });
    expect(done.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{ text: expect.stringContaining('interrupted') }] },
    });
    expect(toldOf(task).map(stateTold)).toEqual(['TASK_STATE_FAILED']);
    expect(await said()).toBe('At nine, ');
  });

  it('are told of again by another one, under the same id, where the first notification was cut', {
    timeout: 180_000,
  }, async () => {
    let isDown = true;
    hook.answer(() => (isDown ? new Promise(() => {}) : { status: 204 }));
    cluster.upstream.next({ text: 'At nine.' });
    const task = await begin(a.client());
    await eventually(async () => expect(await stateAt(b.client(), task.id)).toBe('TASK_STATE_COMPLETED'), 20_000);
    await eventually(() => expect(toldOf(task).length).toBeGreaterThan(0), 20_000);
    // Either of them may send.
    await Promise.all([a, b].map((instance) => instance.process.kill('SIGKILL')));
    const before = toldOf(task).length;
    isDown = false;
    a = await start();
    await eventually(() => expect(toldOf(task).length).toBeGreaterThan(before), 120_000);
    const ids = toldOf(task).map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toMatch(/./);
    expect(new Set(ids).size).toBe(1);
    expect(stateTold(toldOf(task).at(-1) as ApiRequest)).toBe('TASK_STATE_COMPLETED');
  });
}
