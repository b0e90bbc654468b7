import { beforeAll, describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../../support/make.ts';
import { sampled } from '../../../../support/property/sample.ts';
import { messagesOf } from '../../../../support/runs/research.ts';
import { withService } from '../../../../support/service.ts';
import { everyApi } from '../../../../support/tools/every-api.ts';
import { graphqlTool } from '../../../../support/tools/graphql-tool.ts';
import type { UpstreamScript } from '../../../../support/upstream.ts';

const bench = await withService('model');
const { make, upstream } = bench;
const modelId = 'openai/test-model';
let ann: Person;
let agentId: string;
let fileSource: string;

beforeAll(async () => {
  ann = await make.person();
  ({ id: agentId } = await make.agent({ owner: ann, modelId }));
  ({ id: fileSource } = (
    await addFile(ann, agentId, 'repairs.md', '# Repairs\n\nThe office repairs bicycles.', 'text/markdown')
  ).body);
  const payload = { owner: ann, agentId, name: 'Prices', data: { office: 'The office charges fifteen euros.' } };
  const { id } = await make.apiDataSource(payload);
  for (const source of [fileSource, id]) await indexed(ann, source);
});

const search: UpstreamScript = {
  toolCalls: [{ id: 'call_1', name: 'search_knowledge', arguments: JSON.stringify({ query: 'office' }) }],
};
const told = () => messagesOf(upstream.requests.at(-1)).findLast(({ role }) => role === 'tool')?.content ?? '';
/** Which of the two sources the model was told of. */
const found = () => [told().includes('bicycles'), told().includes('fifteen')];
const both = [true, true];
const file = [true, false];
const payload = [false, true];
const nothing = [false, false];
const is = (type: string, key: string, value: unknown) => ({ type, key, value });
const future = '2999-01-01T00:00:00+02:00';

describe.each(sampled(everyApi))('%s', (_name, askApi) => {
  it.each([
    ['the kind of source', is('eq', 'source_type', 'API'), payload],
    ['a part of two', { type: 'or', filters: [is('eq', 'source_type', 'WIKI'), is('eq', 'mime_type', 'text/markdown')] }, file],
  ])('filters by %s', async (_what, filters, expected) => {
    upstream.next(search, { text: 'Well.' });
    await askApi(ann, { tool: { type: 'file_search', filters }, input: 'Hm?', model: agentId, agentId }, bench);
    expect(found()).toEqual(expected);
  });
});

describe('a filter of file_search', () => {
  const ask = (filters: object) =>
    ann.post('/api/v2/responses', { model: agentId, input: 'Hm?', tools: [{ type: 'file_search', filters }] });

  it.each([
    ['ne', () => is('ne', 'source_type', 'API'), file],
    ['in', () => is('in', 'source_type', ['API', 'FILE_UPLOAD']), both],
    ['nin', () => is('nin', 'source_type', ['API', 'FILE_UPLOAD']), nothing],
    ['one source', () => is('eq', 'data_source_id', fileSource), file],
    ['a path', () => is('eq', 'path', 'repairs.md'), file],
    ['the beginning of a path', () => ({ type: 'and', filters: [is('gte', 'path', 'rep'), is('lt', 'path', 'req')] }), file],
    ['updated after a time that was', () => is('gt', 'updated_at', '2026-01-01'), both],
    ['updated after seconds that were', () => is('gte', 'updated_at', 1_700_000_000), both],
    ['updated after a time to come', () => is('gt', 'updated_at', future), nothing],
    ['updated before a time to come', () => is('lt', 'updated_at', future), both],
  ])('works: %s', async (_what, filters, expected) => {
    upstream.next(search, { text: 'Well.' });
    expect((await ask(filters())).status).toBe(200);
    expect(found()).toEqual(expected);
  });

  it.each([
    ['an unknown key', is('eq', 'colour', 'red'), 'key', 'data_source_id, source_type, mime_type, path, updated_at'],
    ['an unknown kind', is('eq', 'source_type', 'BOOK'), 'value', 'REPO_HOST'],
    ['a time that is none', is('gt', 'updated_at', 'yesterday'), 'value', 'seconds since 1970'],
    ['a number as a path', is('eq', 'path', 7), 'value', 'text'],
  ])('is refused with what is allowed: %s', async (_what, filters, member, allowed) => {
    const nested = { type: 'and', filters: [filters] };
    const message = expect.stringContaining(allowed);
    const param = `tools[0].filters.filters[0].${member}`;
    expect(await ask(nested)).toMatchObject({ status: 400, body: { error: { param, message } } });
    const mutation = 'mutation ($input: CompletionInput!) { createCompletion(input: $input) { status } }';
    const tools = [graphqlTool({ type: 'file_search', filters: nested })];
    const { errors } = await ann.graphql(mutation, {
      input: { model: agentId, messages: [{ user: { text: 'Hm?' } }], tools },
    });
    expect(errors).toMatchObject([
      { message, extensions: { faults: [{ path: expect.stringContaining(`filter.and.0.compare.${member}`) }] } },
    ]);
  });
});
