import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { html, startWeb } from '../../../fixtures/upstreams/web.ts';
import type { TestClient } from '../../../support/client.ts';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { eventsOf, walk } from '../../../support/runs/response-walk.ts';
import { endedResponse } from '../../../support/runs/responses.ts';
import { heldAnswer, never, type UpstreamScript } from '../../../support/upstream.ts';

/** A run whose tools found passages goes on in another process, or after a pause: a number names the passage that it named before. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
const pages = {
  '/blue': { title: 'Blue bikes', snippet: 'Some bikes are blue.' },
  '/red': { title: 'Red bikes', snippet: 'Some bikes are red.' },
};
const web = await startWeb(pages);
const env = { SEARCH_URL: web.url };
const tools = [{ type: 'web_search' }];
let world: Killable;

beforeEach(async () => {
  world = await prepareKillable();
  web.pages.clear();
  for (const [place, page] of Object.entries(pages)) web.pages.set(place, page);
});
afterEach(() => world.close());
afterAll(() => web.close());

const search = (query: string, id: string): UpstreamScript => ({
  toolCalls: [{ id, name: 'web_search', arguments: JSON.stringify({ query }) }],
});
const told = () => messagesOf(world.upstream.requests.at(-1)).map(({ content }) => String(content));
async function ended(ann: TestClient, id: string) {
  const response = await endedResponse(ann, id);
  expect(walk(eventsOf(await Array.fromAsync(ann.sse('GET', `${path}/${id}?stream=true`))))).toEqual(response);
  return response;
}
/** What the markers of a message name: its text with the address in place of each number. */
// biome-ignore lint/suspicious/noExplicitAny: an item of the wire format.
const cited = ({ content: [{ text, annotations }] }: any) => {
  let left = text as string;
  for (const { start_index: from, end_index: to, url } of [...annotations].reverse()) {
    left = `${left.slice(0, from)}<${new URL(url).pathname}>${left.slice(to)}`;
  }
  return left;
};

/** Begins a response whose model has searched, and then says nothing. */
async function killedBehindSearch(members: object, ask: (ann: TestClient) => Promise<object> = async () => ({})) {
  const { parley, ann } = await world.launch(env);
  world.upstream.next(search('bikes', 'call_1'), { gate: never });
  const { body } = await ann.post(path, { model, input: 'Colours?', tools, background: true, ...members, ...(await ask(ann)) });
  await world.upstream.until(({ requests }) => requests.length === 2);
  await eventually(async () => expect((await ann.get(`${path}/${body.id}`)).body.output[0]?.status).toBe('completed'));
  await parley.kill('SIGKILL');
  return body.id as string;
}

describe('numbers of passages after a kill', () => {
  it('name what the searches of the dead process found, and what is found again keeps its number', async () => {
    const id = await killedBehindSearch({});
    web.pages.clear();
    web.pages.set('/green', { title: 'Green bikes', snippet: 'Some bikes are green.' });
    web.pages.set('/red', pages['/red']);
    world.upstream.next(search('more', 'call_2'), { text: 'Red [2], green [3], blue [1].' });
    const ann = await world.recover(env);
    const response = await ended(ann, id);
    expect(response.status).toBe('completed');
    expect(cited(response.output.at(-1))).toBe('Red </red>, green </green>, blue </blue>.');
    const second = told().at(-1) ?? '';
    expect(second).toMatch(/n="3"[^>]*green/);
    expect(second).toMatch(/n="2"[^>]*red/);
  });

  it('are the same in what the model said before its call', async () => {
    const { parley, ann: first } = await world.launch(env);
    world.upstream.next(search('bikes', 'call_1'), { text: 'Red there is [2].', ...search('more', 'call_2') }, { gate: never });
    const { body } = await first.post(path, { model, input: 'Colours?', tools, background: true });
    await world.upstream.until(({ requests }) => requests.length === 3);
    // Readers get numbers in the order of the text; the model gets its own words.
    expect(told()).toContain('Red there is [2].');
    await parley.kill('SIGKILL');
    world.upstream.next({ text: 'Blue [1] and red [2].' });
    const ann = await world.recover(env);
    const { output } = await ended(ann, body.id);
    expect(told()).toContain('Red there is [2].');
    const said = output.filter(({ type }: { type: string }) => type === 'message');
    expect(said.map(cited)).toEqual(['Red there is </red>.', 'Blue </blue> and red </red>.']);
    expect(said[0].content[0].text).toBe('Red there is [1].');
  });

  it('are those of pages, read before the kill and after it', async () => {
    for (const [place, page] of Object.entries(pages)) web.pages.set(place, { ...page, reply: html(page.title, page.snippet) });
    const open = (place: string, id: string): UpstreamScript => ({
      toolCalls: [{ id, name: 'open_page', arguments: JSON.stringify({ url: web.url + place }) }],
    });
    const { parley, ann: first } = await world.launch(env);
    world.upstream.next(search('bikes', 'call_1'), open('/red', 'call_2'), { gate: never });
    const { body } = await first.post(path, { model, input: 'Colours?', tools, background: true });
    await world.upstream.until(({ requests }) => requests.length === 3);
    expect(told().at(-1)).toMatch(/<page n="2"[^>]*red/);
    await parley.kill('SIGKILL');
    // The search of the dead process found both addresses, so both may be opened.
    world.upstream.next(open('/blue', 'call_3'), open('/red', 'call_4'), { text: 'Red [2], blue [1].' });
    const { output } = await ended(await world.recover(env), body.id);
    expect(cited(output.at(-1))).toBe('Red </red>, blue </blue>.');
    expect(told().slice(-3).join()).toMatch(/<page n="1"[^>]*blue/);
    expect(told().at(-1)).toMatch(/<page n="2"[^>]*red/);
  });

  it('are those of documents that file_search found', async () => {
    const { parley, ann: first } = await world.launch(env);
    const agent = { src: 'x', name: 'Ada', description: 'x', instructions: 'x', modelId: model, generateCitations: true };
    const { id: agentId } = (await first.post('/api/v1/ais', agent)).body;
    for (const [name, text] of [
      ['red.txt', 'Some bicycles are red.'],
      ['blue.txt', 'Some lamps are blue.'],
    ] as const) {
      const { body } = await addFile(first, agentId, name, text, 'text/plain');
      await indexed(first, body.dataSourceId ?? body.id);
    }
    const find = (query: string, id: string): UpstreamScript => ({
      toolCalls: [{ id, name: 'search_knowledge', arguments: JSON.stringify({ query }) }],
    });
    world.upstream.next(find('lamps', 'call_1'), { gate: never });
    const input = { model: agentId, input: 'Hm?', tools: [{ type: 'file_search' }], background: true };
    const { body } = await first.post(path, input);
    await world.upstream.until(({ requests }) => requests.length === 2);
    expect(told().at(-1)).toMatch(/<passage n="1"[^>]*blue/);
    await parley.kill('SIGKILL');
    world.upstream.next(find('bicycles', 'call_2'), find('lamps', 'call_3'), { text: 'Red [2], blue [1].' });
    const { output } = await ended(await world.recover(env), body.id);
    expect(told().slice(-3).join()).toMatch(/<passage n="2"[^>]*red/);
    expect(told().at(-1)).toMatch(/<passage n="1"[^>]*blue/);
    const [{ text, annotations }] = output.at(-1).content;
    expect(text).toBe('Red [1], blue [2].');
    expect(annotations.map(({ filename }: { filename: string }) => filename)).toEqual(['red.txt', 'blue.txt']);
  });

  it('hold in a flow whose tool step found them', async () => {
    const id = await (async () => {
      const { parley, ann } = await world.launch(env);
      const agent = await ann.post('/api/v1/ais', {
        ...{ src: 'x', name: 'Ada', description: 'x', instructions: 'x', modelId: model },
        ...{ generateCitations: true, enabledTools: tools },
      });
      const steps = [
        { id: 'found', type: 'tool', tool: 'web_search', arguments: { query: '{{input}}' } },
        { id: 'answer', type: 'model', prompt: '{{input}} {{steps.found.output}}' },
      ];
      const flow = { name: 'F', enabled: true, versions: [{ version: 1, active: true, data: { steps } }] };
      const made = await ann.post(`/api/v1/ais/${agent.body.id}/flows`, flow);
      expect(made.status, JSON.stringify(made.body)).toBe(200);
      world.upstream.next({ gate: never });
      const { body } = await ann.post(path, { model: agent.body.id, input: 'bikes', background: true });
      await world.upstream.until(({ requests }) => requests.length === 1);
      await parley.kill('SIGKILL');
      return body.id as string;
    })();
    world.upstream.next({ text: 'Red [2], blue [1].' });
    const response = await ended(await world.recover(env), id);
    expect(cited(response.output.at(-1))).toBe('Red </red>, blue </blue>.');
  });
});

it('numbers of passages name the same after a pause', async () => {
  const ann = await world.recover(env);
  const held = heldAnswer({ text: ['Red there is [2]. ', 'More.'] });
  world.upstream.next(search('bikes', 'call_1'), held.script);
  const { body } = await ann.post(path, { model, input: 'Colours?', tools, background: true });
  await eventually(async () => {
    const now = (await ann.get(`${path}/${body.id}`)).body;
    expect(JSON.stringify(now.output)).toContain('Red there');
  });
  expect((await ann.post(`${path}/${body.id}/pause`)).status).toBe(200);
  world.upstream.next({ text: 'Blue [1], as said of red [2].' });
  const { body: resumed } = await ann.post(`${path}/${body.id}/resume`);
  expect(await ended(ann, body.id)).toEqual(resumed);
  expect(resumed.status).toBe('completed');
  expect(told().some((text) => text.includes('Red there is [2].'))).toBe(true);
  const said = resumed.output.filter(({ type }: { type: string }) => type === 'message');
  expect(said.map(cited)).toEqual(['Red there is </red>. ', 'Blue </blue>, as said of red </red>.']);
});
