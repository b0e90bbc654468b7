import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Reply, TestClient } from '../../support/client.ts';
import { makeFor, type Person } from '../../support/make.ts';
import { clusterLeaseMs } from '../../support/processes/cluster.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { startService, type TestService } from '../../support/service.ts';
import { copyOf, newFolder, type Place, testServerUrl } from '../../support/storage/databases.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

if (testServerUrl === undefined) {
  console.info('Limits over several instances are tested on a server only: set TEST_DATABASE_URL.');
  it('the embedded database belongs to one process', () => expect(testServerUrl).toBeUndefined());
} else describe('limits over two instances on one database', limitsOverTwoInstances);

function limitsOverTwoInstances(): void {
  /** As for runs: a slow process keeps its reservations. */
  const leaseMs = clusterLeaseMs;
  let place: Place;
  let upstream: Upstream;
  let one: TestService;
  let two: TestService;
  let ann: Person;
  let annAtTwo: TestClient;
  let annAtThree: TestClient;
  let three: TestService;

  const folder = newFolder();
  const models = join(folder, 'models.json');

  beforeAll(async () => {
    const price = { inputPerMillionTokens: 1_000, outputPerMillionTokens: 2_000 };
    writeFileSync(models, JSON.stringify({ prices: { 'openai/test-model': price } }));
    place = await copyOf(inject('template'));
    upstream = await startUpstream();
    one = await startService({ env: env() });
    two = await startService({ env: env() });
    three = await startService({ env: env() });
  });
  beforeEach(async () => {
    upstream.reset();
    upstream.otherwise({ text: 'Hello', usage: { prompt_tokens: 10, completion_tokens: 5 }, headDelayMs: 20 });
    ann = await makeFor(one).person();
    annAtTwo = two.client(ann.key);
    annAtThree = three.client(ann.key);
  });
  afterAll(async () => {
    await killProcesses();
    await Promise.all([one.close(), two.close(), three.close()]);
    await upstream.close();
    await place.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  function env(): Record<string, string> {
    const { DATA_DIR: _own, ...shared } = place.env;
    const lease = { MODEL_RETRIES_MAX: '0', USAGE_LEASE_MS: String(leaseMs) };
    return { ...shared, OPENAI_BASE_URL: upstream.url, MODELS_FILE: models, ...lease };
  }
  const ask = (who: TestClient): Promise<Reply> =>
    who.post('/api/v1/chat/completions', {
      model: 'openai/test-model',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 10,
    });
  const limit = async (apiUsageTokenLimit: number | null) =>
    expect((await one.client().patch(`/api/v1/admin/organizations/${ann.orgId}`, { apiUsageTokenLimit })).status).toBe(200);
  const usedAt = async (who: TestClient) => (await who.get('/api/v1/usage')).body.orgUsage.apiTokensUsed as number;

  it('one limit holds for both, whatever each of them took in advance', async () => {
    await limit(3_000);
    let good = 0;
    for (let round = 0; round < 12; round += 1) {
      const replies = await Promise.all(Array.from({ length: 24 }, (_, index) => ask(index % 2 === 0 ? ann : annAtTwo)));
      expect(replies.every(({ status }) => status === 200 || status === 429)).toBe(true);
      good += replies.filter(({ status }) => status === 200).length;
    }
    expect(good * 15).toBeLessThanOrEqual(3_000);
    await eventually(async () => expect(await usedAt(annAtTwo)).toBe(good * 15));
    // Unused reservations of one instance return, and either instance may use them.
    await eventually(async () => {
      while ((await ask(annAtTwo)).status === 200) good += 1;
      expect(good * 15).toBeGreaterThan(3_000 - 2 * 30);
    });
    expect(good * 15).toBeLessThanOrEqual(3_000);
  });

  it('a budget for three calls admits three of 64 at one time, over three instances', async () => {
    const outputTokens = 16;
    const question = { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }], max_tokens: outputTokens };
    const call = (who: TestClient) => who.post('/api/v1/chat/completions', question);
    // What one call needs: with one token less it is refused. An answer is never cut to less than 16 tokens.
    let [refused, admitted] = [0, 1_000];
    while (admitted - refused > 1) {
      const tokens = Math.floor((refused + admitted) / 2);
      await limit((await usedAt(ann)) + tokens);
      const { status } = await call(ann);
      if (status === 200) admitted = tokens;
      else refused = tokens;
      const spent = upstream.requests.length * 15;
      await eventually(async () => expect(await usedAt(ann)).toBe(spent));
    }
    const before = await usedAt(ann);
    const asked = upstream.requests.length;
    const gate = Promise.withResolvers<void>();
    const usage = { prompt_tokens: admitted - outputTokens, completion_tokens: outputTokens };
    upstream.otherwise({ text: 'Hello', usage, gate: gate.promise });
    await limit(before + 3 * admitted);
    // Each instance knows the new limit.
    await eventually(async () => {
      for (const who of [ann, annAtTwo, annAtThree]) {
        const { body } = await who.get('/api/v1/usage');
        expect(body.orgUsage.apiUsageTokenLimit).toBe(before + 3 * admitted);
      }
    });
    const statuses: number[] = [];
    const calls = Array.from({ length: 64 }, async (_, index) => {
      const { status } = await call([ann, annAtTwo, annAtThree][index % 3] ?? ann);
      statuses.push(status);
    });
    // The three wait for the model until all others have their answer.
    await eventually(() => expect(statuses).toHaveLength(61));
    gate.resolve();
    await Promise.all(calls);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 429)).toHaveLength(61);
    expect(upstream.requests.length - asked).toBe(3);
    await eventually(async () => expect(await usedAt(annAtTwo)).toBe(before + 3 * admitted));
    expect((await call(annAtThree)).status).toBe(429);
  });

  it.each(['ORGANIZATION', 'GROUP', 'USER', 'KEY', 'AGENT'] as const)(
    'a budget in money for three calls admits three of 64 at one time, over three instances: of %s',
    async (subject) => {
      const make = makeFor(one);
      const admin = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, role: 'ADMIN' });
      const agent = await make.agent({ owner: ann, modelId: 'openai/test-model' });
      const group = await admin.post('/api/v1/groups', { name: 'Team', availability: 'EVERYONE', memberEmails: ann.email });
      const key = await make.withKey(ann, {});
      const subjectId = { ORGANIZATION: ann.orgId, GROUP: group.body.id, USER: ann.userId, KEY: key.keyId, AGENT: agent.id }[
        subject
      ];
      const callers = [key, two.client(key.key), three.client(key.key)] as const;
      const set = async (input: object) => {
        const { status, body } = await admin.put('/api/v1/admin/budgets', input);
        expect(status).toBe(200);
        return body.id as string;
      };
      const budget = (limit: number) => set({ subject, subjectId, period: 'MONTH', unit: 'MONEY', limit });
      const usedOf = async (id: string) => (await admin.get(`/api/v1/admin/budgets/${id}`)).body.used as number;
      const call = (who: TestClient) =>
        who.post('/api/v1/chat/completions', {
          model: subject === 'AGENT' ? agent.id : 'openai/test-model',
          messages: [{ role: 'user', content: 'Hi' }],
          max_tokens: 16,
        });
      // A token of input costs 0.001, one of output 0.002; an answer is never cut to less than 16 tokens.
      let [refused, admitted, calls] = [0, 1_000, 0];
      while (admitted - refused > 1) {
        const units = Math.floor((refused + admitted) / 2);
        const id = await budget(calls * 0.02 + units / 1_000);
        const { status } = await call(key);
        if (status === 200) [admitted, calls] = [units, calls + 1];
        else refused = units;
        await eventually(async () => expect(await usedOf(id)).toBeCloseTo(calls * 0.02, 6));
      }
      const asked = upstream.requests.length;
      const gate = Promise.withResolvers<void>();
      const usage = { prompt_tokens: admitted - 2 * 16, completion_tokens: 16 };
      upstream.otherwise({ text: 'Hello', usage, gate: gate.promise });
      const whole = calls * 0.02 + (3 * admitted) / 1_000;
      const id = await budget(whole);
      // Each instance knows the new budget once it knows a wide one that was set behind it.
      const wide = await set({ subject: 'ORGANIZATION', period: 'DAY', unit: 'TOKENS', limit: 1_000_000 });
      await eventually(async () => {
        for (const who of callers) {
          const { data } = (await who.get('/api/v1/usage/budgets')).body;
          expect(data.map((row: { id: string }) => row.id)).toContain(wide);
        }
      });
      const statuses: number[] = [];
      const all = Array.from({ length: 64 }, async (_, index) => {
        statuses.push((await call(callers[index % 3] ?? key)).status);
      });
      await eventually(() => expect(statuses).toHaveLength(61));
      gate.resolve();
      await Promise.all(all);
      expect(statuses.filter((status) => status === 200)).toHaveLength(3);
      expect(upstream.requests.length - asked).toBe(3);
      await eventually(async () => expect(await usedOf(id)).toBeCloseTo(whole, 6));
      expect((await call(callers[2])).status).toBe(429);
    },
  );

  it('a limit set at one is felt at the other within a second', async () => {
    expect((await ask(annAtTwo)).status).toBe(200);
    await limit(0);
    await eventually(async () => expect((await ask(annAtTwo)).status).toBe(429), 1_000);
    await limit(null);
    await eventually(async () => expect((await ask(annAtTwo)).status).toBe(200), 1_000);
  });

  it('what a process held that was killed is free again after its lease', async () => {
    await limit(400);
    const dataFolder = newFolder();
    const third = startProcess({ ...env(), DATA_DIR: dataFolder, PARLEY_ADMIN_KEY: one.adminKey });
    const url = await third.url();
    upstream.next({ hangAtByte: 0 });
    const hanging = fetch(`${url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 350 }),
    }).catch(() => undefined);
    await upstream.until(({ requests }) => requests.length === 1);
    const wide = () =>
      ann.post('/api/v1/chat/completions', {
        model: 'openai/test-model',
        messages: [{ role: 'user', content: 'Hi' }],
        max_tokens: 350,
      });
    const narrow = await wide();
    // Only what the third instance has not reserved is left: the answer is cut to it, or refused.
    const asked = Number(upstream.requests[1]?.body?.max_tokens ?? upstream.requests[1]?.body?.max_completion_tokens ?? 0);
    expect(narrow.status === 429 || asked < 350).toBe(true);
    await third.kill('SIGKILL');
    await hanging;
    rmSync(dataFolder, { recursive: true, force: true });
    await eventually(async () => {
      upstream.reset();
      expect((await wide()).status).toBe(200);
      const most = upstream.requests[0]?.body?.max_tokens ?? upstream.requests[0]?.body?.max_completion_tokens;
      expect(most).toBe(350);
    }, leaseMs + 10_000);
  });
}
