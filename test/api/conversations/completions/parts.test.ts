import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

/** What completions take as chats do: files, addresses, secrets; and when they cite. */
const { make, upstream } = await withService('model');
const path = '/api/v1/chat/completions';
const model = 'openai/test-model';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const ann = await make.person();
const site = createServer((request, response) => {
  if (request.url === '/page') response.setHeader('content-type', 'text/html').end('<h1>Fair</h1><p>It opens on 9 May.</p>');
  else if (request.url === '/picture') response.setHeader('content-type', 'image/png').end(Buffer.from(png, 'base64'));
  else response.writeHead(404).end();
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
const siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

afterAll(() => {
  site.close();
});

const ask = (parts: readonly object[], members: object = {}, who = ann) =>
  who.post(path, { model, messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...parts] }], ...members });
// biome-ignore lint/suspicious/noExplicitAny: what the tests find in it is what they check.
const lastContent = (): any => ((upstream.requests.at(-1)?.body?.messages ?? []) as any[]).at(-1)?.content;

async function upload(content: string | Buffer, name: string, who = ann): Promise<string> {
  const agent = await make.agent({ owner: who });
  const chat = await make.chat({ owner: who, agentId: agent.id });
  const form = new FormData();
  form.append('file', new Blob([content as BlobPart]), name);
  return (await who.post(`/api/v1/chats/${chat.id}/files`, form)).body.id;
}

it('names tell the model who speaks in the same role', async () => {
  const messages = [
    { role: 'system', name: 'moderator', content: 'Be brief.' },
    { role: 'user', name: 'ann', content: 'I come at nine.' },
    { role: 'assistant', name: 'host', content: 'Noted.' },
    { role: 'user', name: 'bo', content: [{ type: 'text', text: 'When do I come?' }] },
    { role: 'user', name: ' ', content: 'And I?' },
  ];
  const { status, body } = await ann.post(path, { model, messages });
  expect([status, body.warnings]).toEqual([200, undefined]);
  const sent = (upstream.requests.at(-1)?.body?.messages ?? []) as readonly { readonly name?: string }[];
  expect(sent.map(({ name }) => name)).toEqual(['moderator', 'ann', 'host', 'bo', undefined]);
});

describe('a content part', () => {
  it.each<[string, () => Promise<object> | object]>([
    ['id: a file of a chat', async () => ({ type: 'id', id: await upload('The fair opens on 9 May.', 'fair.txt') })],
    ['file with file_id', async () => ({ type: 'file', file: { file_id: await upload('Opens on 9 May.', 'fair.txt') } })],
    [
      'file with file_data',
      () => ({
        type: 'file',
        file: { filename: 'fair.txt', file_data: `data:text/plain;base64,${Buffer.from('Opens on 9 May.').toString('base64')}` },
      }),
    ],
    ['input_file with file_url', () => ({ type: 'input_file', file_url: `${siteUrl}/page` })],
    ['url of a page', () => ({ type: 'url', url: `${siteUrl}/page` })],
  ])('%s gives the model its text', async (_kind, part) => {
    const { status, body } = await ask([await part()]);
    expect([status, body.choices?.[0]?.finish_reason], JSON.stringify(body)).toEqual([200, 'stop']);
    expect(lastContent()).toMatch(/^What is it\?\n\n[\s\S]*9 May/);
  });

  it.each<[string, () => Promise<object> | object]>([
    ['id: an image', async () => ({ type: 'id', id: await upload(Buffer.from(png, 'base64'), 'dot.png') })],
    ['url of an image', () => ({ type: 'url', url: `${siteUrl}/picture` })],
    ['url with the image itself', () => ({ type: 'url', url: `data:image/png;base64,${png}` })],
  ])('%s gives the model the image', async (_kind, part) => {
    expect((await ask([await part()])).status).toBe(200);
    expect(lastContent()).toEqual([
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: expect.objectContaining({ url: `data:image/png;base64,${png}` }) },
    ]);
  });

  it('of a file that is not there, or is of somebody else, is refused alike', async () => {
    const bob = await make.person();
    const foreign = await upload('Secret', 'secret.txt', bob);
    const replies = [];
    for (const id of [foreign, 'file_01jd0000000000000000000000', 'nonsense']) {
      const { status, body } = await ask([{ type: 'id', id }]);
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'messages[0].content[1].id']);
      replies.push(body.error.message);
    }
    expect(new Set(replies).size).toBe(1);
    const { body } = await ask([{ type: 'file', file: { file_id: foreign } }]);
    expect(body.error.param).toBe('messages[0].content[1].file.file_id');
    expect(upstream.requests).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a file without content', { type: 'file', file: {} }, 'messages[0].content[1].file.file_data'],
    [
      'a file of two sources',
      { type: 'file', file: { file_id: 'a', file_data: 'data:;base64,' } },
      'messages[0].content[1].file.file_id',
    ],
    ['an address that is none', { type: 'url', url: 'ftp://example.com' }, 'messages[0].content[1].url'],
    ['an id that is no text', { type: 'id', id: 7 }, 'messages[0].content[1].id'],
  ])('that is wrong is named: %s', async (_why, part, param) => {
    const { status, body } = await ask([part]);
    expect([status, body.error.param]).toEqual([400, param]);
  });

  it('with a file is for the role user', async () => {
    const messages = [
      { role: 'system', content: [{ type: 'url', url: `${siteUrl}/page` }] },
      { role: 'user', content: 'Hi' },
    ];
    const { status, body } = await ann.post(path, { model, messages });
    expect([status, body.error.param]).toEqual([400, 'messages[0].content']);
  });
});

describe('secrets', () => {
  it('reach the tools of the agent, and no model', async () => {
    let authorization: string | undefined;
    const api = createServer((request, response) => {
      authorization = request.headers.authorization;
      response.setHeader('content-type', 'application/json').end('{"echo":"CANARY-77"}');
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/stock`;
    const agent = await make.agent({ owner: ann, modelId: model });
    const tool = await ann.post(`/api/v1/ais/${agent.id}/tools`, {
      name: 'get_stock',
      type: 'API_FUNCTION',
      data: { description: 'Counts', method: 'GET', url, headers: { Authorization: 'Bearer {{secret:STOCK_KEY}}' } },
    });
    expect(tool.status, JSON.stringify(tool.body)).toBe(200);
    upstream.next({ toolCalls: [{ id: 'call_1', name: 'get_stock', arguments: '{}' }] }, { text: 'Done' });
    const messages = [{ role: 'user', content: 'How many?' }];
    const { status, body } = await ann.post(path, { model: agent.id, messages, secrets: { STOCK_KEY: 'CANARY-77' } });
    expect([status, body.choices[0].message.content]).toEqual([200, 'Done']);
    expect(authorization).toBe('Bearer CANARY-77');
    expect(JSON.stringify(upstream.requests.map(({ body: sent }) => sent))).not.toContain('CANARY-77');
    api.close();
  });

  it.each<[string, string]>([
    [path, 'secrets'],
    ['/api/v2/responses', 'user_secrets'],
  ])('that are wrong are named by the own key of the caller: %s', async (place, member) => {
    const request = place === path ? { model, messages: [{ role: 'user', content: 'Hi' }] } : { model, input: 'Hi' };
    for (const key of ['API_KEY', 'myKey', 'a-b.c']) {
      const { status, body } = await ann.post(place, { ...request, [member]: { [key]: 7 } });
      expect([status, body.error.param]).toEqual([400, `${member}.${key}`]);
      expect(body.error.message).toBe(`${member}.${key} must be a string`);
    }
  });
});

it('counts: a request has so many files and addresses, and no more', async () => {
  const id = await upload('Opens on 9 May.', 'fair.txt');
  const parts = (count: number) => Array.from({ length: count }, () => ({ type: 'id', id }));
  expect((await ask(parts(20))).status).toBe(200);
  const { status, body } = await ask(parts(21));
  expect([status, body.error.message]).toEqual([400, 'messages must have at most 20 files and addresses']);
});

describe('annotations', () => {
  it('stand in a reply when the request asks, else when the agent does and the caller takes additions', async () => {
    const agent = await make.agent({ owner: ann, modelId: model, generateCitations: true });
    const silent = await make.agent({ owner: ann, modelId: model, generateCitations: false });
    for (const { id } of [agent, silent]) {
      const { body } = await addFile(ann, id, 'prices.md', '# Prices\n\nA puncture repair costs 15 euros.', 'text/markdown');
      await indexed(ann, body.id);
    }
    upstream.otherwise({ text: 'It costs 15 euros [1].' });
    const cites = async (modelId: string, members: object = {}, headers = {}) => {
      const messages = [{ role: 'user', content: 'What does a puncture repair cost?' }];
      const { body } = await ann.post(path, { model: modelId, messages, ...members }, headers);
      return body.choices[0].message.annotations !== undefined;
    };
    const off = { 'x-parley-extensions': 'off' };
    expect(await cites(agent.id)).toBe(true);
    expect(await cites(agent.id, { generateCitations: false })).toBe(false);
    expect(await cites(agent.id, {}, off)).toBe(false);
    expect(await cites(agent.id, { stream_options: { include_extensions: false } })).toBe(false);
    expect(await cites(agent.id, { generateCitations: true }, off)).toBe(true);
    expect(await cites(silent.id)).toBe(false);
    expect(await cites(silent.id, { generateCitations: true })).toBe(true);
  });
});
