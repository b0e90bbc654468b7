import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '../../../support/egress/api-server.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { makeWebhook } from '../../../support/operations/webhooks.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const receiver = await startApiServer();
const { service, make } = await withService('plain', { env: { EGRESS_ALLOW: '127.0.0.1', DUE_LOOK_EVERY_MS: '100' } });
afterAll(() => receiver.close());
const { prisma } = service.deps.storage.db;
const path = '/api/v1/admin/webhooks';
let home: Organization;
let ann: Person;
beforeEach(async () => {
  receiver.reset();
  home = await make.organization();
  ann = await make.person({ organization: home, role: 'ADMIN' });
});

describe('webhooks on REST', () => {
  it('are made, read, changed, tested, sent again and deleted', async () => {
    const input = { url: `${receiver.url}/rest`, events: ['run.ended', 'limit.near'], description: ' The desk ' };
    const made = await ann.post(path, input);
    expect(made).toMatchObject({
      status: 200,
      body: {
        secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/),
        webhook: { ...input, description: 'The desk', agentIds: [], isEnabled: true, disabledReason: null, failingSince: null },
      },
    });
    const { webhook } = made.body;
    const one = `${path}/${webhook.id}`;
    const changed = await ann.patch(one, { isEnabled: false });
    expect(changed.body).toMatchObject({
      events: input.events,
      isEnabled: false,
      disabledReason: 'An administrator switched it off',
    });
    const tested = await ann.post(`${one}/test`, {});
    expect(tested.body).toMatchObject({ webhookId: webhook.id, event: 'webhook.test', status: 'PENDING', lastAnswer: null });
    expect((await ann.patch(one, { isEnabled: true })).body).toMatchObject({ isEnabled: true, disabledReason: null });
    await eventually(async () =>
      expect((await ann.get(`${one}/deliveries`)).body).toMatchObject({
        data: [{ id: tested.body.id, status: 'DELIVERED', lastAnswer: { status: 200, bodyStart: '{"ok":true}', error: null } }],
        nextCursor: null,
      }),
    );
    const again = await ann.post(`/api/v1/admin/webhook-deliveries/${tested.body.id}/redeliver`, {});
    expect(again).toMatchObject({ status: 200, body: { id: tested.body.id, status: 'PENDING', attempts: 0 } });
    await eventually(() =>
      expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([tested.body.id, tested.body.id]),
    );
    expect((await ann.get(path)).body.data).toMatchObject([{ id: webhook.id }]);
    expect((await ann.delete(one)).body).toMatchObject({ id: webhook.id });
    expect((await ann.get(one)).status).toBe(404);
    expect(await prisma.webhookDelivery.count({ where: { webhookId: webhook.id } })).toBe(0);
  });

  it('show a secret once, and a new one once', async () => {
    const webhook = await makeWebhook(ann, `${receiver.url}/secret`);
    const rotated = await ann.post(`${path}/${webhook.id}/rotate-secret`, {});
    expect(rotated.body).toMatchObject({ secret: expect.stringMatching(/^whsec_/), webhook: { id: webhook.id } });
    await webhook.test();
    const replies = [
      await ann.get(path),
      await ann.get(`${path}/${webhook.id}`),
      await ann.patch(`${path}/${webhook.id}`, { description: 'x' }),
      await ann.get(`${path}/${webhook.id}/deliveries`),
      await ann.get('/api/v1/admin/audit-log'),
    ];
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      for (const secret of [webhook.secret, rotated.body.secret])
        expect(JSON.stringify(body)).not.toContain(secret.replace('whsec_', ''));
    }
  });

  it('name each fault of an input in words of the input', async () => {
    const wrong = { url: 'ftp://example.com/', events: [], description: 'x'.repeat(501) };
    const { status, body } = await ann.post(path, wrong);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('url must be an address such as https://example.com/hooks');
    expect((await ann.post(path, { url: 'https://example.com/', events: ['run.began'] })).status).toBe(400);
  });
});

describe('whoever is no administrator of the organization', () => {
  it.each([
    ['a member, who sees nothing', 403, 403, () => make.person({ organization: home, role: 'MEMBER' })],
    ['an auditor, who reads', 200, 403, () => make.person({ organization: home, role: 'AUDITOR' })],
    ['an administrator of elsewhere, for whom nothing is there', 404, 404, () => make.person({ role: 'ADMIN' })],
  ])('changes nothing: %s', async (_who, reads, writes, makeWho) => {
    const url = `${receiver.url}/${crypto.randomUUID()}`;
    const sent = () => receiver.requests.filter((request) => url.endsWith(request.path));
    const webhook = await makeWebhook(ann, url);
    const [deliveryId] = await webhook.test();
    await eventually(async () => expect(await webhook.deliveries()).toMatchObject([{ status: 'DELIVERED' }]));
    const who = await makeWho();
    const one = `${path}/${webhook.id}`;
    const written = [
      await who.patch(one, { url: 'https://elsewhere.example/' }),
      await who.delete(one),
      await who.post(`${one}/rotate-secret`, {}),
      await who.post(`${one}/test`, {}),
      await who.post(`/api/v1/admin/webhook-deliveries/${deliveryId}/redeliver`, {}),
    ];
    expect(written.map(({ status }) => status)).toEqual(written.map(() => writes));
    const read = [await who.get(one), await who.get(`${one}/deliveries`)];
    expect(read.map(({ status }) => status)).toEqual([reads, reads]);
    const list = await who.get(path);
    if (reads === 404) expect(list.body.data).toEqual([]);
    else expect(list.status).toBe(reads);
    const { data } = await who.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [webhook.id, deliveryId] });
    expect(data.nodes).toEqual(reads === 200 ? [{ id: webhook.id }, { id: deliveryId }] : [null, null]);
    expect(await webhook.get()).toMatchObject({ url, isEnabled: true });
    expect(sent()).toHaveLength(1);
  });
});

it('webhooks and their deliveries go with their organization', async () => {
  const webhook = await makeWebhook(ann, `${receiver.url}/gone`);
  await webhook.test(3);
  expect((await service.client().delete(`/api/v1/admin/organizations/${ann.orgId}`)).status).toBe(200);
  await eventually(async () => {
    const where = { orgId: ann.orgId };
    expect([await prisma.webhook.count({ where }), await prisma.webhookDelivery.count({ where })]).toEqual([0, 0]);
  });
});
