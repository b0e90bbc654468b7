import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

/** A permission is taken away while something that began before goes on: what the model gets afterwards, and who somebody is after a change of names. */
const { service, make, upstream } = await withService('model');
const api = await startApiServer();
afterAll(() => api.close());
const json = { 'content-type': 'application/scim+json' };
const secret = 'river bank';
let organization: Organization;
let ann: Person;
let bob: Person;
let agentId: string;
let source: string;

const push = async (acl: readonly string[]) =>
  expect((await ann.put(`/api/v1/data-sources/${source}/items`, { items: [{ uniqueId: 'plan', acl }] })).status).toBe(200);
const close = () => push([`user:${ann.email}`]);
const find = async (who: Person) => {
  const { status, body } = await who.post('/api/v1/search', { agentId, query: 'kingfisher' });
  expect(status).toBe(200);
  return body.data.length as number;
};
/** All that the model was sent by request number `index`. */
const sent = (index: number) => JSON.stringify(upstream.requests.at(index)?.body);
const lookup = { toolCalls: [{ id: 'call_s', name: 'search_knowledge', arguments: '{"query":"kingfisher"}' }] };
/** The last answer to a call that the model was told. */
const lastOutput = () =>
  ((upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[])
    .filter(({ role }) => role === 'tool')
    .at(-1)?.content;

beforeAll(async () => {
  organization = await make.organization();
  ann = await make.person({ organization });
  bob = await make.person({ organization });
  await service.deps.storage.db.prisma.user.updateMany({
    where: { id: { in: [ann.userId, bob.userId] } },
    data: { emailVerifiedAt: new Date() },
  });
  agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION', enabledTools: [{ type: 'file_search' }] })).id;
  const data = { description: 'Sends an order', method: 'POST', url: `${api.url}/orders`, parameters: { type: 'object' } };
  const tool = { name: 'order', type: 'API_FUNCTION', data: { ...data, requireApproval: true } };
  expect((await ann.post(`/api/v1/ais/${agentId}/tools`, tool)).status).toBe(200);
  source = (await ann.post(`/api/v1/ais/${agentId}/data-sources/api`, { name: 'Wiki', data: {}, access: 'MIRRORED' })).body.id;
  const text = `# Plan\n\nThe kingfisher nests in the ${secret}.`;
  const items = [{ uniqueId: 'plan', name: 'plan', text, acl: [`user:${ann.email}`] }];
  expect((await ann.put(`/api/v1/data-sources/${source}/items`, { items })).status).toBe(200);
  await indexed(ann, source);
});

describe('a permission that is taken away', () => {
  beforeEach(async () => {
    await push([`user:${ann.email}`, `user:${bob.email}`]);
    expect(await find(bob)).toBe(1);
  });

  it('in the middle of a stream: the next search of this run finds nothing', async () => {
    const held = heldAnswer({ text: ['I look', ' for it'], ...lookup });
    upstream.next(lookup, held.script, { text: 'Nothing is known.' });
    const chat = await make.chat({ owner: bob, agentId });
    const frames = [];
    let before: string | undefined;
    for await (const frame of bob.sse('POST', `/api/v1/chats/${chat.id}/messages`, {
      prompt: 'Where does it nest?',
      stream: true,
    })) {
      frames.push(frame.event);
      if (frame.event !== 'message.delta' || before !== undefined) continue;
      before = lastOutput();
      await close();
      held.goOn();
    }
    expect(frames.slice(-1)).toEqual(['done']);
    expect(before).toContain(secret);
    // Until its run ends, the model keeps the passages that it was given at the beginning: docs/permissions.md says so.
    expect(lastOutput()).toMatch(/^The search found nothing\./);
    upstream.next({ text: 'Still nothing.' });
    await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'And now?' });
    expect(sent(-1)).not.toContain(secret);
  });

  it('while a response waits for the output of a function: what goes on is answered without it', async () => {
    const tools = [
      { type: 'function', name: 'ask_user', parameters: { type: 'object', properties: {} } },
      { type: 'file_search' },
    ];
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'ask_user', arguments: '{}' }] }, lookup, { text: 'Nothing.' });
    const paused = await bob.post('/api/v1/responses', { model: agentId, input: 'Where does the kingfisher nest?', tools });
    const call = paused.body.output.find(({ type }: { type: string }) => type === 'function_call');
    expect(sent(-1)).toContain(secret);
    await close();
    const input = [{ type: 'function_call_output', call_id: call.call_id, output: 'Spring' }];
    const end = await bob.post('/api/v1/responses', { model: agentId, previous_response_id: paused.body.id, input, tools });
    expect(end.status, JSON.stringify(end.body)).toBe(200);
    expect([sent(-2), sent(-1)].map((text) => text.includes(secret))).toEqual([false, false]);
  });

  it('while a call waits for an approval: what goes on is answered without it', async () => {
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'order', arguments: '{}' }] }, lookup, { text: 'Nothing.' });
    const chat = await make.chat({ owner: bob, agentId });
    const asked = await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Where does the kingfisher nest?' });
    expect(asked.body.toolCalls).toMatchObject([{ name: 'order', approval: true }]);
    expect(sent(-1)).toContain(secret);
    await close();
    const outputs = [{ toolCallId: asked.body.toolCalls[0].id, status: 'success', output: '' }];
    const { systemMessageId } = asked.body;
    const end = await bob.post(`/api/v1/chats/${chat.id}/tool-outputs`, { systemMessageId, outputs });
    expect(end.status, JSON.stringify(end.body)).toBe(200);
    expect([sent(-2), sent(-1)].map((text) => text.includes(secret))).toEqual([false, false]);
  });
});

describe('who somebody is', () => {
  it('follows the directory: a person who is renamed has the documents of the new address and of its domain, and no more those of the old one', async () => {
    const admin = await make.person({ organization, role: 'ADMIN' });
    const provider = await make.withKey(admin, { scopes: ['SCIM:WRITE'] });
    const userName = 'eve@old.example';
    const added = await provider.post(
      '/scim/v2/Users',
      { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName },
      json,
    );
    expect(added.status, JSON.stringify(added.body)).toBe(201);
    const eve = await make.withKey({ ...ann, userId: added.body.id, email: userName } as Person, {});
    const rename = async (value: string) => {
      const Operations = [{ op: 'replace', path: 'userName', value }];
      const reply = await provider.patch(
        `/scim/v2/Users/${added.body.id}`,
        { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations },
        json,
      );
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    };
    const open = async () => {
      const found: Record<string, number> = {};
      for (const principal of [
        'user:eve@old.example',
        'user:eve.smith@old.example',
        'user:eve@new.example',
        'domain:old.example',
        'domain:new.example',
      ]) {
        await push([principal]);
        found[principal] = await find(eve);
      }
      return Object.keys(found).filter((principal) => found[principal] === 1);
    };
    expect(await open()).toEqual(['user:eve@old.example', 'domain:old.example']);
    await push(['user:eve@old.example']);
    expect(await find(eve)).toBe(1);
    await rename('eve.smith@old.example');
    // What was remembered of the person before is forgotten at once.
    expect(await find(eve)).toBe(0);
    expect(await open()).toEqual(['user:eve.smith@old.example', 'domain:old.example']);
    // The organization moved to another domain.
    await push(['domain:old.example']);
    expect(await find(eve)).toBe(1);
    await rename('eve@new.example');
    expect(await find(eve)).toBe(0);
    expect(await open()).toEqual(['user:eve@new.example', 'domain:new.example']);
  });
});
