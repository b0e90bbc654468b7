import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  geminiBlocked,
  geminiError,
  geminiFiltered,
  geminiImage,
  geminiWords,
  startGoogleImages,
} from '../../../../fixtures/upstreams/google-images.ts';
import { pixel } from '../../../../fixtures/upstreams/images.ts';
import type { StandInReply } from '../../../../fixtures/upstreams/stand-in.ts';
import type { Person } from '../../../../support/make.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { messagesOf, toolsOf } from '../../../../support/runs/research.ts';
import { startService, withService } from '../../../../support/service.ts';
import { everyApi } from '../../../../support/tools/every-api.ts';

/** `image_generation` with a model of Google, over the AI SDK. */
const google = await startGoogleImages();
const ofGoogle = { GOOGLE_API_KEY: 'key-of-google', GOOGLE_BASE_URL: google.url };
const bench = await withService('model', { env: { ...ofGoogle, IMAGE_MODEL: 'google/gemini-2.5-flash-image' } });
const { make, upstream } = bench;
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person();
  agentId = (await make.agent({ owner: ann, modelId: 'openai/test-model' })).id;
});
beforeEach(() => google.reset());
afterAll(() => google.close());

/** The model makes one call and then answers. @returns what it read of the call. */
function scriptCall(args: object): () => string {
  let output = '';
  upstream.otherwise((request) => {
    const answered = messagesOf(request).findLast(({ role }) => role === 'tool');
    if (answered !== undefined) output = String(answered.content);
    if (answered !== undefined || !toolsOf(request).includes('generate_image')) return { text: 'Here it is.' };
    return { toolCalls: [{ id: 'call_1', name: 'generate_image', arguments: JSON.stringify(args) }] };
  });
  return () => output;
}
const ask = async (tool: object = {}, chatId?: string) => {
  const chat = chatId ?? (await make.chat({ owner: ann, agentId })).id;
  return ann.post(`/api/v1/chats/${chat}/messages`, { prompt: 'Draw', tools: [{ type: 'image_generation', ...tool }] });
};
const path = '/models/gemini-2.5-flash-image:generateContent';

describe('an image', () => {
  it.each(sampled(everyApi))('is made on %s', async (_api, askApi) => {
    const output = scriptCall({ prompt: 'A red cat' });
    const question = { tool: { type: 'image_generation' }, input: 'Draw', model: agentId, agentId };
    const { text, files } = await askApi(ann, question, bench);
    expect([text, files.length]).toEqual(['Here it is.', 1]);
    expect(output()).toMatch(/^Made an image, shown to the user: a-red-cat\.png/);
    const [asked, ...more] = google.asked();
    expect(more).toEqual([]);
    expect(asked).toMatchObject({ path, key: 'key-of-google', idempotencyKey: expect.stringMatching(/^[\w-]+:call_1$/) });
    expect(asked?.body.contents).toEqual([{ role: 'user', parts: [{ text: 'A red cat' }] }]);
    expect(asked?.body.generationConfig.responseModalities).toEqual(['IMAGE']);
    expect(asked?.body.generationConfig.imageConfig).toBeUndefined();
  });

  it('is a file of the chat, with the tokens that Google counted', async () => {
    scriptCall({ prompt: 'A red cat' });
    google.next(geminiImage('image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 74, 70, 73, 70])));
    const { body } = await ask();
    expect(body.files).toMatchObject([{ filename: 'a-red-cat.jpg', mimeType: 'image/jpeg', sizeBytes: 10 }]);
    expect(body.usage.outputTokens).toBeGreaterThanOrEqual(1_290);
  });

  it('is changed: the image of the chat goes along', async () => {
    const chat = (await make.chat({ owner: ann, agentId })).id;
    scriptCall({ prompt: 'A red cat' });
    await ask({}, chat);
    google.reset();
    const answered = (name: string) => ({
      toolCalls: [{ id: 'call_2', name, arguments: '{"prompt":"Blue","input_image":"a-red-cat.png"}' }],
    });
    upstream.next(answered('generate_image'));
    const { body } = await ask({}, chat);
    expect(body.files).toMatchObject([{ filename: 'blue.png' }]);
    const inlineData = { mimeType: 'image/png', data: pixel.toString('base64') };
    expect(google.asked()[0]?.body.contents).toEqual([{ role: 'user', parts: [{ text: 'Blue' }, { inlineData }] }]);
  });

  it.each([
    ['1024x1024', '1:1'],
    ['1536x1024', '3:2'],
    ['1024x1536', '2:3'],
    ['1344x768', '16:9'],
  ])('has the shape of its size: %s is %s', async (size, aspectRatio) => {
    scriptCall({ prompt: 'A cat', size });
    await ask();
    expect(google.asked()[0]?.body.generationConfig.imageConfig).toEqual({ aspectRatio });
  });
});

describe('several images', () => {
  it('are several requests, each with a key of its own', async () => {
    const output = scriptCall({ prompt: 'A cat', n: 3 });
    const { body } = await ask();
    expect(body.files.map(({ filename }: { filename: string }) => filename)).toEqual([
      'a-cat-1.png',
      'a-cat-2.png',
      'a-cat-3.png',
    ]);
    expect(output()).toMatch(/^Made 3 images/);
    expect(new Set(google.asked().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    expect(body.usage.outputTokens).toBeGreaterThanOrEqual(3 * 1_290);
  });

  it('are kept when one fails, and the model is told', async () => {
    const output = scriptCall({ prompt: 'A cat', n: 2 });
    google.next(geminiImage(), geminiFiltered);
    expect((await ask()).body.files).toHaveLength(1);
    expect(output()).toMatch(/^Made 1 of 2 images \(the others failed\)/);
  });
});

describe('what Google does not make is an error that the model reads', () => {
  it.each<[string, StandInReply, RegExp]>([
    ['a blocked prompt', geminiBlocked, /refused the content/],
    ['a filtered image', geminiFiltered, /refused the content/],
    ['words instead of an image', geminiWords, /it has no image/],
    ['a bad request', geminiError(400, 'INVALID_ARGUMENT', 'The prompt is bad.'), /refused the request: The prompt is bad\./],
    ['a wrong key', geminiError(403, 'PERMISSION_DENIED', 'No.'), /does not accept the credentials of this service/],
    ['too many requests', geminiError(429, 'RESOURCE_EXHAUSTED', 'Quota.'), /limits the rate/],
    ['a failure', geminiError(500, 'INTERNAL', 'Oh.'), /The model provider "google" failed \(500\)/],
    ['no JSON', { body: '<html>' }, /cannot be read/],
    ['something that is no image', geminiImage('image/png', Buffer.from('<svg/>')), /something that is no image/],
  ])('%s', async (_case, reply, message) => {
    const output = scriptCall({ prompt: 'A cat' });
    google.next(reply);
    const { status, body } = await ask();
    expect([status, body.status, body.files]).toEqual([200, 'completed', undefined]);
    expect(output()).toMatch(/^Error: /);
    expect(output()).toMatch(message);
    expect(google.asked()).toHaveLength(1);
  });

  it('a shape that it does not make', async () => {
    const output = scriptCall({ prompt: 'A cat', size: '1000x400' });
    await ask();
    expect(output()).toMatch(/^Error: size must have a shape that this model makes/);
    expect(google.asked()).toEqual([]);
  });
});

describe('options that it cannot honour', () => {
  it.each([
    ['quality', { quality: 'high' }],
    ['background', { background: 'transparent' }],
    ['outputFormat', { output_format: 'webp' }],
    ['style', { style: 'vivid' }],
    ['outputCompression', { output_compression: 50 }],
    ['inputImageMask', { input_image_mask: { image_url: `data:image/png;base64,${pixel.toString('base64')}` } }],
    ['size', { size: '1000x400' }],
  ])('are refused: %s', async (member, options) => {
    const { status, body } = await ask(options);
    expect([status, body.error?.param]).toEqual([400, `tools[0].${member}`]);
  });

  it('are not among the arguments of the model; `auto` is taken', async () => {
    scriptCall({ prompt: 'A cat' });
    expect((await ask()).status).toBe(200);
    const [offered] = (upstream.requests[0]?.body?.tools ?? []) as { function: { parameters: { properties: object } } }[];
    expect(Object.keys(offered?.function.parameters.properties ?? {})).toEqual(['prompt', 'size', 'n', 'input_image']);
    expect((await ask({ quality: 'auto', background: 'auto', size: 'auto' })).status).toBe(200);
    expect(google.asked()).toHaveLength(2);
  });
});

it('a start with a model of Google that makes no images is refused', async () => {
  const env = { ...ofGoogle, IMAGE_MODEL: 'google/imagen-4.0-generate-001' };
  await expect(startService({ env })).rejects.toThrow(/IMAGE_MODEL google\/imagen-4\.0-generate-001: .*gemini-/);
});
