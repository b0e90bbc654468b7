import { describe, expect, it } from 'vitest';
import { signTicket } from '../../../../src/domain/knowledge/upload-tickets.ts';
import type { TestClient } from '../../../support/client.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const text = '# Warranty\n\nThe warranty lasts two years.\n';
const file = { filename: 'docs/warranty.md', contentType: 'text/markdown', size: text.length };

const ann = await make.person();
const nobody = service.nobody;
const aiId = (await make.agent({ owner: ann })).id;

const ask = (body: object = file, who: TestClient = ann) => who.post(`/api/v1/ais/${aiId}/data-sources/upload-token`, body);
/** The path and the ticket of a signed link, without the service's address. */
async function link(body: object = file): Promise<string> {
  const { status, body: token } = await ask(body);
  expect(status).toBe(200);
  return token.url.slice(service.url.length);
}
const put = (path: string, body: string | Uint8Array = text, type = 'text/markdown', who: TestClient = nobody) =>
  who.put(path, body, { 'content-type': type });

describe('a signed link', () => {
  it('takes its file without a key, and makes a source that is indexed', async () => {
    const { body: token } = await ask();
    expect(token).toEqual({
      url: `${service.url}${token.pathname}?ticket=${new URL(token.url).searchParams.get('ticket')}`,
      pathname: expect.stringMatching(`^/api/v1/ais/${aiId}/data-sources/uploads/upl_`),
      contentType: 'text/markdown',
      size: text.length,
      expiresAt: expect.any(String),
    });
    const reply = await put(token.url.slice(service.url.length));
    const made = { name: 'warranty.md', type: 'FILE_UPLOAD', ownerUserId: ann.userId };
    const data = { filename: 'warranty.md', mimeType: 'text/markdown', size: text.length };
    expect(reply).toMatchObject({ status: 200, body: { ...made, data } });
    await indexed(ann, reply.body.id);
  });

  it('works once, also for two requests at the same time', async () => {
    const path = await link();
    const replies = await Promise.all([put(path), put(path), put(path)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await put(path)).toMatchObject({ status: 409, body: { error: { param: 'ticket' } } });
  });

  it('takes exactly the announced size and type, and is not used up by a refusal', async () => {
    const path = await link();
    expect(await put(path, `${text}x`)).toMatchObject({ status: 413, body: { error: { param: 'file' } } });
    expect(await put(path, text.slice(1))).toMatchObject({ status: 400, body: { error: { param: 'file' } } });
    expect(await put(path, text, 'text/html')).toMatchObject({ status: 415, body: { error: { param: 'file' } } });
    expect(await put(path, new TextEncoder().encode(text), 'application/octet-stream')).toMatchObject({
      status: 200,
      body: { data: { mimeType: 'text/markdown' } },
    });
  });

  it('is refused when it was changed, has expired, or belongs to another agent or upload', async () => {
    const path = await link();
    const refused = { status: 401, body: { error: { code: 'invalid_api_key' } } };
    expect(await put(path.replace('ticket=', 'ticket=A'))).toMatchObject(refused);
    expect(await put(`${path.slice(0, -4)}AAAA`)).toMatchObject(refused);
    expect(await put(path.split('?')[0] ?? '')).toMatchObject(refused);
    const [, id = ''] = /uploads\/(\w+)/.exec(path) ?? [];
    const ticket = { id, keyId: ann.keyId, agentId: aiId, filename: 'a', contentType: 'text/markdown', sizeBytes: text.length };
    const signed = (members: object) =>
      `${path.split('?')[0]}?ticket=${signTicket(service.deps, { ...ticket, expiresAtMs: Date.now() + 60_000, ...members })}`;
    expect(await put(signed({ expiresAtMs: Date.now() - 1 }))).toMatchObject(refused);
    const other = await make.agent({ owner: ann });
    expect((await put(path.replace(aiId, other.id))).status).toBe(404);
    expect((await put(path.replace(id, `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`))).status).toBe(404);
    expect((await put(path)).status).toBe(200);
  });

  it('allows nothing else, and is refused with another key', async () => {
    const path = await link();
    const ticket = path.split('?')[1];
    expect((await nobody.get(`/api/v1/ais/${aiId}?${ticket}`)).status).toBe(401);
    expect((await nobody.post(`/api/v1/ais/${aiId}/data-sources/bulk-delete?${ticket}`, {})).status).toBe(401);
    expect((await put(path, text, 'text/markdown', await make.person())).status).toBe(404);
    expect((await put(path, text, 'text/markdown', ann)).status).toBe(200);
  });

  it('ends with the key that asked for it', async () => {
    const key = await make.withKey(ann, {});
    const { body } = await ask(file, key);
    await ann.delete(`/api/v1/api-keys/${key.keyId}`);
    expect(await put(body.url.slice(service.url.length))).toMatchObject({ status: 401 });
  });

  it('stands for the rights that its maker has when it is used', async () => {
    const path = await link();
    const { storage } = service.deps;
    await storage.db.pool.query('update agents set "isDeleted" = true where id = $1', [aiId]);
    expect((await put(path)).status).toBe(404);
    await storage.db.pool.query('update agents set "isDeleted" = false where id = $1', [aiId]);
  });
});

describe('a link is refused, and the member named', () => {
  it.each<[string, object, number, string]>([
    ['no name', { ...file, filename: undefined }, 400, 'filename'],
    ['a name that is a path only', { ...file, filename: '../../..' }, 400, 'filename'],
    ['a type that is none', { ...file, contentType: 'text' }, 400, 'contentType'],
    ['no size', { ...file, size: undefined }, 400, 'size'],
    ['nothing', { ...file, size: 0 }, 400, 'size'],
    ['too much', { ...file, size: 100 * 1024 * 1024 }, 413, 'size'],
  ])('%s', async (_case, body, status, param) => {
    expect(await ask(body)).toMatchObject({ status, body: { error: { param } } });
  });
  it('of a caller who may not edit the agent', async () => {
    expect((await ask(file, await make.person())).status).toBe(404);
  });
  it('and other names of the members are taken', async () => {
    expect((await ask({ name: 'a.txt', mimeType: 'text/plain', size: 3, other: true })).body.contentType).toBe('text/plain');
  });
});
