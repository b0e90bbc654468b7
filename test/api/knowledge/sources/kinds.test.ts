import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apis } from '../../../support/apis/questions.ts';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import { makePdf } from '../../../support/knowledge/documents.ts';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import type { UpstreamKind } from '../../../support/knowledge/upstreams/kind.ts';
import { startUpstreams } from '../../../support/knowledge/upstreams/start.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { inTurn, sampled } from '../../../support/property/sample.ts';
import { type TestBench, withService } from '../../../support/service.ts';

let bench: Pick<TestBench, 'make' | 'service'>;
const world = await startUpstreams(() => bench);
afterAll(() => world.close());
const { service, make } = await withService('plain', { env: world.env });
bench = { service, make };
const { run, refresh, texts, items } = connectedSources(service);

const question = 'What does a puncture cost?';
const price = 'A puncture costs fifteen euros.';
const link = /^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/data-sources\/ds_\w+\/knowledge\/ki_\w+\/content\?link=[\w.-]+$/;

/** A document of each kind. `add` returns the id of its source. */
interface CitedKind {
  readonly name: string;
  readonly url: RegExp;
  /** What a citation says of the place in the document. */
  readonly place: object;
  add(who: Person, agentId: string): Promise<string>;
}
const given: readonly CitedKind[] = [
  {
    name: 'uploaded PDF',
    url: link,
    place: { page: 2 },
    async add(who, agentId) {
      const pdf = await makePdf([
        { heading: 'Hours', columns: ['The workshop opens at nine.'] },
        { heading: 'Prices', columns: [price] },
      ]);
      return (await addFile(who, agentId, 'prices.pdf', pdf, 'application/pdf')).body.id;
    },
  },
  {
    name: 'uploaded Markdown',
    url: link,
    place: { page: null, headingPath: 'Prices' },
    add: async (who, agentId) =>
      (
        await addFile(
          who,
          agentId,
          'prices.md',
          `# Workshop\n\n${'Everybody is welcome who comes by bicycle or on foot. '.repeat(6)}\n\n## Prices\n\n${price}\n`,
        )
      ).body.id,
  },
  {
    name: 'payload of an API',
    url: link,
    place: { page: null },
    add: async (owner, agentId) => (await make.apiDataSource({ owner, agentId, data: { prices: { puncture: price } } })).id,
  },
  ...world.kinds.map((kind) => ({
    name: kind.name,
    url: kind.citedUrl,
    place: { page: null },
    add: async (who: Person, agentId: string) => sourceOver(who, 'REST', agentId, kind, await kind.prepare(who)),
  })),
];

async function sourceOver(
  who: Person,
  api: 'REST' | 'GraphQL',
  agentId: string,
  kind: UpstreamKind,
  input: object,
): Promise<string> {
  if (api === 'REST') {
    const { status, body } = await who.post(`/api/v1/ais/${agentId}/data-sources/${kind.path}`, input);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.id ?? body.data[0].id;
  }
  const document =
    'mutation ($agentId: ID!, $input: AddDataSourceInput!) { addDataSource(agentId: $agentId, input: $input) { dataSource { id } } }';
  const data = await who.ask(document, {
    agentId,
    input: { [kind.choice]: await inWordsOfTheGraph(who, input) },
  });
  return data.addDataSource.dataSource.id;
}

/** A body of REST as the input of GraphQL. */
async function inWordsOfTheGraph(who: Person, body: object): Promise<object> {
  const { oauthTokenId, repoHostAppInstallationId, dataRefreshPeriod, mode, maxMemory, timeout, ...same } = body as Readonly<
    Record<string, unknown>
  >;
  const renamed = {
    refreshPeriod: dataRefreshPeriod,
    connectionId: oauthTokenId,
    maxMemoryMb: maxMemory,
    timeoutSeconds: timeout,
  };
  const input = { ...same, ...Object.fromEntries(Object.entries(renamed).filter(([, value]) => value !== undefined)) };
  if (repoHostAppInstallationId === undefined) return input;
  const { data } = await who.graphql('{ connections(provider: REPO_HOST, first: 1) { nodes { id } } }');
  return { ...input, mode: String(mode).toUpperCase(), connectionId: data.connections.nodes[0].id };
}

describe.each(sampled(given.map((kind, turn) => [kind.name, kind, turn] as const)))(
  'an answer from the %s',
  (_name, kind, turn) => {
    let ann: Person;
    let agentId: string;

    beforeAll(async () => {
      ann = await make.person();
      agentId = (await make.agent({ owner: ann, generateCitations: true })).id;
      const id = await kind.add(ann, agentId);
      await eventually(async () => expect(JSON.stringify(await texts(id))).toContain('puncture'));
      await indexed(ann, id);
    });

    it.each(inTurn(Object.entries(apis), turn))('cites it with its address: %s', async (_api, ask) => {
      const [answer] = await ask(ann, { model: agentId, agentOfModel: agentId, text: question });
      expect(answer?.text).toContain('fifteen euros');
      expect(answer?.citations.length).toBeGreaterThan(0);
      for (const { url } of answer?.citations ?? []) expect(url).toMatch(kind.url);
      const [{ url } = { url: '' }] = answer?.citations ?? [];
      if (kind.url === link) expect((await service.nobody.get(url.slice(service.url.length))).status).toBe(200);
    });

    it('says where in the document it stands', async () => {
      const chat = await make.chat({ owner: ann, agentId });
      const { body } = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: question });
      expect(body.citations[0]).toMatchObject({ ...kind.place, url: expect.stringMatching(kind.url) });
    });
  },
);

describe.each(world.kinds.map((kind, turn) => [kind.name, kind, turn] as const))('a source of kind: %s', (_name, kind, turn) => {
  it.each(inTurn(['REST', 'GraphQL'] as const, turn))('is added over %s, indexed, and refreshed by what changed', async (api) => {
    const ann = await make.person();
    const agentId = (await make.agent({ owner: ann })).id;
    const id = await sourceOver(ann, api, agentId, kind, await kind.prepare(ann));
    expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 3, failedCount: 0, isComplete: true });
    expect(await indexed(ann, id)).toMatchObject({ indexStatus: 'INDEXED', errorCode: null });
    expect(kind.contentsSent()).toBeGreaterThan(0);

    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ status: 'COMPLETED', changedCount: 0, addedCount: 0, removedCount: 0 });
    expect(kind.contentsSent()).toBe(0);

    kind.change();
    kind.remove();
    await refresh(ann, id);
    expect(await run(ann, id, 3)).toMatchObject({ status: 'COMPLETED', changedCount: 1, addedCount: 0, removedCount: 1 });
    expect(kind.contentsSent()).toBe(1);
    const now = Object.values(await texts(id)).join('\n');
    expect(now).toContain('twenty euros');
    expect(now).not.toContain('fifteen euros');
    expect(now).not.toContain('opens at nine');
    await eventually(async () => expect(await items(ann, id)).toHaveLength(2));
  });
});
