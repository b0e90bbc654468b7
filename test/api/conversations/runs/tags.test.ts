import { describe, expect, it } from 'vitest';
import type { GraphQLReply, TestClient } from '../../../support/client.ts';
import { withService } from '../../../support/service.ts';

/** How people sort runs: tags of runs, and filters that one saves for oneself. */
const { make, upstream } = await withService('model');

const organization = await make.organization();
const ann = await make.person({ organization });
const cleo = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const bob = await make.person();
const agentId = (await make.agent({ owner: ann, visibility: 'ORGANIZATION' })).id;

async function newRun(owner: TestClient = ann): Promise<string> {
  const { id } = await make.chat({ owner, agentId });
  upstream.next({ text: 'Yes' });
  const { body } = await owner.post(`/api/v1/chats/${id}/messages`, { prompt: 'Hello' });
  return body.runId;
}
const setTags = (id: string, tags: readonly string[], who: TestClient = ann) =>
  who.graphql('mutation ($id: ID!, $tags: [String!]!) { setRunTags(id: $id, tags: $tags) { id tags } }', { id, tags });
const runsWith = async (tag: string, who: TestClient = ann): Promise<readonly string[]> =>
  (
    await who.graphql('query ($tag: String) { runs(filter: { tag: $tag }) { nodes { id } totalCount } }', { tag })
  ).data.runs.nodes.map(({ id }: { id: string }) => id);
const tagsOf = async (who: TestClient) => (await who.graphql('{ runTags { name runCount } }')).data.runTags;
const codeOf = ({ errors }: GraphQLReply): unknown => errors?.[0]?.extensions?.code;
const save = (name: string, query: string, who: TestClient = ann) =>
  who.graphql('mutation ($input: SaveRunFilterInput!) { saveRunFilter(input: $input) { id name query } }', {
    input: { name, query },
  });
const filtersOf = async (who: TestClient) => (await who.graphql('{ savedRunFilters { id name query } }')).data.savedRunFilters;
const remove = (id: string, who: TestClient = ann) =>
  who.graphql('mutation ($id: ID!) { deleteRunFilter(id: $id) { name } }', { id });

describe('tags of runs', () => {
  it('are set, listed, found by, and taken away', async () => {
    const [first, second] = [await newRun(), await newRun()];
    expect((await setTags(first, [' slow ', 'to read', 'slow'])).data.setRunTags.tags).toEqual(['slow', 'to read']);
    await setTags(second, ['slow']);
    expect(await runsWith('slow')).toEqual([second, first]);
    expect(await runsWith('to read')).toEqual([first]);
    expect(await runsWith('nobody')).toEqual([]);
    expect(await tagsOf(ann)).toEqual([
      { name: 'slow', runCount: 2 },
      { name: 'to read', runCount: 1 },
    ]);
    const counted = await ann.graphql('{ runStatistics(by: DAY, filter: { tag: "slow" }) { total { runCount } } }');
    expect(counted.data.runStatistics.total.runCount).toBe(2);
    await setTags(second, []);
    expect(await runsWith('slow')).toEqual([first]);
    await setTags(first, []);
  });

  it('are seen by who sees the run, and by nobody else', async () => {
    const own = await newRun(cleo);
    await setTags(own, ['mine'], cleo);
    expect(await runsWith('mine', admin)).toEqual([own]);
    expect(await tagsOf(admin)).toEqual([{ name: 'mine', runCount: 1 }]);
    expect((await setTags(own, ['mine', 'checked'], admin)).data.setRunTags.tags).toEqual(['mine', 'checked']);
    expect(await runsWith('mine', bob)).toEqual([]);
    expect(await tagsOf(bob)).toEqual([]);
    expect(codeOf(await setTags(own, ['theirs'], bob))).toBe('NOT_FOUND');
  });

  it('are refused with the member that is wrong', async () => {
    const id = await newRun();
    const blank = await setTags(id, ['ok', ' ']);
    expect(blank.errors?.[0]?.extensions?.faults).toMatchObject([{ path: 'tags.1' }]);
    expect(codeOf(await setTags(id, ['a'.repeat(51)]))).toBe('INVALID_VALUE');
    expect(codeOf(await setTags(id, Array(21).fill('a')))).toBe('INVALID_VALUE');
  });
});

describe('saved filters of runs', () => {
  it('are kept by name, replaced, and deleted, each for its own person', async () => {
    const saved = await save('Failed ones', 'status=FAILED');
    expect(saved.data.saveRunFilter).toMatchObject({ name: 'Failed ones', query: 'status=FAILED' });
    await save('All of a day', 'days=1');
    const again = await save('Failed ones', 'status=FAILED&days=7');
    expect(again.data.saveRunFilter.id).toBe(saved.data.saveRunFilter.id);
    expect((await filtersOf(ann)).map(({ name, query }: { name: string; query: string }) => [name, query])).toEqual([
      ['All of a day', 'days=1'],
      ['Failed ones', 'status=FAILED&days=7'],
    ]);
    expect(await filtersOf(admin)).toEqual([]);
    expect(codeOf(await remove(saved.data.saveRunFilter.id, admin))).toBe('NOT_FOUND');
    expect((await remove(saved.data.saveRunFilter.id)).data.deleteRunFilter.name).toBe('Failed ones');
    expect(codeOf(await remove(saved.data.saveRunFilter.id))).toBe('NOT_FOUND');
  });

  it('are refused without a name, too long, and beyond fifty', async () => {
    expect((await save(' ', '')).errors?.[0]?.extensions?.faults).toMatchObject([{ path: 'input.name' }]);
    expect((await save('Long', 'a'.repeat(2_001))).errors?.[0]?.extensions?.faults).toMatchObject([{ path: 'input.query' }]);
    for (let index = 0; index < 50; index += 1) await save(`Filter ${index}`, '', cleo);
    expect(codeOf(await save('One more', '', cleo))).toBe('CONFLICT');
    expect(codeOf(await save('Filter 7', 'days=1', cleo))).toBeUndefined();
  });
});
