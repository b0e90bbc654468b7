import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pixel, startImageServer } from '../../../../fixtures/upstreams/images.ts';
import type { Person } from '../../../../support/make.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { messagesOf } from '../../../../support/runs/research.ts';
import { withService } from '../../../../support/service.ts';
import { chatsOnGraphql, everyApi } from '../../../../support/tools/every-api.ts';

/** `image_generation` with `input_image`: the request says which image of the caller is changed. */
const server = await startImageServer();
const bench = await withService('model', { env: { IMAGE_MODEL: 'ollama/one', OLLAMA_BASE_URL: server.url } });
const { service, make, upstream } = bench;
const model = 'openai/test-model';
let ann: Person;
let agentId: string;
let own: string;
let foreign: string;

const upload = async (who: Person, bytes: Buffer, name: string) => {
  const { files } = new OpenAI({ baseURL: `${service.url}/api/v1`, apiKey: who.key, maxRetries: 0 });
  return (await files.create({ file: await toFile(bytes, name), purpose: 'vision' })).id;
};

beforeAll(async () => {
  const organization = await make.organization();
  ann = await make.person({ organization });
  const bob = await make.person({ organization });
  agentId = (await make.agent({ owner: ann, modelId: model })).id;
  own = await upload(ann, pixel, 'house.png');
  foreign = await upload(bob, pixel, 'secret.png');
});
beforeEach(() => {
  server.reset();
  upstream.otherwise((request) => {
    const isAnswered = messagesOf(request).some(({ role }) => role === 'tool');
    const args = JSON.stringify({ prompt: 'Make it blue', input_image: 'another.png' });
    return isAnswered ? { text: 'Here.' } : { toolCalls: [{ id: 'call_1', name: 'generate_image', arguments: args }] };
  });
});
afterAll(() => server.close());

describe.each(sampled([...everyApi, ...chatsOnGraphql]))('%s', (name, ask) => {
  const asking = (id: string) => ({
    tool: { type: 'image_generation', input_image: id },
    input: 'Blue',
    model: agentId,
    agentId,
  });

  it('changes the image of the request, whatever the model names', async () => {
    const { files } = await ask(ann, asking(own), bench);
    expect(files).toHaveLength(1);
    expect(server.asked.map(({ path }) => path)).toEqual(['/v1/images/edits']);
    expect(server.asked[0]?.body).toContain('name="image"; filename="house.png"');
    expect(server.asked[0]?.body).toContain(pixel.toString('latin1'));
    expect(JSON.stringify(upstream.requests[0]?.body?.tools)).not.toContain('input_image');
  });

  it('answers a file of somebody else like a missing one, before anything is begun', async () => {
    const refusal = (id: string) =>
      ask(ann, asking(id), bench).then(
        () => 'taken',
        (error: unknown) => String(error),
      );
    const missing = `${own.slice(0, -4)}0000`;
    for (const id of [foreign, missing, 'nonsense'])
      expect(await refusal(id)).toMatch(name.includes('GraphQL') ? /Error/ : /names no file of yours/);
    expect([upstream.requests, server.asked]).toEqual([[], []]);
  });
});

it('takes a file of the chat', async () => {
  const chat = await make.chat({ owner: ann, agentId });
  const tools = [{ type: 'image_generation' }];
  upstream.next({ toolCalls: [{ id: 'call_1', name: 'generate_image', arguments: '{"prompt":"A cat"}' }] }, { text: 'Here.' });
  const path = `/api/v1/chats/${chat.id}/messages`;
  const { body } = await ann.post(path, { prompt: 'Draw', tools });
  const [{ fileId }] = body.files;
  upstream.next(
    { toolCalls: [{ id: 'call_2', name: 'generate_image', arguments: '{"prompt":"A blue cat"}' }] },
    { text: 'Here.' },
  );
  expect((await ann.post(path, { prompt: 'Blue', tools: [{ type: 'image_generation', inputImage: fileId }] })).status).toBe(200);
  expect(server.asked.map((asked) => asked.path)).toEqual(['/v1/images/generations', '/v1/images/edits']);
});

it('tells the model that a file is no image, and is not kept with an agent', async () => {
  const text = await upload(ann, Buffer.from('Hello'), 'note.txt');
  await ann.post('/api/v2/responses', { model, input: 'Blue', tools: [{ type: 'image_generation', input_image: text }] });
  expect(messagesOf(upstream.requests.at(-1)).at(-1)?.content).toBe('Error: note.txt is no PNG, JPEG, GIF or WebP image');
  const enabledTools = [{ type: 'image_generation', inputImage: own }];
  const { status, body } = await ann.patch(`/api/v1/ais/${agentId}`, { enabledTools });
  expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_value', 'enabledTools[0].inputImage']);
});
