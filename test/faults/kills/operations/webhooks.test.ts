import { Webhook as Verifier } from 'standardwebhooks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeWebhook, webhookOf } from '../../../support/operations/webhooks.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';

/** A process that is killed while receivers think about what it sent: the next process sends it again, with the same id, and nothing else is lost. */
let world: Killable;
beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

it('a kill in the middle of a delivery loses none, and the receiver sees the same id again', { timeout: 300_000 }, async () => {
  const { parley, ann } = await world.launch();
  let isDown = true;
  world.api.answer(() => (isDown ? new Promise(() => {}) : { status: 204 }));
  const webhook = await makeWebhook(ann, `${world.api.url}/hook`);
  world.upstream.otherwise({ text: 'Hello' });
  const agent = await world.agentWithTool(ann, 'openai/test-model');
  const chat = await ann.post(`/api/v1/ais/${agent}/chats`, {});
  expect(chat.status, JSON.stringify(chat.body)).toBe(200);
  expect((await ann.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt: 'Hi' })).status).toBe(200);
  const tested = await webhook.test(7);
  await eventually(() => expect(world.api.requests.length).toBeGreaterThan(0));
  await parley.kill('SIGKILL');
  const before = world.api.requests.map(({ headers }) => headers['webhook-id']);
  isDown = false;
  const again = webhookOf(await world.recover(), webhook.id, webhook.secret);
  await eventually(async () => {
    const deliveries = await again.deliveries();
    expect(deliveries).toHaveLength(8);
    expect(deliveries.every(({ status }) => status === 'DELIVERED')).toBe(true);
  }, 120_000);
  const after = world.api.requests.slice(before.length);
  const ids = after.map(({ headers }) => String(headers['webhook-id']));
  // Each comes once after the kill: what the killed process had sent, and what it had not.
  expect(ids.toSorted()).toEqual((await again.deliveries()).map(({ id }) => id).toSorted());
  expect(ids).toEqual(expect.arrayContaining([...tested, ...before]));
  for (const { body, headers } of after)
    expect(new Verifier(webhook.secret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: expect.any(String),
    });
});
