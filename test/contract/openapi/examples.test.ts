import { beforeEach, expect, it } from 'vitest';
import { expectDescribed, type Json, openapi } from '../../support/apis/described.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { chatFrames } from '../../support/runs/upstream-frames.ts';
import { withService } from '../../support/service.ts';

/** The examples of openapi.json equal the replies of a running service, except names, times and the model. */

const { make, upstream } = await withService('model');
const path = '/api/v2/responses';
const one = `${path}/{responseId}`;
const story = openapi.paths;

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise({ text: 'It is 3.' });
});

const goodReply = (operation: Json) => operation.responses['200'].content;
const bodyOf = (operation: Json) => operation.requestBody.content['application/json'].examples.short.value;
/** The scripted model replaces the model that the example names. */
const request = { ...bodyOf(story[path].post), model: 'openai/test-model' };

function expectAsShown(actual: unknown, operation: Json): void {
  expect(bare(actual)).toEqual(bare(goodReply(operation)['application/json'].example));
}

/** Without the members that differ from run to run. */
function bare(value: unknown): unknown {
  const varying = [
    'id',
    'item_id',
    'first_id',
    'last_id',
    'created_at',
    'completed_at',
    'model',
    'provider',
    'first_token_ms',
    'queue_ms',
  ];
  return JSON.parse(JSON.stringify(value, (name, member) => (varying.includes(name) && member !== null ? 'x' : member)));
}

/** A background response whose model sent a little text and then nothing. */
async function begun(): Promise<string> {
  const [role = '', words = ''] = chatFrames({ text: 'It is' }, 'test-model', true);
  upstream.next({ text: 'It is', hangAtByte: role.length + words.length });
  const { body } = await ann.post(path, { ...request, background: true });
  await eventually(async () => expect((await ann.get(`${path}/${body.id}`)).body.output).toHaveLength(1));
  return body.id;
}

it('creating, retrieving, listing and deleting a response', async () => {
  const { body: response } = await ann.post(path, request);
  expectAsShown(response, story[path].post);
  expectAsShown((await ann.get(`${path}/${response.id}`)).body, story[one].get);
  expectAsShown((await ann.get(`${path}/${response.id}/input_items`)).body, story[`${one}/input_items`].get);
  const events = (await ann.stream(path, { ...request, stream: true })).slice(0, -1).map(({ data }) => JSON.parse(data));
  const shown = goodReply(story[path].post)['text/event-stream'].example;
  expect(events.map(bare)).toContainEqual(bare(shown));
  expectAsShown((await ann.delete(`${path}/${response.id}`)).body, story[one].delete);
});

it('pausing and resuming a response', async () => {
  const id = await begun();
  expectAsShown((await ann.post(`${path}/${id}/pause`)).body, story[`${one}/pause`].post);
  const { body } = await ann.post(`${path}/${id}/resume`, bodyOf(story[`${one}/resume`].post));
  expectAsShown(body, story[`${one}/resume`].post);
});

it('cancelling a response', async () => {
  const id = await begun();
  expectAsShown((await ann.post(`${path}/${id}/cancel`)).body, story[`${one}/cancel`].post);
});

it('compacting a conversation', async () => {
  const { body } = await ann.post(`${path}/compact`, request);
  expectAsShown(body, story[`${path}/compact`].post);
});

/** What a path names that is served at another path too. */
function targetOf(ref: string): Json {
  const [, ...names] = ref.split('/');
  return names.reduce<Json>(
    (node, name) => node[decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')] ?? expect.fail(ref),
    openapi,
  );
}

it('every example follows its schema', () => {
  const operations = Object.values<Json>(openapi.paths).flatMap((place) =>
    Object.values<Json>(place.$ref === undefined ? place : targetOf(place.$ref)),
  );
  let count = 0;
  const check = (media: Json, what: string) => {
    for (const [name, { value }] of Object.entries<Json>({
      ...media.examples,
      ...(media.example === undefined ? {} : { example: { value: media.example } }),
    })) {
      expectDescribed(value, media.schema, `${what} (${name})`);
      count += 1;
    }
  };
  for (const { operationId, requestBody, responses } of operations) {
    for (const media of Object.values(requestBody?.content ?? {})) check(media, `the body of ${operationId}`);
    for (const reply of Object.values<Json>(responses))
      for (const media of Object.values(reply.content ?? {})) check(media, `a reply of ${operationId}`);
  }
  for (const [name, reply] of Object.entries<Json>(openapi.components.responses)) check(reply.content['application/json'], name);
  expect(count).toBeGreaterThan(30);
});
