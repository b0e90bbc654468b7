import { afterAll, describe, expect, it } from 'vitest';
import { html, startSite } from '../../../fixtures/upstreams/site.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { make } = await withService('plain', { env: { EGRESS_ALLOW: '127.0.0.1' } });
const site = await startSite();
afterAll(() => site.close());

async function add(owner: Person, agentId: string, limits: object = {}): Promise<string> {
  const input = { url: `${site.url}/`, dataRefreshPeriod: 'NEVER', includeFiles: true, includedFileTypes: ['CSV'], ...limits };
  const { status, body } = await owner.post(`/api/v1/ais/${agentId}/data-sources/web-url`, input);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.id;
}
const read = async (who: Person, id: string) => (await who.get(`/api/v1/data-sources/${id}`)).body;
const runsOf = async (who: Person, id: string) => (await who.get(`/api/v1/data-sources/${id}/runs`)).body.data;
/** Waits for the end of a source's nth run. */
const ended = (who: Person, id: string, count: number) =>
  eventually(async () => {
    const runs = await runsOf(who, id);
    expect(runs).toHaveLength(count);
    expect(runs[0].endedAt).toEqual(expect.any(String));
    return runs[0];
  });
const refreshed = async (who: Person, id: string) => {
  const { length } = await runsOf(who, id);
  await who.post(`/api/v1/data-sources/${id}/refresh`, {});
  return ended(who, id, length + 1);
};
const pathsOf = async (who: Person, id: string) =>
  (await who.get(`/api/v1/data-sources/${id}/knowledge?first=100`)).body.data
    .map(({ uniqueId }: { uniqueId: string }) => new URL(uniqueId).pathname)
    .toSorted();
async function answer(who: Person, agentId: string, question: string): Promise<{ text: string; urls: string[] }> {
  const chat = await make.chat({ owner: who, agentId });
  const { body } = await who.post(`/api/v1/chats/${chat.id}/messages`, { prompt: question });
  return {
    text: JSON.stringify(body.message),
    urls: (body.citations ?? []).map(({ url }: { url: string }) => url),
  };
}

describe('a web site', () => {
  it('is read, cited, kept up to date, and loses what the site deletes', async () => {
    site.reset();
    site.set('/', html('Harbour', 'Welcome to the harbour.', ['/ferry', '/tide', '/crane', '/prices.csv', '/lighthouse']));
    site.set('/ferry', html('Ferry', 'The ferry to the island leaves at nine.'));
    site.set('/tide', html('Tide', 'High tide comes in the evening.'));
    site.set('/crane', html('Crane', 'The crane lifts forty tons.'));
    site.set('/lighthouse', html('Lighthouse', 'The lighthouse keeper is called Ingrid.'));
    site.set('/prices.csv', { body: 'berth,euro\nnorth quay,35\n', headers: { 'content-type': 'text/csv' } });
    const ann = await make.person();
    const agent = await make.agent({ owner: ann });
    const id = await add(ann, agent.id);
    expect(await ended(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 6, failedCount: 0, isComplete: true });
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'INDEXED', indexPercentage: '100', errorCode: null, warnings: [] });
    expect(await pathsOf(ann, id)).toEqual(['/', '/crane', '/ferry', '/lighthouse', '/prices.csv', '/tide']);
    const before = await answer(ann, agent.id, 'When does the ferry to the island leave?');
    expect(before.text).toContain('leaves at nine');
    expect(before.urls).toContain(`${site.url}/ferry`);

    site.requests.length = 0;
    expect(await refreshed(ann, id)).toMatchObject({ unchangedCount: 6, changedCount: 0, addedCount: 0 });
    expect(site.requests.filter(({ status }) => status === 304)).toHaveLength(6);
    // What the crawl keeps for itself is told to nobody.
    const { data: items } = (await ann.get(`/api/v1/data-sources/${id}/knowledge?first=100`)).body;
    const shown = new Set(items.flatMap(({ metadata }: { metadata: object }) => Object.keys(metadata)));
    expect([...shown].filter((name) => !['title', 'etag', 'lastModified'].includes(String(name)))).toEqual([]);

    site.set('/ferry', html('Ferry', 'The ferry to the island leaves at noon.'));
    site.delete('/lighthouse');
    expect(await refreshed(ann, id)).toMatchObject({ unchangedCount: 4, changedCount: 1, removedCount: 1 });
    const after = await answer(ann, agent.id, 'When does the ferry to the island leave?');
    expect(after.text).toContain('leaves at noon');
    expect(after.text).not.toContain('leaves at nine');
    await eventually(async () => expect(await pathsOf(ann, id)).not.toContain('/lighthouse'));
    expect((await answer(ann, agent.id, 'What is the lighthouse keeper called?')).text).not.toContain('Ingrid');
  });

  it('is indexed up to its limit, and says which', async () => {
    site.reset();
    const paths = Array.from({ length: 8 }, (_, index) => `/part-${index}`);
    site.set('/', html('Start', 'It begins.', paths));
    for (const path of paths) site.set(path, html(path, `The text of ${path}.`));
    const ann = await make.person();
    const id = await add(ann, (await make.agent({ owner: ann })).id, { maxPages: 4 });
    expect(await ended(ann, id, 1)).toMatchObject({ addedCount: 4, isComplete: false, bound: 'maxPages (4 pages)' });
    expect(await read(ann, id)).toMatchObject({
      indexStatus: 'INDEXED',
      errorCode: 'BOUND_REACHED',
      errorMessage: expect.stringContaining('maxPages (4 pages)'),
    });
  });

  it('that cannot be read says why', async () => {
    site.reset();
    const ann = await make.person();
    const id = await add(ann, (await make.agent({ owner: ann })).id);
    expect(await ended(ann, id, 1)).toMatchObject({ status: 'FAILED', errorCode: 'NOT_FOUND' });
    expect(await read(ann, id)).toMatchObject({
      indexStatus: 'FAILED',
      errorCode: 'NOT_FOUND',
      errorMessage: `There is no page at ${site.url}/: check the address.`,
    });
  });

  it('keeps what it has while robots.txt does not answer', async () => {
    site.reset();
    site.set('/', html('Start', 'The museum opens at ten.'));
    const ann = await make.person();
    const agent = await make.agent({ owner: ann });
    const id = await add(ann, agent.id);
    await ended(ann, id, 1);
    site.set('/robots.txt', { status: 503 });
    expect(await refreshed(ann, id)).toMatchObject({ status: 'FAILED', errorCode: 'UNREACHABLE', removedCount: 0 });
    expect((await answer(ann, agent.id, 'When does the museum open?')).text).toContain('at ten');
  });
});
