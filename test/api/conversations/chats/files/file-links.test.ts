import { describe, expect, it } from 'vitest';
import { signedFileAddress } from '../../../../../src/engine/files/file-links.ts';
import { withService } from '../../../../support/service.ts';

const { service, make } = await withService();
const hourMs = 3_600_000;

const ann = await make.person();
const agent = await make.agent({ owner: ann });
const chatId = (await make.chat({ owner: ann, agentId: agent.id })).id;

const files = () => `/api/v1/chats/${chatId}/files`;
async function upload(content: string | Uint8Array, name: string, type: string): Promise<{ id: string; url: string }> {
  const form = new FormData();
  form.append('file', new File([content as BlobPart], name, { type }));
  const { status, body } = await ann.post(files(), form);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const browser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

describe('the address of a file of a chat', () => {
  it('opens in a browser, without a key, wherever it is given', async () => {
    const { id, url } = await upload('Hello', 'notes.txt', 'text/plain');
    const listed = (await ann.get(files())).body.data.find((file: { id: string }) => file.id === id).url;
    const query =
      'query ($chat: ID!, $file: ID!) { chatFile(chatId: $chat, fileId: $file) { url } chat(id: $chat) { files { nodes { id url } } } }';
    const { data } = await ann.graphql(query, { chat: chatId, file: id });
    const urlIn = (all: readonly { id: string; url: string }[]) => all.find((file) => file.id === id)?.url ?? '';
    for (const address of [url, listed, data.chatFile.url, urlIn(data.chat.files.nodes)]) {
      const reply = await fetch(address);
      expect([reply.status, await reply.text()]).toEqual([200, 'Hello']);
      expect(reply.headers.get('content-disposition')).toMatch(/^attachment; filename="notes\.txt"/);
      expect(reply.headers.get('content-type')).toBe('application/octet-stream');
    }
  });

  it.each(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])(
    'shows an image of type %s as that, and runs nothing',
    async (type) => {
      const { url } = await upload(png, 'dot', type);
      const { status, headers } = await fetch(url);
      expect([status, headers.get('content-type')]).toEqual([200, type]);
      expect(headers.get('content-disposition')).toMatch(/^inline;/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'$/);
    },
  );

  it.each(['text/html', 'image/svg+xml', 'application/pdf', 'application/xhtml+xml'])('never shows %s', async (type) => {
    const { headers } = await fetch((await upload('<script>alert(1)</script>', 'x', type)).url);
    expect(headers.get('content-type')).toBe('application/octet-stream');
    expect(headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox/);
  });

  it('ends after an hour, and says so in words to people', async () => {
    const { id, url } = await upload('Hello', 'notes.txt', 'text/plain');
    const at = (ms: number) => ({ ...service.deps, now: () => new Date(service.deps.now().getTime() + ms) });
    const ofAge = (ageMs: number) => signedFileAddress(at(-ageMs), { chatId, fileId: id });
    expect((await fetch(ofAge(hourMs - 60_000))).status).toBe(200);
    const expired = await fetch(ofAge(hourMs), browser);
    expect([expired.status, expired.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(expired.headers.get('content-security-policy')).toMatch(/^sandbox.*default-src 'none'/);
    expect(await expired.text()).toMatch(/has expired; links to files work for an hour/);
    const changed = await fetch(`${url.slice(0, -4)}AAAA`, browser);
    expect([changed.status, await changed.text()]).toEqual([403, expect.stringContaining('was not made by this service')]);
    const program = await fetch(ofAge(hourMs));
    expect([program.status, await program.json()]).toMatchObject([403, { error: { code: 'forbidden', param: 'link' } }]);
  });

  it('opens no other file, and nothing once the file is deleted', async () => {
    const [one, two] = [await upload('one', 'a.txt', 'text/plain'), await upload('two', 'b.txt', 'text/plain')];
    expect((await fetch(one.url.replace(one.id, two.id))).status).toBe(403);
    expect((await ann.delete(`${files()}/${one.id}`)).status).toBe(200);
    expect((await fetch(one.url)).status).toBe(404);
    expect((await fetch(one.url, browser)).headers.get('content-type')).toBe('text/html; charset=utf-8');
    const { data } = (await ann.get(`${files()}?includeDeleted=true`)).body;
    expect(data.find(({ id }: { id: string }) => id === one.id).url).not.toContain('link=');
  });

  it('is signed only for who may read the chat, and never before there is content', async () => {
    const stranger = await make.person();
    expect((await stranger.get(files())).status).toBe(404);
    const { body } = await ann.post(`/api/v1/chats/${chatId}/file-records`, { filename: 'a', size: 1, mimeType: 'text/plain' });
    expect(body.url).not.toContain('link=');
  });
});
