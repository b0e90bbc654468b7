import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { signedFileAddress } from '../../../../../src/engine/files/file-links.ts';
import { type ImageAnswer, pixel, pixelReply, startImageServer } from '../../../../fixtures/upstreams/images.ts';
import { ways } from '../../../../support/apis/ways.ts';
import { messagesOf, toolsOf } from '../../../../support/runs/research.ts';
import { withService } from '../../../../support/service.ts';

const server = await startImageServer();
const { service, make, upstream } = await withService('model', {
  env: { IMAGE_MODEL: 'ollama/one,ollama/two', OLLAMA_BASE_URL: server.url, IMAGE_TIMEOUT_MS: '1500' },
});
const dataUrl = `data:image/png;base64,${pixel.toString('base64')}`;

const ann = await make.person();
const agent = (await make.agent({ owner: ann, modelId: 'openai/test-model' })).id;

beforeEach(() => server.reset());
afterAll(() => server.close());

/** The model makes one call and then answers. @returns what it read of the call. */
function scriptCall(args: object | string): () => string {
  let output = '';
  upstream.otherwise((request) => {
    const answered = messagesOf(request).findLast(({ role }) => role === 'tool');
    if (answered !== undefined) output = String(answered.content);
    if (answered !== undefined || !toolsOf(request).includes('generate_image')) return { text: 'Here it is.' };
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return { toolCalls: [{ id: 'call_1', name: 'generate_image', arguments: text }] };
  });
  return () => output;
}
const chatOf = async () => (await make.chat({ owner: ann, agentId: agent })).id as string;
const bodyOf = () => JSON.parse(server.asked[0]?.body ?? '{}');
async function send(chat: string, tool: object = {}) {
  const prompt = 'Draw a cat';
  const reply = await ann.post(`/api/v1/chats/${chat}/messages`, { prompt, tools: [{ type: 'image_generation', ...tool }] });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
}

describe('on every API', () => {
  it.each(ways.map((way) => [way.name, way] as const))('%s makes an image', async (_name, way) => {
    const output = scriptCall({ prompt: 'A red cat' });
    expect(await way.ask(ann, { model: agent, tools: ['image_generation'] })).toMatchObject({ status: 'completed' });
    expect(output()).toMatch(/^Made an image, shown to the user: a-red-cat\.png/);
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]?.headers['idempotency-key']).toMatch(/^[\w-]+:call_1$/);
    expect(bodyOf()).toEqual({ model: 'one', prompt: 'A red cat', n: 1 });
  });

  it('a chat shows it in the reply, the transcript, the file list and GraphQL', async () => {
    scriptCall({ prompt: 'A red cat' });
    const chat = await chatOf();
    const { message, runId } = await send(chat);
    const [file] = (await ann.get(`/api/v1/chats/${chat}/files`)).body.data;
    expect(file).toMatchObject({ source: 'SYSTEM', filename: 'a-red-cat.png', mimeType: 'image/png', size: pixel.length });
    const parts = [
      { type: 'text', text: 'Here it is.' },
      { type: 'id', id: file.id },
    ];
    expect(message).toMatchObject({ content: 'Here it is.', parts });
    expect((await ann.get(`/api/v1/chats/${chat}`)).body.messages.at(-1)).toMatchObject({ parts });
    const { data } = await ann.graphql(
      'query ($id: ID!) { chat(id: $id) { activeLeaf { parts { __typename ... on TextPart { text } ... on FilePart { file { id filename } } } files { id } } } }',
      { id: chat },
    );
    expect(data.chat.activeLeaf).toEqual({
      parts: [
        { __typename: 'TextPart', text: 'Here it is.' },
        { __typename: 'FilePart', file: { id: file.id, filename: 'a-red-cat.png' } },
      ],
      files: [{ id: file.id }],
    });
    const following =
      'subscription ($runId: ID!) { runEvents(runId: $runId) { ... on RunEnded { run { output { ... on ToolOutputItem { files { fileId filename mimeType sizeBytes url } } } } } } }';
    const events = await Array.fromAsync(ann.subscribe(following, { runId }));
    const files = events.at(-1)?.data.runEvents.run.output.flatMap((item: { files?: object[] }) => item.files ?? []);
    expect(files).toMatchObject([{ fileId: file.id, filename: 'a-red-cat.png', mimeType: 'image/png', sizeBytes: pixel.length }]);
  });

  it('a stream of a chat names it with the call and with the message', async () => {
    scriptCall({ prompt: 'A red cat' });
    const chat = await chatOf();
    const sent = { prompt: 'Draw', stream: true, tools: [{ type: 'image_generation' }] };
    const events = (await ann.stream(`/api/v1/chats/${chat}/messages`, sent)).map(({ data }) => JSON.parse(data));
    const completed = events.find(({ type }) => type === 'tool.completed');
    expect(completed).toMatchObject({ status: 'completed', files: [{ filename: 'a-red-cat.png' }] });
    const message = events.find(({ type }) => type === 'message.completed');
    expect(message.parts).toEqual([
      { type: 'text', text: 'Here it is.' },
      { type: 'id', id: completed.files[0].fileId },
    ]);
  });

  it('a completion has it as `images`, and not with the extensions switched off', async () => {
    scriptCall({ prompt: 'A red cat' });
    const asked = {
      model: 'openai/test-model',
      messages: [{ role: 'user', content: 'Draw' }],
      tools: [{ type: 'image_generation' }],
    };
    const images = [{ type: 'image_url', image_url: { url: dataUrl } }];
    const { body } = await ann.post('/api/v1/chat/completions', asked);
    expect(body.choices[0].message.images).toEqual(images);
    const frames = (await ann.stream('/api/v1/chat/completions', { ...asked, stream: true })).slice(0, -1);
    expect(JSON.parse(frames.at(-1)?.data ?? '').choices[0].delta.images).toEqual(images);
    const off = { stream_options: { include_extensions: false } };
    expect((await ann.post('/api/v1/chat/completions', { ...asked, ...off })).body.choices[0].message.images).toBeUndefined();
  });

  it('a response has it as an output_image', async () => {
    scriptCall({ prompt: 'A red cat' });
    const { body } = await ann.post('/api/v2/responses', { model: agent, input: 'Draw', tools: [{ type: 'image_generation' }] });
    const output = body.output.find(({ type }: { type: string }) => type === 'server_tool_call_output');
    expect(output.output).toMatchObject([
      { type: 'output_text' },
      { type: 'output_image', mime_type: 'image/png', file_id: expect.stringMatching(/^file_/) },
    ]);
  });
});

describe('the request', () => {
  it('fixes options, which the model can neither see nor change', async () => {
    scriptCall({ prompt: 'A cat', size: '256x256', n: 4, background: 'opaque', model: 'two' });
    await send(await chatOf(), { model: 'two', size: '512x512', n: 2, quality: 'low', outputFormat: 'webp', style: 'vivid' });
    expect(bodyOf()).toEqual({
      ...{ model: 'two', prompt: 'A cat', n: 2, size: '512x512', quality: 'low', background: 'opaque' },
      ...{ output_format: 'webp', style: 'vivid' },
    });
    const [offered] = (upstream.requests[0]?.body?.tools ?? []) as {
      readonly function: { readonly parameters: { readonly properties: object } };
    }[];
    expect(Object.keys(offered?.function.parameters.properties ?? {})).toEqual(['prompt', 'background', 'input_image']);
  });

  it.each([
    ['a model of no image provider', { model: 'openai/test-model' }, 'model', 'must be one of ollama/one, ollama/two'],
    ['a size that is none', { size: 'big' }, 'size', 'must be auto, or such as 1024x1024'],
    ['too many', { n: 5 }, 'n', 'must be an integer from 1 to 4'],
    ['what nothing honours', { partial_images: 2 }, 'partial_images', 'cannot be served here'],
    [
      'a mask by address',
      { input_image_mask: { image_url: 'https://a.test/b.png' } },
      'input_image_mask',
      'must have a data URL',
    ],
  ])('is refused with %s', async (_case, options, member, message) => {
    const asked = { model: agent, input: 'Draw', tools: [{ type: 'image_generation', ...options }] };
    const { status, body } = await ann.post('/api/v2/responses', asked);
    expect([status, body.error.param]).toEqual([400, `tools[0].${member}`]);
    expect(body.error.message).toContain(message);
  });

  it('changes an image of the chat, with a mask', async () => {
    const chat = await chatOf();
    scriptCall({ prompt: 'A red cat' });
    await send(chat);
    server.reset();
    scriptCall({ prompt: 'Make it blue', input_image: 'a-red-cat.png' });
    const output = scriptCall({ prompt: 'Make it blue', input_image: 'a-red-cat.png' });
    upstream.next({
      toolCalls: [{ id: 'call_2', name: 'generate_image', arguments: '{"prompt":"Make it blue","input_image":"a-red-cat.png"}' }],
    });
    await send(chat, { inputImageMask: { imageUrl: dataUrl } });
    expect(output()).toContain('make-it-blue.png');
    expect(server.asked[0]?.path).toBe('/v1/images/edits');
    expect(server.asked[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(server.asked[0]?.body).toMatch(/name="image"; filename="a-red-cat.png"[\s\S]*name="mask"; filename="mask.png"/);
    expect(server.asked[0]?.body).toContain(pixel.toString('latin1'));
  });
});

describe('what can go wrong is an error that the model reads', () => {
  it.each<[string, ImageAnswer, RegExp]>([
    [
      'a content policy',
      { status: 400, body: { error: { message: 'no', code: 'content_policy_violation' } } },
      /refused the content/,
    ],
    ['a rate limit', { status: 429, body: {} }, /limits the rate/],
    ['a failure', { status: 500, body: {} }, /The model provider "ollama" failed \(500\)/],
    ['no JSON', { body: '<html>' }, /no JSON/],
    ['no image', { body: { data: [] } }, /no image/],
    ['garbage', { body: { data: [{ b64_json: Buffer.from('<svg/>').toString('base64') }] } }, /something that is no image/],
    ['silence', { hangs: true }, /took too long/],
    [
      'an address of a private network',
      { body: { data: [{ url: 'http://10.0.0.1/a.png' }] } },
      /not an address of the public internet/,
    ],
  ])('%s', async (_case, answer, message) => {
    const output = scriptCall({ prompt: 'A cat' });
    server.next(answer);
    await send(await chatOf());
    expect(output()).toMatch(message);
    expect(output()).toMatch(/^Error: /);
    expect(server.asked).toHaveLength(1);
  });

  it.each([
    ['no prompt', {}, 'prompt must be a string that is not blank'],
    ['a file that is not there', { prompt: 'x', input_image: 'a.png' }, 'There is no file a.png'],
    ['a wrong background', { prompt: 'x', background: 'blue' }, 'background must be one of'],
  ])('%s', async (_case, args, message) => {
    const output = scriptCall(args);
    await send(await chatOf());
    expect(output()).toContain(message);
    expect(server.asked).toHaveLength(0);
  });
});

describe('an image by its address', () => {
  it('is fetched under the rules for addresses of others', async () => {
    const output = scriptCall({ prompt: 'A cat', n: 2 });
    server.next({ body: { data: [{ url: `${server.url}/file.png` }, { b64_json: pixel.toString('base64') }] } });
    await send(await chatOf());
    expect(output()).toMatch(/^Made 2 images, shown to the user: a-cat-1\.png \(file file_\w+\), a-cat-2\.png/);
  });
});

describe('usage', () => {
  it('is charged as the provider reports it, else by an estimate', async () => {
    const who = await make.person();
    const own = (await make.agent({ owner: who, modelId: 'openai/test-model' })).id;
    const ask = () => {
      scriptCall({ prompt: 'A red cat' });
      return who.post('/api/v2/responses', { model: own, input: 'Draw', tools: [{ type: 'image_generation' }] });
    };
    const { usage: text } = (await ask()).body;
    expect(text.output_tokens).toBeGreaterThanOrEqual(222);
    server.next({ body: { data: pixelReply().data } });
    expect((await ask()).body.usage.output_tokens).toBeGreaterThanOrEqual(1_000);
  });
});

describe('signed links', () => {
  it('open the file without a key, inert, until they expire or the file is deleted', async () => {
    scriptCall({ prompt: 'A red cat' });
    const { body } = await ann.post('/api/v2/responses', { model: agent, input: 'Draw', tools: [{ type: 'image_generation' }] });
    const output = body.output.find(({ type }: { type: string }) => type === 'server_tool_call_output');
    const { image_url: url, file_id: fileId } = output.output.at(-1);
    const { pathname, search } = new URL(url);
    const open = (path: string) => fetch(`${service.url}${path}`);
    const reply = await open(pathname + search);
    expect([reply.status, reply.headers.get('content-disposition')]).toEqual([200, expect.stringContaining('inline')]);
    expect(reply.headers.get('content-type')).toBe('image/png');
    expect(reply.headers.get('content-security-policy')).toContain('sandbox');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Buffer.from(await reply.arrayBuffer()).equals(pixel)).toBe(true);
    const other = pathname.replace(fileId, service.deps.newId('chatFile'));
    expect((await open(other + search)).status).toBe(403);
    expect((await open(`${pathname}?link=forged`)).status).toBe(403);
    const chatId = pathname.split('/')[4] ?? '';
    const old = { ...service.deps, now: () => new Date(Date.now() - 61 * 60_000) };
    expect(
      (
        await open(
          new URL(signedFileAddress(old, { chatId, fileId })).pathname +
            new URL(signedFileAddress(old, { chatId, fileId })).search,
        )
      ).status,
    ).toBe(403);
    await ann.delete(`/api/v1/chats/${chatId}/files/${fileId}`);
    expect((await open(pathname + search)).status).toBe(404);
  });

  it('open the large files of runs that store nothing', async () => {
    const large = Buffer.concat([pixel, Buffer.alloc(1_100_000)]);
    scriptCall({ prompt: 'A red cat' });
    server.next({ body: { data: [{ b64_json: large.toString('base64') }] } });
    const asked = {
      model: 'openai/test-model',
      messages: [{ role: 'user', content: 'Draw' }],
      tools: [{ type: 'image_generation' }],
    };
    const { body } = await ann.post('/api/v1/chat/completions', asked);
    const { pathname, search } = new URL(body.choices[0].message.images[0].image_url.url);
    expect(pathname).toBe('/api/v1/run-files');
    const reply = await fetch(service.url + pathname + search);
    expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([200, large.length]);
    expect((await fetch(`${service.url}/api/v1/run-files?link=x`)).status).toBe(403);
  });
});
