import { describe, expect, it } from 'vitest';
import { findBox } from '../../../../src/engine/tools/code/box/box.ts';
import { withService } from '../../../support/service.ts';

const model = 'openai/test-model';
const { make, service, upstream } = await withService('model', { env: { PYTHON_TIMEOUT_MS: '60000' } });
const box = await findBox();

const ann = await make.person();
const agentId = (await make.agent({ owner: ann, modelId: model })).id;

const chat = async () => (await make.chat({ owner: ann, agentId })).id;
const told = () => {
  const sent = (upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[];
  return sent.findLast(({ role }) => role === 'tool')?.content ?? '';
};

describe('files and state of a chat', { timeout: 120_000 }, () => {
  const call = async (chatId: string, type: string, name: string, args: object) => {
    upstream.next({ toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(args) }] }, { text: 'Done.' });
    const { status, body } = await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Go', tools: [{ type }] });
    expect(status, JSON.stringify(body)).toBe(200);
    return told();
  };
  const filesOf = async (chatId: string) =>
    ((await ann.get(`/api/v1/chats/${chatId}/files`)).body.data as { filename: string; source: string; mimeType: string }[]).map(
      (file) => [file.filename, file.source],
    );
  const upload = (chatId: string, content: string, name: string) => {
    const form = new FormData();
    form.set('file', new File([content], name));
    return ann.post(`/api/v1/chats/${chatId}/files`, form);
  };
  const states = async () => (await service.deps.storage.db.pool.query('select "chatId", "blobKey" from code_states')).rows;

  it.runIf(box !== undefined)('are those of the chat alone, last between messages, expire, and are deleted with it', async () => {
    const [one, other] = [await chat(), await chat()];
    await upload(one, 'a,b\n1,2\n', 'given.csv');
    const code = "import plot; n = 5; plot.bar(['a'], [1]); plot.save('bars.png'); open('given.csv').read()";
    expect(await call(one, 'python', 'python', { code })).toMatch(
      /^'a,b\\n1,2\\n'\n\[Files given to the user: "bars.png" \(image\/png/,
    );
    expect(await filesOf(one)).toEqual([
      ['given.csv', 'USER'],
      ['bars.png', 'SYSTEM'],
    ]);
    expect(await call(one, 'python', 'python', { code: 'print(n)' })).toBe('5\n');
    expect(await call(one, 'sandbox', 'shell', { command: 'ls' })).toBe('bars.png\ngiven.csv\n');
    expect(await call(other, 'python', 'python', { code: 'import os; print(os.listdir(), "n" in globals())' })).toBe(
      '[] False\n',
    );
    const [{ blobKey }] = (await states()).filter(({ chatId }) => chatId === one);
    const sealed = await service.deps.storage.blobs.read(blobKey);
    for (const name of ['bars.png', 'given.csv', 'folder']) expect(sealed.includes(name), name).toBe(false);
    await service.deps.storage.db.pool.query(
      'update code_states set "expiresAt" = now() - interval \'1 second\' where "chatId" = $1',
      [one],
    );
    expect(await call(one, 'python', 'python', { code: 'print("n" in globals())' })).toBe('False\n');
    await expect(service.deps.storage.blobs.read(blobKey)).rejects.toThrow();
    const { blobKey: last } = (await states()).find(({ chatId }) => chatId === one);
    expect((await ann.delete(`/api/v1/chats/${one}`)).status).toBeLessThan(300);
    expect((await ann.post('/api/v1/bin/chats/delete', { chatIds: [one] })).status).toBe(200);
    expect((await states()).map(({ chatId }) => chatId)).not.toContain(one);
    await expect(service.deps.storage.blobs.read(last)).rejects.toThrow();
  });

  it('a spreadsheet keeps its name and id while it changes; the file of a person stays', async () => {
    const id = await chat();
    await upload(id, 'a,1\n', 'given.csv');
    await call(id, 'spreadsheet', 'spreadsheet', { operation: 'create', file: 'b.xlsx', values: [[1]] });
    const before = (await ann.get(`/api/v1/chats/${id}/files`)).body.data.at(-1);
    await call(id, 'spreadsheet', 'spreadsheet', { operation: 'write', file: 'b.xlsx', range: 'A2', values: [['=A1+1']] });
    const after = (await ann.get(`/api/v1/chats/${id}/files`)).body.data.at(-1);
    expect([after.id, after.filename]).toEqual([before.id, 'b.xlsx']);
    expect(await call(id, 'spreadsheet', 'spreadsheet', { operation: 'read', file: 'b.xlsx' })).toContain('"values":[[1],[2]]');
    await call(id, 'spreadsheet', 'spreadsheet', { operation: 'write', file: 'given.csv', range: 'C1', values: [[5]] });
    expect(await filesOf(id)).toEqual([
      ['given.csv', 'USER'],
      ['b.xlsx', 'SYSTEM'],
      ['given (2).csv', 'SYSTEM'],
    ]);
  });
});
