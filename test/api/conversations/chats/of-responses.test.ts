import { beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

/** A chat and its agent's message count after the messages of a response are removed. */
const { make, upstream } = await withService('model');
let agent: { id: string };
const path = '/api/v2/responses';
const halfWay = { text: ['One ', 'two ', 'three'], hangAtByte: 600 };

const ann = await make.person();

beforeEach(async () => {
  agent = await make.agent({ owner: ann });
});

const create = async (members: object) => (await ann.post(path, { model: agent.id, ...members })).body;
const count = async () => (await ann.get(`/api/v1/ais/${agent.id}`)).body.messageCount;
/** A response with some output, paused. */
async function paused() {
  upstream.next(halfWay);
  const { id, conversation } = await create({ input: 'A', background: true });
  await eventually(async () => expect((await ann.get(`${path}/${id}`)).body.output).toHaveLength(1));
  const { body } = await ann.post(`${path}/${id}/pause`);
  expect(body.incomplete_details).toEqual({ reason: 'paused' });
  return { id, conversation, chatPath: `/api/v1/chats/${conversation.id}` };
}

describe('the count of an agent', () => {
  it('is as before when a chat with parts that only models see is deleted', async () => {
    const content = [{ type: 'input_text', text: 'Hush.', invisible: true }];
    const { conversation } = await create({ input: [{ role: 'user', content }] });
    await eventually(async () => expect(await count()).toBe(1));
    await ann.delete(`/api/v1/chats/${conversation.id}`);
    await eventually(async () => expect(await count()).toBe(0));
  });

  it('is without what a response said before its pause when that is cut by force', async () => {
    const { id, conversation, chatPath } = await paused();
    await eventually(async () => expect(await count()).toBe(2));
    upstream.next(halfWay);
    await ann.post(`${path}/${id}/resume`, { background: true });
    await upstream.until(({ requests }) => requests.length === 2);
    const b = await create({ input: 'B', conversation, thread_mode: 'force' });
    expect(b.status).toBe('completed');
    expect((await ann.get(chatPath)).body.messages).toHaveLength(3);
    await eventually(async () => expect(await count()).toBe(3));
  });
});

it('a chat is not reset while a response of it is paused', async () => {
  const { id, chatPath } = await paused();
  const reset = () => ann.post(`${chatPath}/reset`);
  expect(await reset()).toMatchObject({ status: 409, body: { error: { code: 'run_active' } } });
  await ann.post(`${path}/${id}/cancel`);
  expect(await reset()).toMatchObject({ status: 200, body: { messages: [] } });
});

it('a paused response does not go on with an agent that its caller may not use any more', async () => {
  agent = await make.agent({ owner: ann, visibility: 'ANYONE_WITH_LINK' });
  const bob = await make.person();
  upstream.next(halfWay);
  const { body } = await bob.post(path, { model: agent.id, input: 'A', background: true });
  await eventually(async () => expect((await bob.get(`${path}/${body.id}`)).body.output).toHaveLength(1));
  await bob.post(`${path}/${body.id}/pause`);
  await ann.patch(`/api/v1/ais/${agent.id}`, { visibility: 'PRIVATE' });
  const asked = upstream.requests.length;
  expect(await bob.post(`${path}/${body.id}/resume`)).toMatchObject({
    status: 404,
    body: { error: { code: 'model_not_found' } },
  });
  expect(upstream.requests).toHaveLength(asked);
});
