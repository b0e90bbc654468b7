import { beforeAll, describe, expect, it } from 'vitest';
import { findBox } from '../../../../src/engine/tools/code/box/box.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** python, sandbox and spreadsheet on every API, whole and as a stream. */
const model = 'openai/test-model';
const { make, service, upstream } = await withService('model', { env: { PYTHON_TIMEOUT_MS: '60000' } });
const box = await findBox();
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person();
  agentId = (await make.agent({ owner: ann, modelId: model })).id;
});

const tools: readonly (readonly [string, string, object, string | RegExp])[] = [
  ['python', 'python', { code: "open('made.txt', 'w').write('é')\nprint(6 * 7)" }, /^42\n\[Files given to the user: "made\.txt"/],
  ['sandbox', 'shell', { command: 'echo made > made.txt; wc -l < made.txt' }, /^\s*1\n\[Files given to the user: "made\.txt"/],
  [
    'spreadsheet',
    'spreadsheet',
    { operation: 'create', file: 'made.xlsx', values: [[2, '=A1*21']] },
    '{"file":"made.xlsx","sheet":"Sheet1","range":"A1:B1","values":[[2,42]],"formulas":{"B1":"=A1*21"}}',
  ],
];
const messages = [{ role: 'user', content: 'Go' }];

type Ask = (type: string) => Promise<string>;
const events = async (path: string, body: object) => JSON.stringify(await ann.stream(path, { ...body, stream: true }));
const chat = async () => (await make.chat({ owner: ann, agentId })).id;
const surfaces: Readonly<Record<string, Ask>> = {
  chats: async (type) =>
    JSON.stringify((await ann.post(`/api/v1/chats/${await chat()}/messages`, { prompt: 'Go', tools: [{ type }] })).body),
  'chats, as a stream': async (type) => events(`/api/v1/chats/${await chat()}/messages`, { prompt: 'Go', tools: [{ type }] }),
  completions: async (type) =>
    JSON.stringify((await ann.post('/api/v1/chat/completions', { model, messages, tools: [{ type }] })).body),
  'completions, as a stream': (type) => events('/api/v1/chat/completions', { model, messages, tools: [{ type }] }),
  responses: async (type) =>
    JSON.stringify((await ann.post('/api/v2/responses', { model, input: 'Go', tools: [{ type }] })).body),
  'responses, as a stream': (type) => events('/api/v2/responses', { model, input: 'Go', tools: [{ type }] }),
  GraphQL: async (type) => {
    const document =
      'mutation ($input: CompletionInput!) { createCompletion(input: $input) { choices { message { content } } } }';
    return JSON.stringify(await ann.graphql(document, { input: { model, messages, tools: [{ type }] } }));
  },
};

const told = () => {
  const sent = (upstream.requests.at(-1)?.body?.messages ?? []) as { role: string; content: string }[];
  return sent.findLast(({ role }) => role === 'tool')?.content ?? '';
};

describe.each(tools)('%s', { timeout: 120_000 }, (type, name, args, result) => {
  it.runIf(box !== undefined || type === 'spreadsheet').each(Object.entries(surfaces))('works on %s', async (_surface, ask) => {
    upstream.next({ toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(args) }] }, { text: 'Here it is.' });
    expect(await ask(type)).toContain('Here it is.');
    if (typeof result === 'string') expect(told()).toBe(result);
    else expect(told()).toMatch(result);
  });
});

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
