import { describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const prices = [
  '# Workshop',
  '## Repairs\n\nA puncture repair costs fifteen euros and takes twenty minutes. Every wheel is checked for nails first.',
  '## Courses\n\nOn Saturdays you learn to mend a chain. The course is free for members.',
  '## Rental\n\nRenting a cargo bicycle is nine euros an hour. The deposit is one hundred euros.',
].join('\n\n');
/** May use the agent, and sees none of its sources. */

const organization = await make.organization();
const ann = await make.person({ organization });
const colleague = await make.person({ organization });
const agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;
const markdown = (await addFile(ann, agentId, 'workshop.md', prices, 'text/markdown')).body.id;
const payload = (
  await make.apiDataSource({ owner: ann, agentId, name: 'Hours', data: { monday: 'opens at nine', sunday: 'closed' } })
).id;
for (const id of [markdown, payload]) await indexed(ann, id);

const search = (who: Person, body: object) => who.post('/api/v1/search', body);
const titles = (reply: { body: { data: readonly { headingPath: string }[] } }) =>
  reply.body.data.map(({ headingPath }) => headingPath);

describe('POST /api/v1/search', () => {
  it('finds passages, and says where they stand and why they were found', async () => {
    const reply = await search(ann, { agentId, query: 'What does a puncture repair cost?', limit: 3, neighbours: true });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      query: { text: 'What does a puncture repair cost?', rewrite: 'none', context: [] },
      retrieval: { mode: 'lexical', reason: null },
    });
    const [best] = reply.body.data;
    expect(best).toMatchObject({
      dataSourceId: markdown,
      type: 'FILE_UPLOAD',
      title: 'Workshop',
      headingPath: 'Repairs',
      page: null,
      mayCite: true,
      previous: null,
    });
    expect(best.next).toContain('mend a chain');
    expect(best.text).toContain('fifteen euros');
    expect(best.charEnd - best.charStart).toBe(best.text.length);
    expect((await service.nobody.get(best.url.slice(service.url.length))).status).toBe(200);
    const words = Object.fromEntries(best.words.map(({ word, origin }: { word: string; origin: string }) => [word, origin]));
    expect(words).toMatchObject({ puncture: 'question', repair: 'question', cost: 'question' });
    const sum = best.words.reduce((total: number, { score }: { score: number }) => total + score, 0);
    expect(sum).toBeCloseTo(best.scores.lexical, 6);
    expect(best.scores).toMatchObject({ vector: null, rerank: null });
  });

  it('says which words are only spelled like those of the question', async () => {
    const spelled = await search(ann, { agentId, query: 'puncturre' });
    expect(spelled.body.data[0].words).toMatchObject([{ word: 'punctur', origin: 'spelling' }]);
  });

  it('searches a question that goes on from others with what was said before', async () => {
    const rewrite = [
      { role: 'user', text: 'Can I rent a cargo bicycle?' },
      { role: 'assistant', text: 'Yes, by the hour.' },
    ];
    const alone = await search(ann, { agentId, query: 'And how many euros is it?' });
    expect(alone.body).toMatchObject({ query: { rewrite: 'none', context: [] } });
    expect(JSON.stringify(alone.body.data)).not.toContain('"origin":"context"');
    const reply = await search(ann, { agentId, query: 'And how many euros is it?', rewrite });
    expect(titles(reply)[0]).toBe('Rental');
    expect(reply.body.query).toEqual({
      text: 'And how many euros is it?',
      rewrite: 'context',
      context: ['Can I rent a cargo bicycle?', 'Yes, by the hour.'],
    });
    expect(reply.body.data[0].words).toContainEqual(expect.objectContaining({ word: 'cargo', origin: 'context' }));
  });

  it.each([
    ['a kind of source', { sourceTypes: ['API'] }, { sourceTypes: ['WEB_URL', 'WIKI'] }],
    ['a type', { mimeTypes: ['application/json'] }, { mimeTypes: ['application/pdf'] }],
    ['a family of types', { mimeTypes: ['application/*'] }, { mimeTypes: ['image/*'] }],
    ['the beginning of a name', { pathPrefix: 'Hou' }, { pathPrefix: 'hou%' }],
    ['the time of the last change', { updatedAfter: '2020-01-01T00:00:00Z' }, { updatedAfter: '2100-01-01T00:00:00Z' }],
  ])('is narrowed by %s', async (_case, fitting, other) => {
    const ask = async (filters: object) => {
      const { status, body } = await search(ann, { agentId, query: 'nine', filters });
      expect(status).toBe(200);
      return body.data.map(({ dataSourceId }: { dataSourceId: string }) => dataSourceId);
    };
    expect(await ask(fitting)).toContain(payload);
    expect(await ask(other)).toEqual([]);
  });

  it('searches named sources, alone or of an agent', async () => {
    const alone = await search(ann, { dataSourceIds: [payload], query: 'nine' });
    expect(alone.body.data.map(({ dataSourceId }: { dataSourceId: string }) => dataSourceId)).toEqual([payload]);
    const ofAgent = await search(colleague, { agentId, dataSourceIds: [payload], query: 'nine' });
    expect(ofAgent.body.data).toHaveLength(1);
    const other = (await make.apiDataSource({ owner: ann, agentId: (await make.agent({ owner: ann })).id, data: { a: 'nine' } }))
      .id;
    expect(await search(ann, { agentId, dataSourceIds: [other], query: 'nine' })).toMatchObject({ status: 404 });
  });

  it('gives users of an agent what answers may cite, and nothing of sources that they may not read', async () => {
    expect((await search(colleague, { agentId, query: 'puncture' })).body.data).toHaveLength(1);
    expect(await search(colleague, { dataSourceIds: [markdown], query: 'puncture' })).toMatchObject({
      status: 404,
      body: { error: { param: 'dataSourceIds' } },
    });
    await ann.patch(`/api/v1/data-sources/${markdown}`, { cite: false });
    expect((await search(colleague, { agentId, query: 'puncture' })).body.data).toEqual([]);
    expect((await search(ann, { agentId, query: 'puncture' })).body.data).toMatchObject([{ mayCite: false }]);
    await ann.patch(`/api/v1/data-sources/${markdown}`, { cite: true });
    const stranger = await make.person();
    expect(await search(stranger, { agentId, query: 'puncture' })).toMatchObject({ status: 404 });
  });

  it.each([
    ['neither an agent nor sources', { query: 'x' }, 'agentId'],
    ['no source', { dataSourceIds: [], query: 'x' }, 'dataSourceIds'],
    ['a blank question', { agentId: 'ai_x', query: ' ' }, 'query'],
    ['a limit that is too high', { agentId: 'ai_x', query: 'x', limit: 51 }, 'limit'],
    ['a wrong type', { agentId: 'ai_x', query: 'x', filters: { mimeTypes: ['pdf'] } }, 'filters.mimeTypes[0]'],
    ['an unknown role', { agentId: 'ai_x', query: 'x', rewrite: [{ role: 'system', text: 'x' }] }, 'rewrite[0].role'],
  ])('refuses %s, by its name', async (_case, body, param) => {
    expect(await search(ann, body)).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('is the same in GraphQL', async () => {
    const query = `query ($input: KnowledgeSearchInput!) {
      search: searchKnowledge(input: $input) { query { rewrite } retrieval { mode } hits { dataSourceId source { id } item { source { id } } type text words { word } } }
    }`;
    const { data } = await colleague.graphql(query, { input: { agentId, query: 'deposit', filters: { mimeTypes: ['text/*'] } } });
    expect(data.search).toMatchObject({
      query: { rewrite: 'NONE' },
      retrieval: { mode: 'LEXICAL' },
      hits: [{ dataSourceId: markdown, text: expect.stringContaining('one hundred euros'), words: [{ word: 'deposit' }] }],
    });
  });
});
