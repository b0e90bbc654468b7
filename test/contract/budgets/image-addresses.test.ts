import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { apis } from '../../support/apis/questions.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const pictureUrl = `data:image/png;base64,${png.toString('base64')}`;
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><image href="http://169.254.169.254/latest"/></svg>';
const model = 'openai/test-model';
const asked: string[] = [];
const site = createServer((request, response) => {
  const path = request.url ?? '';
  asked.push(path);
  if (path.startsWith('/picture')) response.setHeader('content-type', 'text/plain').end(png);
  else if (path === '/svg.png') response.setHeader('content-type', 'image/png').end(svg);
  else if (path === '/page.png') response.setHeader('content-type', 'image/png').end('<h1>No image</h1>');
  else if (path === '/away.png') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
  else if (path === '/large.png') response.end(Buffer.concat([png, Buffer.alloc(3_000_000)]));
  else response.writeHead(404).end();
});
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
const { port } = site.address() as AddressInfo;
const siteUrl = `http://127.0.0.1:${port}`;
const { service, make, upstream } = await withService('model', {
  env: { EGRESS_ALLOW: `127.0.0.1:${port}`, PROMPT_FETCH_MAX_BYTES: '5000000' },
});

const ann = await make.person();
const agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;

beforeEach(() => {
  asked.length = 0;
});
afterAll(() => {
  site.close();
});

/** The images in all requests to the model server. */
const imagesSent = (): readonly { url: string; detail?: string }[] =>
  upstream.requests.flatMap(({ body }) =>
    ((body?.messages ?? []) as { content: unknown }[]).flatMap(({ content }) =>
      Array.isArray(content) ? content.flatMap(({ image_url: image }) => image ?? []) : [],
    ),
  );
const completion = (...content: object[]) =>
  ann.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content }] });
const response = (input: unknown, more: object = {}) => ann.post('/api/v2/responses', { model, input, ...more });
const says = (...content: object[]) => [{ role: 'user', content }];
const newChat = async () => (await ann.post(`/api/v1/ais/${agentId}/chats`, {})).body.id as string;
const tell = (chatId: string, prompt: unknown) => ann.post(`/api/v1/chats/${chatId}/messages`, { prompt });

describe.each(sampled(Object.keys(apis)))('an image by address, over %s', (name) => {
  const send = apis[name];
  const ask = async (image: string) => {
    const answers = await send?.(ann, { model, agentOfModel: agentId, text: 'What is it?', image }).catch(() => undefined);
    return answers?.[0];
  };

  it('is fetched and given to the model in the message', async () => {
    const answer = await ask(`${siteUrl}/picture`);
    expect(answer?.error).toBeNull();
    expect(imagesSent()).toEqual([{ url: pictureUrl }]);
    expect(asked).toEqual(['/picture']);
  });

  it.each([
    'http://127.0.0.1:9/a.png',
    'http://localhost:9/a.png',
    'http://169.254.169.254/latest/a.png',
    'http://168.63.129.16/a.png',
    'http://10.0.0.1/a.png',
    'http://[::1]/a.png',
    'http://[::ffff:0:127.0.0.1]/a.png',
    'http://2130706433/a.png',
    'http://user:secret@203.0.113.7/a.png',
    'SITE/away.png',
    'SITE/nothing.png',
    `data:image/svg+xml;base64,${btoa(svg)}`,
    `data:image/png;base64,${btoa(svg)}`,
    'file:///etc/passwd',
  ])('does not reach the model: %s', async (address) => {
    const answer = await ask(address.replace('SITE', siteUrl));
    expect(answer?.error).not.toBeNull();
    expect(upstream.requests).toEqual([]);
  });
});

describe('an image by address', () => {
  it.each<[string, string, (url: string) => Promise<{ status: number; body: { error: { param: string } } }>]>([
    [
      'a completion',
      'messages[0].content[1].image_url',
      (url) => completion({ type: 'text', text: 'x' }, { type: 'image_url', image_url: { url } }),
    ],
    ['a completion, short', 'messages[0].content[0].image_url', (url) => completion({ type: 'input_image', image_url: url })],
    ['a chat', 'prompt[0].url', async (url) => tell(await newChat(), [{ type: 'url', url }])],
    [
      'a response',
      'input[0].content[1].image_url',
      (url) => response(says({ type: 'input_text', text: 'x' }, { type: 'input_image', image_url: url })),
    ],
    [
      'the output of a tool',
      'input[2].output[0].image_url',
      (url) =>
        response([
          { role: 'user', content: 'x' },
          { type: 'function_call', call_id: 'call_1', name: 'draw', arguments: '{}' },
          { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_image', image_url: url }] },
        ]),
    ],
    ['a file of a response', 'input[0].content[0].file_url', (url) => response(says({ type: 'input_file', file_url: url }))],
  ])('that may not be fetched is a 400 that names the member: %s', async (_case, param, send) => {
    for (const url of ['http://169.254.169.254/a.png', 'http://127.0.0.1:9/a.png', 'gopher://127.0.0.1/']) {
      expect(await send(url)).toMatchObject({ status: 400, body: { error: { param } } });
    }
    expect(upstream.requests).toEqual([]);
  });

  it('must be one by its first bytes, whatever its type says', async () => {
    for (const path of ['/svg.png', '/page.png']) {
      const reply = await completion({ type: 'image_url', image_url: { url: siteUrl + path } });
      expect(reply).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('none of PNG') } } });
    }
  });

  it('keeps its detail and its place among others', async () => {
    const image = (path: string, detail: string) => ({ type: 'image_url', image_url: { url: siteUrl + path, detail } });
    await completion(image('/picture?1', 'low'), { type: 'text', text: 'and' }, image('/picture?2', 'high'));
    expect(imagesSent()).toEqual([
      { url: pictureUrl, detail: 'low' },
      { url: pictureUrl, detail: 'high' },
    ]);
    expect(asked).toEqual(['/picture?1', '/picture?2']);
  });

  it('is fetched once: later turns have what was read then, and transcripts the address', async () => {
    const chatId = await newChat();
    await tell(chatId, [{ type: 'url', url: `${siteUrl}/picture` }]);
    await tell(chatId, 'And now?');
    const first = await response(says({ type: 'input_image', image_url: `${siteUrl}/picture` }));
    await response('And now?', { previous_response_id: first.body.id });
    expect(imagesSent().map(({ url }) => url)).toEqual(Array.from({ length: 4 }, () => pictureUrl));
    expect(asked).toHaveLength(2);
    const [message] = (await ann.get(`/api/v1/chats/${chatId}`)).body.messages;
    expect(message.parts).toEqual([{ type: 'url', url: `${siteUrl}/picture` }]);
  });

  it('counts and is bounded with the others of its request', async () => {
    const images = (count: number, path: string) =>
      Array.from({ length: count }, () => ({ type: 'image_url', image_url: { url: siteUrl + path } }));
    expect(await completion(...images(21, '/picture'))).toMatchObject({ status: 400, body: { error: { param: 'messages' } } });
    expect(asked).toHaveLength(0);
    const reply = await completion(...images(2, '/large.png'));
    expect(reply).toMatchObject({ status: 400, body: { error: { param: 'messages[0].content[1].image_url' } } });
    expect(reply.body.error.message).toContain('5000000 bytes together');
  });

  it('stored in a chat by an older version is named to the model, and not sent', async () => {
    const chatId = await newChat();
    await tell(chatId, [{ type: 'url', url: pictureUrl }]);
    const parts = JSON.stringify([{ type: 'url', url: 'http://169.254.169.254/old.png' }]);
    await service.deps.storage.db.pool.query(`update messages set parts = $1 where "chatId" = $2 and role = 'user'`, [
      parts,
      chatId,
    ]);
    upstream.reset();
    expect((await tell(chatId, 'And now?')).status).toBe(200);
    expect(imagesSent()).toEqual([]);
    expect(JSON.stringify(upstream.requests[0]?.body)).toContain('[image http://169.254.169.254/old.png, not shown]');
  });
});
