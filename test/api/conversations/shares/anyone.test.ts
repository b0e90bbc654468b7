import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

// Chats that are shared with anyone: read on the page of the console without a sign-in, and by people of other organizations.

const { service, make, upstream } = await withService('model', {
  env: { SHARE_WITH_ANYONE: 'on', SHARED_REQUESTS_PER_MINUTE_ADDRESS: '60' },
});

const organization = await make.organization();
const ann = await make.person({ organization });
const boss = await make.person({ organization, role: 'ADMIN' });
const stranger = await make.person();
const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION' });

async function newChat(prompt: unknown = 'One'): Promise<string> {
  const { id } = await make.chat({ owner: ann, agentId: agent.id });
  upstream.next({ text: 'Yes one' });
  expect((await ann.post(`/api/v1/chats/${id}/messages`, { prompt })).body).toMatchObject({ status: 'completed' });
  return id;
}
async function share(chatId: string, audience = 'ANYONE'): Promise<{ id: string; secret: string }> {
  const document = `mutation ($chatId: ID!, $input: ShareChatInput!) { shareChat(chatId: $chatId, input: $input) { url share { id } } }`;
  const { data } = await ann.graphql(document, { chatId, input: { audience } });
  return { id: data.shareChat.share.id, secret: data.shareChat.url.split('#')[1] };
}
const ownPage = { 'content-type': 'application/json', 'graphql-require-preflight': 'true' };
async function visit(body: object, headers: Record<string, string> = {}) {
  const origin = { origin: new URL(service.url).origin };
  const reply = await fetch(`${service.url}/shared/open`, {
    method: 'POST',
    headers: { ...ownPage, ...origin, ...headers },
    body: JSON.stringify(body),
  });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

describe('a chat that is shared with anyone', () => {
  it('opens without a sign-in, and no search engine keeps it', async () => {
    const { secret } = await share(await newChat());
    const { status, headers, body } = await visit({ secret });
    expect([status, headers.get('x-robots-tag'), headers.get('cache-control')]).toEqual([200, 'noindex', 'no-store']);
    expect(body).toMatchObject({ name: 'One', mode: 'FROZEN', nextAfter: null });
    expect(body.messages).toMatchObject([
      { role: 'USER', content: 'One' },
      { role: 'ASSISTANT', content: 'Yes one', citations: [], hiddenCitationCount: 0 },
    ]);
    const page = await fetch(`${service.url}/shared`, { headers: { accept: 'text/html' } });
    expect([page.status === 200 || page.status === 503, page.headers.get('x-robots-tag')]).toEqual([true, 'noindex, nofollow']);
  });

  it('is read by a person of another organization, who goes on without its files', async () => {
    const { id: chatId } = await make.chat({ owner: ann, agentId: agent.id });
    const form = new FormData();
    form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'note.txt');
    const { id: fileId } = (await ann.post(`/api/v1/chats/${chatId}/files`, form)).body;
    upstream.next({ text: 'It says Hello' });
    const prompt = [
      { type: 'text', text: 'Read it' },
      { type: 'id', id: fileId },
    ];
    await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt });
    const { secret } = await share(chatId);
    const query =
      'query ($secret: String!) { sharedChat(secret: $secret) { canGoOn messages { nodes { files { filename } } } } }';
    const { data } = await stranger.graphql(query, { secret });
    expect(data.sharedChat).toMatchObject({ canGoOn: false, messages: { nodes: [{ files: [{ filename: 'note.txt' }] }, {}] } });
    const own = await make.agent({ owner: stranger });
    const copy = `mutation ($secret: String!, $input: CopySharedChatInput) {
      copySharedChat(secret: $secret, input: $input) { omittedFileCount chat { messages { nodes { content files { id } } } } }
    }`;
    const { data: copied } = await stranger.graphql(copy, { secret, input: { agentId: own.id } });
    expect(copied.copySharedChat.omittedFileCount).toBe(1);
    expect(copied.copySharedChat.chat.messages.nodes).toMatchObject([
      { content: 'Read it', files: [] },
      { content: 'It says Hello' },
    ]);
  });

  it('leaves an entry for each visitor, not for each look', async () => {
    const { id, secret } = await share(await newChat());
    for (let looks = 0; looks < 3; looks += 1) await visit({ secret });
    await service.deps.audit.flush();
    const { data } = await boss.graphql(
      'query ($id: ID) { auditLog(filter: { targetId: $id, kind: READ }) { nodes { action actorUserId address } } }',
      { id },
    );
    expect(data.auditLog.nodes).toMatchObject([{ action: 'sharedChat', actorUserId: '', address: expect.any(String) }]);
    const { data: shown } = await ann.graphql('query ($id: ID!) { chatShare(id: $id) { openCount openedAt } }', { id });
    expect(shown.chatShare).toMatchObject({ openCount: 1, openedAt: expect.any(String) });
  });

  it('refuses what is not for anyone, a page of another site, and what cannot be read', async () => {
    const chatId = await newChat();
    const { secret } = await share(chatId, 'ORGANIZATION');
    const wrong = 'x'.repeat(43);
    for (const given of [secret, wrong, 'short']) {
      expect(await visit({ secret: given })).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    }
    expect((await visit({ secret }, { origin: 'https://elsewhere.example' })).status).toBe(403);
    expect((await visit({})).body.error).toMatchObject({ code: 'missing_required_parameter', param: 'secret' });
    expect((await visit({ secret, after: 'x' })).body.error).toMatchObject({ code: 'invalid_value', param: 'after' });
  });

  it('is limited in its rate', async () => {
    const { secret } = await share(await newChat());
    const statuses = new Set<number>();
    for (let looks = 0; looks < 80; looks += 1) statuses.add((await visit({ secret })).status);
    expect([...statuses].toSorted()).toEqual([200, 429]);
  });
});
