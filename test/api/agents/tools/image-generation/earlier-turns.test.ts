import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { pixel, startImageServer } from '../../../../fixtures/upstreams/images.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { messagesOf } from '../../../../support/runs/research.ts';
import { withService } from '../../../../support/service.ts';
import type { UpstreamRequest } from '../../../../support/upstream.ts';

/** An image of an earlier turn is changed in a later one: by the id that the model was told, and by its name, wherever the turn goes on. */
const server = await startImageServer();
const { make, upstream } = await withService('model', { env: { IMAGE_MODEL: 'ollama/one', OLLAMA_BASE_URL: server.url } });
const path = '/api/v2/responses';
const tools = [{ type: 'image_generation' }];

const ann = await make.person();
const agentId = (await make.agent({ owner: ann, modelId: 'openai/test-model' })).id;

beforeEach(() => server.reset());
afterAll(() => server.close());

// biome-ignore lint/suspicious/noExplicitAny: a body of the responses format.
type Body = any;
const call = (args: object) => ({ toolCalls: [{ id: 'call_1', name: 'generate_image', arguments: JSON.stringify(args) }] });
const toolTexts = (request: UpstreamRequest | undefined) =>
  messagesOf(request).flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
/** The id that the model of this request knows from the results that it sees. */
const knownId = (request: UpstreamRequest) => /\(file (file_\w+)\)/.exec(toolTexts(request)[0] ?? '')?.[1] ?? 'unknown';
const byId = (request: UpstreamRequest) => call({ prompt: 'Make it blue', input_image: knownId(request) });
const byName = () => call({ prompt: 'Make it blue', input_image: 'a-red-cat.png' });

const create = async (members: object): Promise<Body> => {
  const { status, body } = await ann.post(path, { model: agentId, input: 'Go', tools, ...members });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const draw = async (members: object = {}): Promise<Body> => {
  upstream.next(call({ prompt: 'A red cat' }), { text: 'Here it is.' });
  return create(members);
};
const say = (members: object): Promise<Body> => {
  upstream.next({ text: 'Fine.' });
  return create(members);
};

/** Each goes on after an image was drawn. */
const places: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['after the response', async () => create({ previous_response_id: (await draw()).id })],
  ['in its conversation', async () => create({ conversation: (await draw()).conversation.id })],
  [
    'two turns later',
    async () => {
      const { id } = await say({ previous_response_id: (await draw()).id });
      return create({ previous_response_id: id });
    },
  ],
  [
    'in a chat that drew it',
    async () => {
      const chat = await make.chat({ owner: ann, agentId });
      upstream.next(call({ prompt: 'A red cat' }), { text: 'Here it is.' });
      await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Draw', tools });
      return create({ conversation: chat.id });
    },
  ],
  [
    'in the chat of the response',
    async () => {
      const { conversation } = await draw();
      return (await ann.post(`/api/v1/chats/${conversation.id}/messages`, { prompt: 'Go', tools })).body;
    },
  ],
  [
    'in a branch, when the thread went on',
    async () => {
      const first = await draw();
      await say({ previous_response_id: first.id });
      const branch = await create({ previous_response_id: first.id });
      expect(branch.conversation.id).not.toBe(first.conversation.id);
      return branch;
    },
  ],
  [
    'in a copy of the chat',
    async () => {
      const { conversation } = await draw();
      const copy = (await ann.post(`/api/v1/chats/${conversation.id}/duplicate`, {})).body;
      return (await ann.post(`/api/v1/chats/${copy.id}/messages`, { prompt: 'Go', tools })).body;
    },
  ],
  ['in a response that is not stored', async () => create({ previous_response_id: (await draw()).id, store: false })],
];

describe.each(sampled(places))('an image is changed %s', (_place, goOn) => {
  it.each([
    ['by its id', byId],
    ['by its name', byName],
  ])('%s', async (_case, edit) => {
    let told = '';
    upstream.otherwise((request) => {
      const texts = toolTexts(request);
      told = texts.at(-1) ?? '';
      return texts.length < 2 ? edit(request) : { text: 'It is blue.' };
    });
    await goOn();
    expect(told).toMatch(/^Made an image, shown to the user: make-it-blue/);
    expect(server.asked.map((asked) => asked.path)).toEqual(['/v1/images/generations', '/v1/images/edits']);
    expect(server.asked[1]?.body).toContain(pixel.toString('latin1'));
  });
});

it('a branch has the files of its own past only', async () => {
  const first = await draw();
  upstream.next(call({ prompt: 'A later dog' }), { text: 'Here it is.' });
  await create({ previous_response_id: first.id });
  const branch = await say({ previous_response_id: first.id });
  const { body } = await ann.get(`/api/v1/chats/${branch.conversation.id}/files`);
  expect(body.data.map(({ filename }: Body) => filename)).toEqual(['a-red-cat.png']);
  expect((await ann.delete(`/api/v1/chats/${first.conversation.id}`)).status).toBe(200);
  const [file] = body.data;
  expect((await ann.get(`/api/v1/chats/${branch.conversation.id}/files/${file.id}/content`)).status).toBe(200);
});
