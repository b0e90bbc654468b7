import { afterAll, describe, expect, it } from 'vitest';
import { searchKey, startWeb } from '../../../../fixtures/upstreams/web.ts';
import { messagesOf } from '../../../../support/runs/research.ts';
import { withService } from '../../../../support/service.ts';

const web = await startWeb({ '/bikes': { title: 'Bikes', snippet: 'Blue.' } });
afterAll(() => web.close());
const { make, upstream, service } = await withService('model', {
  env: { SEARCH_URL: `${web.url}/`, SEARCH_API_KEY: searchKey, SEARCH_PROVIDER: 'brave' },
});
const ann = await make.person();
const filters = { allowed_domains: ['127.0.0.1'], blocked_domains: ['b.example'] };
const tool = { type: 'web_search', filters, search_context_size: 'low', user_location: { city: 'Bonn', country: 'DE' } };
const ask = async () => {
  const call = { id: 'call_1', name: 'web_search', arguments: '{"query":"bikes"}' };
  upstream.next({ toolCalls: [call] }, { text: 'Blue [1].' });
  const { body } = await ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Colour?', tools: [tool] });
  expect(body.output.at(-1).content[0].annotations).toMatchObject([
    { type: 'url_citation', url: `${web.url}/bikes`, title: 'Bikes' },
  ]);
  expect(messagesOf(upstream.requests.at(-1)).at(-1)?.content).toContain('Blue.');
  return web.requests.at(-1);
};

describe('SEARCH_PROVIDER', () => {
  it('brave is asked with its key, the number of results and the place', async () => {
    const request = await ask();
    expect(request?.path).toBe('/res/v1/web/search');
    expect(Object.fromEntries(request?.query ?? [])).toEqual({
      ...{ q: 'bikes site:127.0.0.1 -site:b.example', count: '4', country: 'DE', text_decorations: 'false' },
    });
    expect(request?.headers).toMatchObject({ 'x-subscription-token': searchKey, 'x-loc-city': 'Bonn', 'x-loc-country': 'DE' });
  });

  it('tavily is asked by POST, with domains and the name of the country', async () => {
    await service.restart({ SEARCH_PROVIDER: 'tavily' });
    const request = await ask();
    expect(request).toMatchObject({ method: 'POST', path: '/search', headers: { authorization: `Bearer ${searchKey}` } });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      ...{ query: 'bikes', max_results: 4, country: 'germany', include_domains: ['127.0.0.1'], exclude_domains: ['b.example'] },
    });
  });
});

describe('without a setting', () => {
  const refusal = async (members: object) => {
    const { status, body } = await ann.post('/api/v2/responses', {
      model: 'openai/test-model',
      input: 'x',
      tools: [{ type: 'web_search', ...members }],
    });
    return { status, ...body.error };
  };

  it('includeXSearch is refused, naming X_SEARCH_URL', async () => {
    const refused = await refusal({ includeXSearch: true });
    expect(refused).toMatchObject({ status: 400, code: 'unsupported_value', param: 'tools[0].includeXSearch' });
    expect(refused.message).toContain('X_SEARCH_URL');
  });

  it('web_search is refused, naming SEARCH_URL', async () => {
    await service.restart({ SEARCH_URL: '' });
    const refused = await refusal({});
    expect(refused).toMatchObject({ status: 400, code: 'tool_not_available', param: 'tools[0].type' });
    expect(refused.message).toContain('SEARCH_URL');
  });
});
