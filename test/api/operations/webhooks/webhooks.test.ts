import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiRequest, startApiServer } from '../../../support/egress/api-server.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { databaseText } from '../../../support/storage/dump.ts';

const receiver = await startApiServer();
const log: string[] = [];
const { service, make, upstream } = await withService('model', {
  env: { DUE_LOOK_EVERY_MS: '100', LOG_LEVEL: 'debug' },
  onLog: (line) => void log.push(line),
});
afterAll(() => receiver.close());
let admin: Person;
/** Deliveries of earlier tests may come late: each test has a path of its own. */
let hook = '/hook';
beforeEach(async () => {
  receiver.reset();
  hook = `/hook-${crypto.randomUUID()}`;
  const organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
});

const createDocument =
  'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id events agentIds isEnabled } } }';
async function webhook(who: Person, more: object = {}): Promise<{ id: string; secret: string }> {
  const input = { url: `${receiver.url}${hook}`, events: ['RUN_ENDED'], ...more };
  const made = (await who.ask(createDocument, { input })).createWebhook;
  return { id: made.webhook.id, secret: made.secret };
}
async function deliveries(who: Person, id: string) {
  const found = await who.ask(
    `query ($id: ID!) { webhook(id: $id) { isEnabled disabledReason failingSince deliveries(first: 20) {
       totalCount nodes { id event status attempts nextAttemptAt body lastAnswer { at status bodyStart error } } } } }`,
    { id },
  );
  return found.webhook.deliveries.nodes;
}
const sent = (path = hook) => receiver.requests.filter((request) => request.path === path);
const verified = (secret: string, { body, headers }: ApiRequest) =>
  new Verifier(secret).verify(body, headers as Record<string, string>);
const { prisma } = service.deps.storage.db;
const due = (id: string, data: object = {}) =>
  prisma.webhookDelivery.updateMany({
    where: { webhookId: id, status: 'PENDING' },
    data: { ...data, nextAttemptAt: new Date(0) },
  });

describe('a webhook', () => {
  it('is told of the end of a run, signed as Standard Webhooks say, without a text of the chat', async () => {
    const { id, secret } = await webhook(admin);
    const agent = await make.agent({ owner: admin, modelId: 'openai/test-model' });
    const chat = await make.chat({ owner: admin, agentId: agent.id });
    upstream.next({ text: 'CANARY-answer' });
    await admin.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'CANARY-question' });
    const [request] = await eventually(() => {
      expect(sent()).toHaveLength(1);
      return sent();
    });
    if (request === undefined) throw new Error('nothing was sent');
    expect(verified(secret, request)).toMatchObject({
      type: 'run.ended',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: {
        runId: expect.stringMatching(/^run_/),
        status: 'completed',
        agentId: agent.id,
        chatId: chat.id,
        userId: admin.userId,
      },
    });
    expect(() => verified(`whsec_${Buffer.alloc(32).toString('base64')}`, request)).toThrow();
    expect(request.body).not.toContain('CANARY');
    await eventually(async () =>
      expect(await deliveries(admin, id)).toMatchObject([
        {
          event: 'run.ended',
          status: 'DELIVERED',
          attempts: 1,
          lastAnswer: { status: 200, bodyStart: '{"ok":true}', error: null },
        },
      ]),
    );
    expect((await deliveries(admin, id))[0].id).toBe(request.headers['webhook-id']);
  });

  it('is told of runs that are not stored and of failed ones, of its agents only', async () => {
    const mine = await make.agent({ owner: admin, modelId: 'openai/test-model' });
    const other = await make.agent({ owner: admin, modelId: 'openai/test-model' });
    const { id } = await webhook(admin, { agentIds: [mine.id] });
    upstream.next({ text: 'one' }, { status: 400, body: '{"error":{"message":"no"}}' });
    const messages = [{ role: 'user', content: 'hi' }];
    await admin.post('/api/v1/chat/completions', { model: mine.id, messages });
    await admin.post('/api/v1/chat/completions', { model: mine.id, messages });
    upstream.next({ text: 'three' });
    await admin.post('/api/v1/chat/completions', { model: other.id, messages });
    await eventually(async () => expect(await deliveries(admin, id)).toHaveLength(2));
    const bodies = (await deliveries(admin, id)).map(({ body }: { body: string }) => JSON.parse(body).data);
    expect(bodies.map(({ status }: { status: string }) => status).toSorted()).toEqual(['completed', 'failed']);
    expect(bodies.every(({ agentId }: { agentId: string }) => agentId === mine.id)).toBe(true);
  });

  it('of another organization is told nothing', async () => {
    const bob = await make.person({ role: 'ADMIN' });
    const { id } = await webhook(bob);
    const agent = await make.agent({ owner: admin, modelId: 'openai/test-model' });
    upstream.next({ text: 'one' });
    await admin.post('/api/v1/chat/completions', { model: agent.id, messages: [{ role: 'user', content: 'hi' }] });
    const own = await webhook(admin, { url: `${receiver.url}/own`, events: ['SOURCE_FAILED'] });
    await admin.ask('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id: own.id });
    await eventually(() => expect(sent('/own')).toHaveLength(1));
    expect(await deliveries(bob, id)).toEqual([]);
    expect((await admin.graphql('query ($id: ID!) { webhook(id: $id) { id } }', { id })).data).toEqual({ webhook: null });
  });

  it('is told when a source fails', async () => {
    const agent = await make.agent({ owner: admin });
    // Agents limit runs and approvals only.
    const { id, secret } = await webhook(admin, { events: ['SOURCE_FAILED'], agentIds: [agent.id] });
    const input = { url: 'http://10.0.0.1/', dataRefreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [] };
    const source = await admin.post(`/api/v1/ais/${agent.id}/data-sources/web-url`, input);
    const [request] = await eventually(() => {
      expect(sent()).toHaveLength(1);
      return sent();
    });
    if (request === undefined) throw new Error('nothing was sent');
    expect(verified(secret, request)).toMatchObject({ type: 'source.failed', data: { dataSourceId: source.body.id } });
    expect(await deliveries(admin, id)).toHaveLength(1);
  });

  it('is told when a run waits for the approval of a person', async () => {
    const { secret } = await webhook(admin, { events: ['APPROVAL_WANTED'] });
    const agent = await make.agent({ owner: admin, modelId: 'openai/test-model' });
    const data = {
      description: 'Pays',
      parameters: { type: 'object' },
      method: 'POST',
      url: `${receiver.url}/pay`,
      requireApproval: true,
    };
    const tool = await admin.post(`/api/v1/ais/${agent.id}/tools`, { name: 'pay', type: 'API_FUNCTION', data });
    expect(tool.status).toBe(200);
    const chat = await make.chat({ owner: admin, agentId: agent.id });
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'pay', arguments: '{"amount":"CANARY"}' }] });
    await admin.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Pay it' });
    const [request] = await eventually(() => {
      expect(sent()).toHaveLength(1);
      return sent();
    });
    if (request === undefined) throw new Error('nothing was sent');
    const { data: wanted, type } = verified(secret, request) as { type: string; data: Record<string, string> };
    const { runId } = wanted;
    expect([type, wanted]).toEqual([
      'approval.wanted',
      {
        approvalId: expect.any(String),
        runId,
        agentId: agent.id,
        chatId: chat.id,
        userId: admin.userId,
        expiresAt: expect.any(String),
      },
    ]);
    expect(Date.parse(wanted.expiresAt ?? '')).toBeGreaterThan(Date.now());
    expect(runId).toMatch(/^run_/);
    expect(request.body).not.toContain('CANARY');
    expect(sent('/pay')).toEqual([]);
  });

  it('is told once for each mark when a limit of tokens is near', async () => {
    const { id } = await webhook(admin, { events: ['LIMIT_NEAR'] });
    const limit = (tokens: number) =>
      service.client().patch(`/api/v1/admin/organizations/${admin.orgId}`, { apiUsageTokenLimit: tokens });
    expect((await limit(100_000)).status).toBe(200);
    let spent = 0;
    const spend = async (tokens: number) => {
      spent += tokens;
      upstream.next({ text: 'x', usage: { prompt_tokens: tokens - 1, completion_tokens: 1 } });
      const messages = [{ role: 'user', content: 'hi' }];
      const { status } = await admin.post('/api/v1/chat/completions', { model: 'openai/test-model', messages, max_tokens: 10 });
      expect(status).toBe(200);
      const where = { orgId: admin.orgId, kind: 'api', used: spent };
      await eventually(async () => expect(await prisma.usageCounter.count({ where })).toBe(1));
    };
    const told = async () =>
      (await deliveries(admin, id)).map(({ body }: { body: string }) => JSON.parse(body).data).toReversed();
    await spend(79_000);
    expect(await told()).toEqual([]);
    for (const tokens of [2_000, 5_000, 4_000]) await spend(tokens);
    const first = { kind: 'api', percent: 80, used: 81_000, limit: 100_000 };
    expect(await told()).toEqual([first]);
    await spend(6_000);
    await spend(100);
    const second = { kind: 'api', percent: 95, used: 96_000, limit: 100_000 };
    expect(await told()).toEqual([first, second]);
    // A new limit begins anew.
    expect((await limit(110_000)).status).toBe(200);
    await spend(9_000);
    expect(await told()).toEqual([first, second, { kind: 'api', percent: 95, used: 105_100, limit: 110_000 }]);
  });

  it('that answers 410 is switched off at once, by nobody in the audit log', async () => {
    receiver.answer(() => ({ status: 410 }));
    const { id } = await webhook(admin);
    await admin.ask('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    const state = '{ webhooks(first: 1) { nodes { id isEnabled disabledReason } } }';
    await eventually(async () =>
      expect((await admin.ask(state)).webhooks.nodes).toEqual([
        { id, isEnabled: false, disabledReason: 'The receiver answered 410: it is gone' },
      ]),
    );
    const entries = `query ($id: ID!) { auditLog(filter: { targetId: $id, action: "updateWebhook" }, first: 5) {
      nodes { actorUserId actorEmail actorKeyId outcome actor { id } target { id } changes { member values } } } }`;
    expect((await admin.ask(entries, { id })).auditLog.nodes).toEqual([
      {
        ...{ actorUserId: '', actorEmail: '', actorKeyId: '', outcome: 'SUCCEEDED', actor: null, target: { id } },
        changes: [
          { member: 'isEnabled', values: [false] },
          { member: 'disabledReason', values: ['The receiver answered 410: it is gone'] },
        ],
      },
    ]);
    // What waits is kept, and sent once it is switched on.
    receiver.answer(() => ({ status: 204 }));
    const [{ id: deliveryId }] = await deliveries(admin, id);
    await due(id);
    await admin.ask('mutation ($id: ID!) { updateWebhook(id: $id, input: { isEnabled: true }) { id } }', { id });
    await eventually(async () =>
      expect(await deliveries(admin, id)).toMatchObject([{ id: deliveryId, status: 'DELIVERED', attempts: 2 }]),
    );
  });

  it('that fails and comes back gets the delivery with the same id', async () => {
    receiver.answer(() => ({ status: 503, body: 'down for an hour' }));
    const { id } = await webhook(admin);
    await admin.ask('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    const [failed] = await eventually(async () => {
      const found = await deliveries(admin, id);
      expect(found).toMatchObject([{ status: 'PENDING', attempts: 1 }]);
      return found;
    });
    expect(failed.lastAnswer).toMatchObject({ status: 503, bodyStart: 'down for an hour', error: 'The receiver answered 503' });
    const waitMs = Date.parse(failed.nextAttemptAt) - Date.parse(failed.lastAnswer.at);
    expect(waitMs).toBe(5_000);
    receiver.answer(() => ({ body: 'welcome' }));
    await eventually(async () =>
      expect(await deliveries(admin, id)).toMatchObject([{ status: 'DELIVERED', attempts: 2, lastAnswer: { status: 200 } }]),
    );
    expect(new Set(sent().map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('is given up after the last attempt, and sent again on demand', async () => {
    receiver.answer(() => ({ status: 500 }));
    const { id } = await webhook(admin);
    await admin.ask('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    await eventually(async () => expect(await deliveries(admin, id)).toMatchObject([{ attempts: 1 }]));
    await due(id, { attempts: 10 });
    await eventually(async () =>
      expect(await deliveries(admin, id)).toMatchObject([{ status: 'FAILED', attempts: 11, nextAttemptAt: null }]),
    );
    receiver.answer(() => ({ status: 204 }));
    const [{ id: deliveryId }] = await deliveries(admin, id);
    const again = 'mutation ($id: ID!) { redeliverWebhook(deliveryId: $id) { id status attempts } }';
    expect((await admin.ask(again, { id: deliveryId })).redeliverWebhook).toEqual({
      id: deliveryId,
      status: 'PENDING',
      attempts: 0,
    });
    await eventually(async () => expect(await deliveries(admin, id)).toMatchObject([{ status: 'DELIVERED', attempts: 1 }]));
  });

  it('that took nothing for five days is switched off, says why, and can be switched on', async () => {
    receiver.answer(() => ({ status: 500 }));
    const { id } = await webhook(admin);
    await prisma.webhook.update({ where: { id }, data: { failingSince: new Date(Date.now() - 6 * 86_400_000) } });
    await admin.ask('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    const state = async () =>
      (await admin.ask('query ($id: ID!) { webhook(id: $id) { isEnabled disabledReason failingSince } }', { id })).webhook;
    await eventually(async () =>
      expect(await state()).toMatchObject({ isEnabled: false, disabledReason: 'It took no delivery for five days' }),
    );
    const on =
      'mutation ($id: ID!) { updateWebhook(id: $id, input: { isEnabled: true }) { isEnabled disabledReason failingSince } }';
    expect((await admin.ask(on, { id })).updateWebhook).toEqual({ isEnabled: true, disabledReason: null, failingSince: null });
  });

  it('follows no redirect, reaches no private address, and reads a bounded answer', async () => {
    receiver.answer(({ path }) =>
      path === hook ? { status: 302, headers: { location: `${receiver.url}/elsewhere` } } : { body: 'x'.repeat(5_000_000) },
    );
    const redirected = await webhook(admin);
    const hidden = await webhook(admin, { url: 'http://169.254.169.254/latest' });
    const long = await webhook(admin, { url: `${receiver.url}/long` });
    for (const { id } of [redirected, hidden, long])
      await admin.ask('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    await eventually(async () => {
      expect(await deliveries(admin, redirected.id)).toMatchObject([{ status: 'PENDING', lastAnswer: { status: 302 } }]);
      expect(await deliveries(admin, long.id)).toMatchObject([
        { status: 'DELIVERED', lastAnswer: { bodyStart: 'x'.repeat(500) } },
      ]);
      expect(await deliveries(admin, hidden.id)).toMatchObject([
        {
          status: 'PENDING',
          lastAnswer: { status: null, error: expect.stringContaining('is not an address of the public internet') },
        },
      ]);
    });
    expect(sent('/elsewhere')).toEqual([]);
  });

  it('has its secret changed: for a day both sign, then the new one alone', async () => {
    const { id, secret: old } = await webhook(admin);
    const rotate = 'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret } }';
    const { secret } = (await admin.ask(rotate, { id })).rotateWebhookSecret;
    expect(secret).not.toBe(old);
    await admin.ask('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    const [first] = await eventually(() => {
      expect(sent()).toHaveLength(1);
      return sent();
    });
    if (first === undefined) throw new Error('nothing was sent');
    expect(verified(secret, first)).toEqual(verified(old, first));
    await prisma.webhook.update({ where: { id }, data: { previousUntil: new Date(0) } });
    await admin.ask('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    const second = await eventually(() => {
      expect(sent()).toHaveLength(2);
      return sent()[1];
    });
    if (second === undefined) throw new Error('nothing was sent');
    expect(verified(secret, second)).toBeTruthy();
    expect(() => verified(old, second)).toThrow();
  });

  it('keeps its secret sealed: not in the database, the log or the audit log', async () => {
    const { secret } = await webhook(admin);
    const bare = secret.replace('whsec_', '');
    expect(await databaseText(service)).not.toContain(bare);
    expect(log.join('\n')).not.toContain(bare);
    const entries = await admin.ask('{ auditLog(first: 20) { nodes { action targetId } } }');
    expect(entries.auditLog.nodes).toContainEqual(
      expect.objectContaining({ action: 'createWebhook', targetId: expect.stringMatching(/^whk_/) }),
    );
  });

  it.each([
    ['an address that is none', { url: 'example.com' }, 'url must be an address such as https://example.com/hooks'],
    ['a password in the address', { url: 'https://ann:secret@example.com/' }, 'without a user name and a password'],
    ['no event', { events: [] }, 'events must name at least one event'],
    ['an agent that is not there', { agentIds: ['ai_00000000000000000000000000'] }, 'is not an agent that you can see'],
  ])('refuses %s', async (_case, wrong, words) => {
    const input = { url: 'https://example.com/', events: ['RUN_ENDED'], ...wrong };
    const { errors } = await admin.graphql(createDocument, { input });
    expect(JSON.stringify(errors)).toContain(words);
  });

  it('is for administrators', async () => {
    const member = await make.person({ organization: { id: admin.orgId, tenantId: admin.tenantId } });
    const { errors } = await member.graphql('{ webhooks(first: 1) { nodes { id } } }');
    expect(JSON.stringify(errors)).toMatch(/Only administrators/);
  });
});

describe('deliveries', () => {
  it('survive a process that took them and was killed, and are held by one process at a time', async () => {
    const store = service.deps.storage.operations.webhooks;
    const { id } = await webhook(admin, { url: `${receiver.url}/once` });
    await store.update(id, admin.orgId, { isEnabled: true });
    const body = JSON.stringify({ type: 'webhook.test' });
    const later = new Date(Date.now() + 3_600_000);
    const newDelivery = () => ({
      id: service.deps.newId('webhookDelivery'),
      createdAt: later,
      orgId: admin.orgId,
      webhookId: id,
      event: 'webhook.test',
      body,
    });
    const made = await Promise.all(Array.from({ length: 10 }, () => store.addDelivery(newDelivery())));
    // One transaction makes them due and takes them twice, so that the service itself does not come between.
    const taken = await service.deps.storage.db.transaction(async () => {
      await service.deps.storage.db.prisma.webhookDelivery.updateMany({
        where: { webhookId: id },
        data: { nextAttemptAt: new Date(0) },
      });
      const demand = { countMax: 6, ofOrganizationMax: 6, ofWebhookMax: 6, busyOrgIds: [], busyWebhookIds: [] };
      return [await store.takeDue(demand, 3_000), await store.takeDue(demand, 3_000)];
    });
    const ids = taken
      .flat()
      .filter(({ webhook: { id: own } }) => own === id)
      .map(({ delivery }) => delivery.id);
    expect(ids.length).toBe(10);
    expect(new Set(ids)).toEqual(new Set(made.map((delivery) => delivery.id)));
    // The process that took them is gone. After its lease another one sends each, once.
    await eventually(() => expect(sent('/once')).toHaveLength(10));
    expect(new Set(sent('/once').map(({ headers }) => headers['webhook-id']))).toEqual(new Set(ids));
  });

  it('go with their webhook', async () => {
    const { id } = await webhook(admin);
    await admin.ask('mutation ($id: ID!) { deleteWebhook(id: $id) { id } }', { id });
    expect(await prisma.webhookDelivery.count({ where: { webhookId: id } })).toBe(0);
  });
});
