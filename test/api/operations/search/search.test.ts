import { describe, expect, it } from 'vitest';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';
import { countFewestStatements } from '../../../support/storage/statements.ts';

const { service, make, upstream } = await withService('model', {});

const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });

const members = `kind title snippet titleHighlights { start end } highlights { start end }
  ... on AgentSearchResult { node { id } } ... on ChatSearchResult { node { id } }
  ... on MessageSearchResult { node { id content } } ... on DataSourceSearchResult { node { id } }`;

async function search(who: Person, query: string, rest = '') {
  const data = await who.ask(`query ($query: String!) { search(query: $query ${rest}) { ${members} } }`, {
    query,
  });
  return data.search;
}
/** The parts of a text that are highlighted. */
const marked = (text: string, spans: readonly { start: number; end: number }[]) =>
  spans.map(({ start, end }) => text.slice(start, end));

describe('search', () => {
  it('finds agents, chats, messages and sources by all words, with highlights', async () => {
    const agent = await make.agent({
      owner: ann,
      name: 'Harbour help',
      description: 'Answers about the  old\nlighthouse of Kiel.',
    });
    const chat = await make.chat({ owner: ann, agentId: agent.id, name: 'At the lighthouse' });
    const source = await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Lighthouse.md', data: { a: 1 } });
    upstream.next({ text: ['The LIGHTHOUSE opens', ' at nine.'] });
    await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: `${'x '.repeat(200)} Is the lighthouse open?` });
    const found = await search(ann, 'lighthouse');
    expect(found.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(['AGENT', 'CHAT', 'MESSAGE', 'MESSAGE', 'SOURCE']);
    const byKind = Map.groupBy(found, ({ kind }: { kind: string }) => kind);
    const [[ofAgent], [ofChat], ofMessages, [ofSource]] = ['AGENT', 'CHAT', 'MESSAGE', 'SOURCE'].map((kind) =>
      byKind.get(kind),
    ) as never as [[Found], [Found], Found[], [Found]];
    expect(ofAgent).toMatchObject({
      title: 'Harbour help',
      snippet: 'Answers about the old lighthouse of Kiel.',
      node: { id: agent.id },
    });
    expect(marked(ofAgent.snippet, ofAgent.highlights)).toEqual(['lighthouse']);
    expect(marked(ofChat.title, ofChat.titleHighlights)).toEqual(['lighthouse']);
    expect(ofChat).toMatchObject({ snippet: null, node: { id: chat.id } });
    expect(marked(ofSource.title, ofSource.titleHighlights)).toEqual(['Lighthouse']);
    expect(ofSource.node.id).toBe(source.id);
    expect(ofMessages.flatMap(({ snippet, highlights }) => marked(snippet, highlights))).toEqual(
      expect.arrayContaining(['LIGHTHOUSE', 'lighthouse']),
    );
    for (const { title, snippet } of ofMessages) {
      expect(title).toBe('At the lighthouse');
      expect(snippet.length).toBeLessThanOrEqual(202);
    }
    expect(await search(ann, 'lighthouse bicycle')).toEqual([]);
    expect(await search(ann, 'KIEL old')).toHaveLength(1);
  });

  it('names come first: the whole, then its beginning, then its words', async () => {
    for (const name of ['Some tea here', 'Teapot', 'Tea', 'Green tea', 'Instead'])
      await make.agent({ owner: bob, name, description: '' });
    await make.agent({ owner: bob, name: 'Other', description: 'tea' });
    const found = await search(bob, 'tea', ', kinds: [AGENT]');
    const titles = found.map(({ title }: { title: string }) => title);
    expect(titles.slice(0, 2)).toEqual(['Tea', 'Teapot']);
    expect(titles.slice(2, 4).toSorted()).toEqual(['Green tea', 'Some tea here']);
    expect(titles.slice(4)).toEqual(['Instead', 'Other']);
    expect(await search(bob, 'tea', ', kinds: [AGENT], first: 1')).toHaveLength(1);
  });

  it('shows only what the caller may see, of kinds that the key may read', async () => {
    const agent = await make.agent({ owner: ann, name: 'Secret zeppelin', visibility: 'PRIVATE' });
    const shared = await make.agent({ owner: ann, name: 'Shared zeppelin', visibility: 'ORGANIZATION' });
    await make.chat({ owner: ann, agentId: agent.id, name: 'About the zeppelin' });
    await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Zeppelin', data: {} });
    expect(await search(ann, 'zeppelin')).toHaveLength(4);
    expect(await search(bob, 'zeppelin')).toMatchObject([{ node: { id: shared.id } }]);
    expect(await search(await make.person(), 'zeppelin')).toEqual([]);
    const reader = await make.withKey(ann, { scopes: ['CHATS:READ'] });
    expect((await search(reader, 'zeppelin')).map(({ kind }: { kind: string }) => kind)).toEqual(['CHAT']);
    await ann.delete(`/api/v1/ais/${shared.id}`);
    expect(await search(bob, 'zeppelin')).toEqual([]);
  });

  it('takes wildcards, quotes and backslashes as they are', async () => {
    await make.agent({ owner: bob, name: '100% "pure" \\ tea_leaf' });
    for (const query of ['100%', '"pure"', '\\', 'tea_leaf', "' or 1=1 --"]) {
      const found = await search(bob, query);
      expect(found.map(({ title }: { title: string }) => title)).toEqual(
        query.startsWith("'") ? [] : ['100% "pure" \\ tea_leaf'],
      );
    }
    expect(await search(bob, '   ')).toEqual([]);
  });

  it.each([
    ['a long query', { query: 'x'.repeat(201) }, 'query'],
    ['no results', { query: 'x', first: 0 }, 'first'],
    ['too many', { query: 'x', first: 51 }, 'first'],
  ])('refuses %s', async (_case, variables, param) => {
    const query = 'query ($query: String!, $first: Int) { search(query: $query, first: $first) { title } }';
    const { errors } = await ann.graphql(query, variables);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_VALUE', faults: [{ path: param }] });
  });

  it('costs at most fourteen statements, and one for each further thousand messages', async () => {
    const agent = await make.agent({ owner: ann, name: 'Quokka' });
    for (let n = 0; n < 5; n += 1) {
      await make.agent({ owner: ann, name: `Quokka ${n}` });
      // Its indexing would add statements of its own.
      await indexed(ann, (await make.apiDataSource({ owner: ann, agentId: agent.id, name: `Quokka ${n}`, data: { n } })).id);
      const { id } = await make.chat({ owner: ann, agentId: agent.id, name: `Quokka ${n}` });
      upstream.next({ text: ['A quokka'] });
      await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'What is a quokka?' });
    }
    await search(ann, 'quokka');
    const { result, statements } = await countFewestStatements(service, () => search(ann, 'quokka', ', first: 50'));
    expect(result.length).toBeGreaterThan(20);
    expect(statements.length, statements.join('\n\n')).toBeLessThanOrEqual(14);
  });
});

interface Found {
  readonly title: string;
  readonly snippet: string;
  readonly titleHighlights: readonly { start: number; end: number }[];
  readonly highlights: readonly { start: number; end: number }[];
  readonly node: { readonly id: string };
}
