import { beforeEach, describe, expect, it } from 'vitest';
import { follow } from '../../../support/apis/live.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const { make, upstream } = await withService('model');
const model = 'openai/test-model';
/** Sends one word and then nothing. */
const endless = heldAnswer({ text: ['one ', 'two '] }).script;

const ann = await make.person();

beforeEach(() => {
  upstream.otherwise({ text: 'Done.' });
});

async function ask(query: string, variables: Record<string, unknown> = {}) {
  const { body } = await ann.post('/graphql', { query, variables });
  if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
  return body.data;
}
const creating = 'mutation ($input: ResponseInput!) { createResponse(input: $input) { id status chatId output { __typename } } }';

it('a response is begun at once, followed, and read with its items', async () => {
  const gate = Promise.withResolvers<void>();
  upstream.next({ text: 'Done.', gate: gate.promise });
  const { createResponse: begun } = await ask(creating, { input: { model, input: { text: 'Hi' } } });
  gate.resolve();
  expect(begun).toMatchObject({ status: 'IN_PROGRESS', output: [] });
  const query = 'subscription ($id: ID!) { runEvents(runId: $id) { __typename sequence ... on TextDelta { delta } } }';
  const events = await Array.fromAsync(ann.subscribe(query, { id: begun.id }), ({ data }) => data.runEvents);
  expect([events[0].__typename, events.at(-1).__typename]).toEqual(['RunStarted', 'RunCompleted']);
  const { response } = await ask(
    'query ($id: ID!) { response(id: $id) { status text chatId request { model store } usage { totalTokens } } }',
    {
      id: begun.id,
    },
  );
  expect(response).toMatchObject({ status: 'COMPLETED', text: 'Done.', chatId: begun.chatId, request: { model, store: true } });
});

it('one that is not stored is answered at its end', async () => {
  const { createResponse: whole } = await ask(creating, { input: { model, input: { text: 'Hi' }, store: false } });
  expect(whole).toMatchObject({ status: 'COMPLETED', chatId: null, output: [{}] });
});

it('a response is paused, resumed with its new events only, and cancelled', async () => {
  upstream.next(endless);
  const { createResponse: begun } = await ask(creating, { input: { model, input: { text: 'Hi' } } });
  await eventually(async () => {
    const { response } = await ask('query ($id: ID!) { response(id: $id) { output { id } } }', { id: begun.id });
    expect(response.output).toHaveLength(1);
  });
  const controls = (name: string) =>
    ask(`mutation ($id: ID!) { ${name}(id: $id) { status incompleteReason } }`, { id: begun.id });
  expect(await controls('pauseResponse')).toEqual({
    pauseResponse: { status: 'INCOMPLETE', incompleteReason: 'PAUSED' },
  });
  const query = 'subscription ($id: ID!) { resumedResponseEvents(id: $id) { __typename } }';
  const events = await Array.fromAsync(
    ann.subscribe(query, { id: begun.id }),
    ({ data }) => data.resumedResponseEvents.__typename,
  );
  expect([events[0], events.at(-1)]).toEqual(['RunResumed', 'RunCompleted']);
  expect(await controls('cancelResponse')).toMatchObject({ cancelResponse: { status: 'COMPLETED' } });
});

it('dashboards see runs begin and end', async () => {
  const changes = await follow(ann, 'runsChanged');
  const active = async () => (await ask('{ activeRuns { id } }')).activeRuns.map(({ id }: { id: string }) => id);
  upstream.next(endless);
  const { createResponse: begun } = await ask(creating, { input: { model, input: { text: 'Hi' } } });
  // The run of the test before may still be told to have ended.
  const nextOfRun = async () => {
    for (;;) {
      const change = await changes.next();
      if (change?.id === begun.id) return change;
    }
  };
  expect(await nextOfRun()).toEqual({ kind: 'CREATED', id: begun.id });
  expect(await active()).toEqual([begun.id]);
  await ask('mutation ($id: ID!) { cancelResponse(id: $id) { id } }', { id: begun.id });
  do expect(await nextOfRun()).toEqual({ kind: 'UPDATED', id: begun.id });
  while ((await active()).length > 0);
  changes.stop();
});

describe('answers as JSON', () => {
  const format = { plain: 'JSON_OBJECT' };
  const query = `subscription ($input: ResponseInput!) {
    newResponseEvents(input: $input) { __typename ... on TextDelta { delta } ... on RunEnded { run { status } } }
  }`;
  const events = (members: object) =>
    ann.subscribe(query, { input: { model, input: { text: 'Hi' }, format, ...members } })[Symbol.asyncIterator]();
  async function all() {
    const seen = [];
    for (const read = events({}); ; ) {
      const { value, done } = await read.next();
      if (done === true) return seen;
      seen.push(value.data.newResponseEvents);
    }
  }
  const said = (seen: readonly { delta?: string }[]) => seen.map(({ delta }) => delta ?? '').join('');

  it.each([{}, { store: false }, { background: true }])('are streamed to a subscription by default: %j', async (members) => {
    const { script, goOn } = heldAnswer({ text: ['{"a":', '1}'] });
    upstream.next(script);
    const read = events(members);
    const seen: { __typename: string; delta?: string; run?: object }[] = [];
    for (;;) {
      const { value, done } = await read.next();
      if (done === true) break;
      seen.push(value.data.newResponseEvents);
      // Send the rest of the text only after its beginning arrived.
      if (seen.at(-1)?.delta === '{"a":') goOn();
    }
    expect(said(seen)).toBe('{"a":1}');
    expect(seen.at(-1)).toMatchObject({ __typename: 'RunCompleted', run: { status: 'COMPLETED' } });
  });

  it('that do not fit the schema fail the response after its text was sent', async () => {
    upstream.otherwise({ text: 'No.' });
    expect((await all()).at(-1)).toMatchObject({ __typename: 'RunFailed', run: { status: 'FAILED' } });
    expect(upstream.requests).toHaveLength(1);
  });

  it('are asked for again until they fit when they are answered at their end', async () => {
    upstream.next({ text: 'No.' }, { text: '{}' });
    const asking = 'mutation ($input: ResponseInput!) { createResponse(input: $input) { status text } }';
    const { createResponse: whole } = await ask(asking, { input: { model, input: { text: 'Hi' }, format, store: false } });
    expect([whole, upstream.requests.length]).toEqual([{ status: 'COMPLETED', text: '{}' }, 2]);
  });
});
