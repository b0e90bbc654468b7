import { describe, expect, it } from 'vitest';
import { expireRecords, sweepLeftBehind } from '../../../../../src/domain/conversations/chats/files.ts';
import type { TestClient } from '../../../../support/client.ts';
import { withService } from '../../../../support/service.ts';

const sizeMax = 5 * 1024 * 1024;
const { service, make } = await withService('plain', { env: { CHAT_FILES_MAX: '6' } });

const organization = await make.organization();
const ann = await make.person({ organization });
const cleo = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const bob = await make.person();
const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION', modelId: 'parley/offline' });

const newChat = (owner: TestClient = ann, agentId = agent.id) => make.chat({ owner, agentId });
const filesOf = (chat: { id: string }) => `/api/v1/chats/${chat.id}/files`;
const recordsOf = (chat: { id: string }) => `/api/v1/chats/${chat.id}/file-records`;
function formOf(content: string | Uint8Array, name = 'notes.txt', fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', new Blob([content as BlobPart], { type: 'text/plain' }), name);
  return form;
}
const upload = async (who: TestClient, chat: { id: string }, content: string | Uint8Array = 'Hello file', name?: string) => {
  const reply = await who.post(filesOf(chat), formOf(content, name));
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
};
/** The signed address of a file. */
const linkTo = (chat: { id: string }, file: { id: string }) =>
  new RegExp(`^${service.url}${filesOf(chat)}/${file.id}/content\\?link=[\\w.-]+$`);
const record = { filename: 'notes.txt', size: 10, mimeType: 'text/plain' };
const blobCount = async () =>
  (await service.deps.storage.db.pool.query('select count(*)::int as n from chat_files where "blobKey" is not null')).rows[0].n;
const keyOf = async (id: string): Promise<string> =>
  (await service.deps.storage.db.pool.query('select "blobKey" from chat_files where id = $1', [id])).rows[0].blobKey;

describe('POST /api/v1/chats/:chatId/files', () => {
  it.each([
    ['a quote, which clients write as %22', 'the "best" plan.txt', 'the "best" plan.txt'],
    ['a backslash', 'AC\\DC live.txt', 'AC\\DC live.txt'],
    ['the path of a Windows file', 'C:\\Users\\ann\\plan.txt', 'plan.txt'],
    ['folders', 'plans/2026/plan.txt', 'plan.txt'],
    ['a percent sign', '100% sure %41.txt', '100% sure %41.txt'],
  ])('keeps a name with %s', async (_case, given, kept) => {
    const chat = await newChat();
    const file = await upload(ann, chat, 'x', given);
    expect(file.filename).toBe(kept);
    const reply = await fetch(file.url);
    const named = decodeURIComponent(/filename\*=UTF-8''(\S+)/.exec(reply.headers.get('content-disposition') ?? '')?.[1] ?? '');
    expect([reply.status, named]).toEqual([200, kept]);
  });

  it('answers with exactly the members of the contract, and the file is listed', async () => {
    const chat = await newChat();
    const file = await upload(ann, chat);
    expect(file).toEqual({
      id: expect.stringMatching(/^file_[0-9a-z]{26}$/),
      createdAt: expect.any(String),
      source: 'USER',
      filename: 'notes.txt',
      size: 10,
      mimeType: 'text/plain',
      url: expect.stringMatching(linkTo(chat, file)),
      metadata: {},
      deletedAt: null,
      status: 'UPLOADED',
    });
    const system = await ann.post(filesOf(chat), formOf('x', 'b.txt', { source: 'SYSTEM' }));
    expect(system.body.source).toBe('SYSTEM');
    const url = expect.any(String);
    expect((await ann.get(filesOf(chat))).body).toEqual({
      data: [
        { ...file, url },
        { ...system.body, url },
      ],
    });
    const { data } = await ann.graphql('query ($id: ID!) { chat(id: $id) { files { nodes { id size source } } } }', {
      id: chat.id,
    });
    expect(data.chat.files.nodes).toEqual([
      { id: file.id, size: 10, source: 'USER' },
      { id: system.body.id, size: 1, source: 'SYSTEM' },
    ]);
  });

  it('takes exactly 5 MB, and not a byte more', async () => {
    const chat = await newChat();
    expect(await upload(ann, chat, new Uint8Array(sizeMax))).toMatchObject({ size: sizeMax });
    for (const path of [filesOf(chat), recordsOf(chat)]) {
      expect((await ann.post(path, formOf(new Uint8Array(sizeMax + 1)))).status).toBe(413);
    }
    expect((await ann.get(filesOf(chat))).body.data).toHaveLength(1);
  });

  it('refuses an empty file, an unknown source, and more files than a chat may have', async () => {
    const chat = await newChat();
    expect(await ann.post(filesOf(chat), formOf(''))).toMatchObject({ status: 400, body: { error: { param: 'file' } } });
    expect(await ann.post(filesOf(chat), formOf('x', 'a', { source: 'ROBOT' }))).toMatchObject({
      status: 400,
      body: { error: { param: 'source' } },
    });
    for (let count = 0; count < 6; count += 1) await upload(ann, chat);
    const before = await blobCount();
    expect((await ann.post(filesOf(chat), formOf('x'))).status).toBe(409);
    expect(await blobCount()).toBe(before);
  });
});

describe('POST /api/v1/chats/:chatId/file-records', () => {
  it('announces a file, whose content comes once and in the size it said', async () => {
    const chat = await newChat();
    const { status, body: file } = await ann.post(recordsOf(chat), { ...record, metadata: { page: 1 } });
    expect([status, file.status, file.metadata, file.size]).toEqual([200, 'PENDING', { page: 1 }, 10]);
    expect((await ann.get(`${filesOf(chat)}/${file.id}/content`)).status).toBe(404);
    const content = `${recordsOf(chat)}/${file.id}/content`;
    expect(await ann.put(content, 'too short', { 'content-type': 'text/plain' })).toMatchObject({
      status: 400,
      body: { error: { param: 'size' } },
    });
    expect((await ann.put(content, '0123456789', { 'content-type': 'text/plain' })).body).toMatchObject({
      id: file.id,
      status: 'UPLOADED',
      metadata: { page: 1 },
    });
    expect((await ann.put(content, '0123456789', { 'content-type': 'text/plain' })).status).toBe(409);
    expect((await ann.get(`${filesOf(chat)}/${file.id}/content`)).body).toBe('0123456789');
  });

  it('takes one content when two come at once', async () => {
    const chat = await newChat();
    const { body: file } = await ann.post(recordsOf(chat), record);
    const put = (text: string) => ann.put(`${recordsOf(chat)}/${file.id}/content`, text, { 'content-type': 'text/plain' });
    const replies = await Promise.all([put('aaaaaaaaaa'), put('bbbbbbbbbb')]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = replies[0]?.status === 200 ? 'aaaaaaaaaa' : 'bbbbbbbbbb';
    expect((await ann.get(`${filesOf(chat)}/${file.id}/content`)).body).toBe(winner);
  });

  it('takes the file itself as a form', async () => {
    const chat = await newChat();
    const { status, body } = await ann.post(recordsOf(chat), formOf('direct', 'd.txt'));
    expect([status, body.status, body.size, body.filename]).toEqual([200, 'UPLOADED', 6, 'd.txt']);
  });

  it('needs no metadata, and takes null for it', async () => {
    const chat = await newChat();
    expect((await ann.post(recordsOf(chat), { ...record, metadata: null })).body.metadata).toEqual({});
  });

  it.each<[string, object, number, string]>([
    ['no name', { size: 1, mimeType: 'text/plain' }, 400, 'filename'],
    ['a blank name', { ...record, filename: ' ' }, 400, 'filename'],
    ['a name of nothing but a path', { ...record, filename: '../../' }, 400, 'filename'],
    ['a long name', { ...record, filename: 'a'.repeat(201) }, 400, 'filename'],
    ['no size', { filename: 'a', mimeType: 'text/plain' }, 400, 'size'],
    ['no byte', { ...record, size: 0 }, 400, 'size'],
    ['a size below zero', { ...record, size: -1 }, 400, 'size'],
    ['a size above the limit', { ...record, size: sizeMax + 1 }, 413, 'size'],
    ['a size that is a text', { ...record, size: '10' }, 400, 'size'],
    ['no type', { filename: 'a', size: 1 }, 400, 'mimeType'],
    ['a type that is none', { ...record, mimeType: 'text' }, 400, 'mimeType'],
    ['metadata that is a list', { ...record, metadata: [1] }, 400, 'metadata'],
    ['metadata without end', { ...record, metadata: { a: 'x'.repeat(20_000) } }, 400, 'metadata'],
    ['nothing', {}, 400, 'filename'],
  ])('refuses %s', async (_case, body, status, param) => {
    expect(await ann.post(recordsOf(await newChat()), body)).toMatchObject({ status, body: { error: { param } } });
  });

  it('expires after a day without its content', async () => {
    const chat = await newChat();
    const { body: file } = await ann.post(recordsOf(chat), record);
    const { body: kept } = await ann.post(recordsOf(chat), record);
    await service.deps.storage.db.pool.query(`update chat_files set "createdAt" = now() - interval '25 hours' where id = $1`, [
      file.id,
    ]);
    const put = () => ann.put(`${recordsOf(chat)}/${file.id}/content`, '0123456789', { 'content-type': 'text/plain' });
    expect((await put()).status).toBe(404);
    await expireRecords(service.deps, new AbortController().signal);
    expect((await ann.get(filesOf(chat))).body.data.map(({ id }: { id: string }) => id)).toEqual([kept.id]);
    expect((await put()).status).toBe(404);
  });
});

describe('the content of a chat file', () => {
  it('is served inert, whatever it is', async () => {
    const chat = await newChat();
    const html = '<script>alert(1)</script>';
    const file = await upload(ann, chat, html, 'e"vil;.html');
    const reply = await ann.get(`${filesOf(chat)}/${file.id}/content`);
    expect(reply.status).toBe(200);
    expect(reply.body).toBe(html);
    expect(reply.headers.get('content-disposition')).toMatch(/^attachment; filename="/);
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.headers.get('content-security-policy')).toContain('sandbox');
    expect(reply.headers.get('content-type')).toBe('application/octet-stream');
  });

  it('goes with the file, with the last copy, and with the chat', async () => {
    const { blobs } = service.deps.storage;
    const chat = await newChat();
    const [one, two] = [await upload(ann, chat, 'one'), await upload(ann, chat, 'two')];
    const [keyOne, keyTwo] = [await keyOf(one.id), await keyOf(two.id)];
    const copy = (await ann.post(`/api/v1/chats/${chat.id}/duplicate`)).body;
    const copies = (await ann.get(filesOf(copy))).body.data;
    expect(copies.map(({ filename, size }: { filename: string; size: number }) => [filename, size])).toEqual([
      ['notes.txt', 3],
      ['notes.txt', 3],
    ]);
    const removed = await ann.delete(`${filesOf(chat)}/${one.id}`);
    expect(removed).toMatchObject({ status: 200, body: { id: one.id, status: 'DELETED', deletedAt: expect.any(String) } });
    expect((await ann.get(`${filesOf(chat)}/${one.id}/content`)).status).toBe(404);
    expect((await ann.delete(`${filesOf(chat)}/${one.id}`)).status).toBe(404);
    expect((await ann.get(`${filesOf(copy)}/${copies[0].id}/content`)).body).toBe('one');
    await ann.delete(`/api/v1/chats/${chat.id}`);
    await ann.post('/api/v1/bin/chats/delete', { chatIds: [chat.id] });
    expect((await ann.get(`${filesOf(copy)}/${copies[1].id}/content`)).body).toBe('two');
    await ann.post(`/api/v1/chats/${copy.id}/reset`);
    expect((await ann.get(filesOf(copy))).body.data).toEqual([]);
    await expect(blobs.read(keyOne)).rejects.toThrow('gone');
    await expect(blobs.read(keyTwo)).rejects.toThrow('gone');
  });
});

it('deleted files are listed when asked for, for 30 days', async () => {
  const chat = await newChat();
  const [kept, gone, old] = [await upload(ann, chat), await upload(ann, chat), await upload(ann, chat)];
  for (const { id } of [gone, old]) expect((await ann.delete(`${filesOf(chat)}/${id}`)).status).toBe(200);
  await service.deps.storage.db.pool.query(
    `update chat_files set "deletedAt" = now() - interval '30 days 1 minute' where id = $1`,
    [old.id],
  );
  const listed = async (query = '') =>
    (await ann.get(filesOf(chat) + query)).body.data.map(({ id, status }: { id: string; status: string }) => [id, status]);
  expect(await listed()).toEqual([[kept.id, 'UPLOADED']]);
  expect(await listed('?includeDeleted=false')).toEqual([[kept.id, 'UPLOADED']]);
  expect(await listed('?includeDeleted=true')).toEqual([
    [kept.id, 'UPLOADED'],
    [gone.id, 'DELETED'],
  ]);
  const query = 'query ($id: ID!) { chat(id: $id) { files(includeDeleted: true) { nodes { id status deletedAt } } } }';
  const { data } = await ann.graphql(query, { id: chat.id });
  expect(data.chat.files.nodes[1]).toMatchObject({ id: gone.id, status: 'DELETED', deletedAt: expect.any(String) });
  expect((await ann.get(`${filesOf(chat)}/${gone.id}/content`)).status).toBe(404);
});

it('bytes that a cut-off deletion of a chat left behind are swept up', async () => {
  const chat = await newChat();
  const key = await keyOf((await upload(ann, chat)).id);
  await service.deps.storage.db.pool.query('update chats set "deletedAt" = now() where id = $1', [chat.id]);
  await sweepLeftBehind(service.deps, new AbortController().signal);
  await expect(service.deps.storage.blobs.read(key)).rejects.toThrow('gone');
});

describe('who may use files of a chat', () => {
  it('its user; readers of its log may read them; others find nothing', async () => {
    const shown = await make.agent({ owner: ann, visibility: 'ORGANIZATION', chatLogsVisible: true, modelId: 'parley/offline' });
    const [hidden, open] = [await newChat(cleo), await newChat(cleo, shown.id)];
    const files = new Map([
      [hidden.id, await upload(cleo, hidden)],
      [open.id, await upload(cleo, open)],
    ]);
    for (const [who, chat, read, write] of [
      [bob, open, 404, 404],
      [ann, hidden, 404, 404],
      [admin, hidden, 404, 404],
      [ann, open, 200, 403],
      [admin, open, 200, 403],
    ] as const) {
      const file = files.get(chat.id);
      expect((await who.get(filesOf(chat))).status).toBe(read);
      expect((await who.get(`${filesOf(chat)}/${file.id}/content`)).status).toBe(read);
      expect((await who.post(filesOf(chat), formOf('x'))).status).toBe(write);
      expect((await who.post(recordsOf(chat), record)).status).toBe(write);
      expect((await who.post(recordsOf(chat), formOf('x'))).status).toBe(write);
      expect((await who.put(`${recordsOf(chat)}/${file.id}/content`, 'x')).status).toBe(write);
      expect((await who.delete(`${filesOf(chat)}/${file.id}`)).status).toBe(write);
    }
    const other = await newChat(cleo);
    expect((await cleo.get(`${filesOf(other)}/${files.get(open.id).id}/content`)).status).toBe(404);
    expect((await cleo.delete(`${filesOf(other)}/${files.get(open.id).id}`)).status).toBe(404);
  });
});
