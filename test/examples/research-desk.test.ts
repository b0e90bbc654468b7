import { afterAll, expect, it } from 'vitest';
import { html, startWeb } from '../fixtures/upstreams/web.ts';
import { installExample } from '../support/processes/example.ts';
import { messagesOf } from '../support/runs/research.ts';
import { withService } from '../support/service.ts';
import type { UpstreamRequest, UpstreamScript } from '../support/upstream.ts';

const law = '<main><p>From May on, a helmet must be offered with every bike that is sold.</p></main>';
const web = await startWeb({
  '/law': { title: 'The helmet law', snippet: 'A helmet with every bike.', reply: html('The helmet law', law) },
});
afterAll(() => web.close());
const { service, make, upstream } = await withService('model', { env: { SEARCH_URL: web.url } });
const example = await installExample('research-desk');

const call = (id: string, name: string, args: object): UpstreamScript => ({
  toolCalls: [{ id, name, arguments: JSON.stringify(args) }],
});

/** A model that uses each of its tools once, and answers with what they said. */
function answer(request: UpstreamRequest): UpstreamScript {
  const messages = messagesOf(request);
  if (messages[0]?.content?.startsWith('You check') === true)
    return { text: 'Plausible: 120 bikes, 40 customers without a helmet.' };
  const told = messages.flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
  const steps: readonly UpstreamScript[] = [
    call('call_1', 'web_search', { query: 'helmet law bikes' }),
    call('call_2', 'spreadsheet', { operation: 'create', file: 'helmets.xlsx', values: [[120, 3, '=A1/B1']] }),
    call('call_3', 'ask_Controller', { question: '120 bikes a year, every third without a helmet: 40?' }),
  ];
  const next = steps[told.length];
  if (next !== undefined) return next;
  const page = / n="(\d+)"/.exec(told[0] ?? '')?.[1];
  return { text: `40 helmets more a year [1], as the law asks for [${page}].` };
}

it('answers from its knowledge, the web and the other agent, and prints the trace', async () => {
  await example.run('build');
  upstream.otherwise(answer);
  const { key } = await make.person();
  const env = { PARLEY_URL: service.url, PARLEY_KEY: key, PARLEY_MODEL: 'openai/test-model' };
  const output = await example.run('start', env);
  const [said, trace = ''] = output.split('\nTrace\n');
  expect(said).toContain('40 helmets more a year [1], as the law asks for [2].');
  expect(said).toMatch(/\[1\] Handbook of the store http/);
  expect(said).toContain(`[2] The helmet law ${web.url}/law`);
  expect(trace).toContain('model openai/test-model: ');
  const tools = [...trace.matchAll(/tool (\w+): (\w+)/g)].map(([, name, outcome]) => [name, outcome]);
  const expected = ['web_search', 'spreadsheet', 'ask_Controller'];
  expect(tools).toEqual(expected.map((name) => [name, 'completed']));
  expect(trace).toContain('agent Controller: completed');
  expect(trace).toContain('→ Plausible: 120 bikes, 40 customers without a helmet.');
});

it('says which setting is missing', async () => {
  await expect(example.run('start', { PARLEY_URL: service.url })).rejects.toThrow('PARLEY_KEY is missing');
});
