import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type AtlassianStandIn, startAtlassian } from '../../../fixtures/upstreams/atlassian.ts';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/** Small parts, so that every list has several. */
const cloud: AtlassianStandIn = await startAtlassian({ pageMax: 2 });
afterAll(() => cloud.close());
// Attachments lie at an address that Confluence names.
const { service, make } = await withService('plain', { env: { ...cloud.env, EGRESS_ALLOW: '127.0.0.1' } });
const { add, read, run, refresh, items, texts } = connectedSources(service);
let ann: Person;
let aiId: string;

beforeEach(async () => {
  cloud.sites.splice(1);
  ann = await make.person();
  aiId = (await make.agent({ owner: ann })).id;
});

async function connection(more: object = {}): Promise<string> {
  const { access: accessToken, refresh: refreshToken } = cloud.grant();
  const about = { provider: 'WIKI', accountName: 'Ann', accessToken, refreshToken, ...more };
  return (await ann.post('/api/v1/connections', about)).body.id;
}
async function source(body: object): Promise<string> {
  return add(ann, aiId, 'wiki', { oauthTokenId: await connection(), pageName: 'Handbook', ...body });
}
const idsOf = async (id: string) => (await items(ann, id)).map(({ uniqueId }) => uniqueId);
const lists = () =>
  cloud.requests.filter(({ path, query }) => path.includes('/wiki/api/v2/') && (query.has('limit') || query.has('cursor')));

describe('a space', () => {
  it('is read whole, then follows what is added, edited and deleted', async () => {
    const { wiki } = cloud;
    const space = wiki.space('Workshop');
    const top = wiki.page(space.id, 'Opening hours', '<p>The workshop opens at <strong>nine</strong>.</p>');
    const tools = wiki.page(space.id, 'Tools', '<h2>Lathe</h2><p>Wear goggles at the lathe.</p>', { parentId: top.id });
    const paint = wiki.page(space.id, 'Paint', '<p>Paint dries in a day.</p>');
    wiki.page(space.id, 'Bin', '<p>Never seen.</p>', { status: 'trashed' });
    wiki.page(space.id, 'Old', '<p>From long ago.</p>', { status: 'archived' });
    wiki.page(wiki.space('Other').id, 'Elsewhere', '<p>Another space.</p>');
    const id = await source({ spaceId: space.id });
    expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 3, isComplete: true });
    expect(await read(ann, id)).toMatchObject({ indexStatus: 'INDEXED', indexPercentage: '100', errorCode: null });
    const all = await items(ann, id);
    expect(all.map(({ uniqueId, parentUniqueId }) => [uniqueId, parentUniqueId])).toEqual([
      [top.id, ''],
      [tools.id, top.id],
      [paint.id, ''],
    ]);
    expect(all[0]?.originalContent.contentUrl).toBe(
      `https://acme.atlassian.net/wiki/spaces/${space.key}/pages/${top.id}/Opening%20hours`,
    );
    expect((await texts(id))[top.id]).toContain('The workshop opens at **nine**.');

    wiki.edit(top.id, '<p>The workshop opens at ten.</p>');
    wiki.pages.delete(paint.id);
    const glue = wiki.page(space.id, 'Glue', '<p>Glue holds after an hour.</p>');
    cloud.requests.length = 0;
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ addedCount: 1, changedCount: 1, unchangedCount: 1, removedCount: 1 });
    expect(Object.keys(await texts(id)).toSorted()).toEqual([top.id, tools.id, glue.id]);
    expect((await texts(id))[top.id]).toContain('opens at ten');
    const contents = cloud.requests.filter(({ query }) => query.has('body-format')).map(({ path }) => path.split('/').at(-1));
    expect(contents.toSorted()).toEqual([top.id, glue.id]);
  });

  it('answers with a link to the page', async () => {
    const space = cloud.wiki.space('Garden');
    const page = cloud.wiki.page(space.id, 'Watering', '<p>The greenhouse is watered every Thursday evening.</p>');
    const id = await source({ spaceId: space.key });
    await run(ann, id, 1);
    const chat = await ann.post(`/api/v1/ais/${aiId}/chats`, {});
    const reply = await ann.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt: 'When is the greenhouse watered?' });
    expect(reply.body.citations).toMatchObject([
      { url: expect.stringContaining(`/pages/${page.id}/Watering`), snippet: expect.stringContaining('Thursday') },
    ]);
  });

  it('brings archived pages where the source asks for them', async () => {
    const space = cloud.wiki.space('Archive');
    cloud.wiki.page(space.id, 'New', '<p>New.</p>');
    const old = cloud.wiki.page(space.id, 'Old', '<p>Old rules.</p>', { status: 'archived' });
    const id = await source({ spaceId: space.id, archive: true });
    expect(await run(ann, id, 1)).toMatchObject({ addedCount: 2 });
    expect((await texts(id))[old.id]).toContain('Old rules.');
  });

  it('that is not there is a failure that says what to do', async () => {
    const id = await source({ spaceId: '999999' });
    expect(await run(ann, id, 1)).toMatchObject({ status: 'FAILED', errorCode: 'NOT_FOUND' });
    expect((await read(ann, id)).errorMessage).toBe(
      'Confluence has no space with this id, or hides it from the connected account. Let that account read it, or remove this source.',
    );
  });

  it('is asked for in an order, part by part', async () => {
    const space = cloud.wiki.space('Many');
    for (let count = 0; count < 7; count += 1) cloud.wiki.page(space.id, `Page ${count}`, `<p>Text ${count}</p>`);
    cloud.requests.length = 0;
    const id = await source({ spaceId: space.id });
    expect(await run(ann, id, 1)).toMatchObject({ addedCount: 7 });
    expect(lists().length).toBe(4);
    expect(lists().every(({ query }) => query.get('sort') === 'id')).toBe(true);
  });
});

describe('all spaces', () => {
  it('are read one after the other, without what the account may not see', async () => {
    cloud.wiki.pages.clear();
    const [first, second, third] = [cloud.wiki.space('First'), cloud.wiki.space('Second'), cloud.wiki.space('Third')];
    const pages = [first, second, third].map(({ id, name }) => cloud.wiki.page(id, name, `<p>${name}</p>`));
    cloud.wiki.page(second.id, 'Secret', '<p>Secret</p>', { isHidden: true });
    const id = await source({ allSpaces: true });
    await run(ann, id, 1);
    expect(await idsOf(id)).toEqual(pages.map((page) => page.id));
    // A right that is lost hides a page: it is not answered from any more.
    if (pages[1] !== undefined) pages[1].isHidden = true;
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ removedCount: 1, unchangedCount: 2 });
  });
});

describe('a page', () => {
  it('comes alone, or with all below it, however deep, through folders', async () => {
    const { wiki } = cloud;
    const space = wiki.space('Deep');
    const root = wiki.page(space.id, 'Root', '<p>Root</p>');
    const folder = wiki.folder(space.id, root.id, 'Folder');
    const chain = [wiki.page(space.id, 'Level 1', '<p>Level 1</p>', { parentId: folder, parentType: 'folder' })];
    for (let level = 2; level <= 13; level += 1) {
      chain.push(wiki.page(space.id, `Level ${level}`, `<p>Level ${level}</p>`, { parentId: chain.at(-1)?.id ?? null }));
    }
    wiki.page(space.id, 'Beside', '<p>Beside</p>');
    const alone = await source({ pageId: root.id, spaceId: space.id });
    await run(ann, alone, 1);
    expect(await idsOf(alone)).toEqual([root.id]);
    const whole = await source({ pageId: root.id, indexChildPages: true });
    expect(await run(ann, whole, 1)).toMatchObject({ isComplete: true });
    expect(await idsOf(whole)).toEqual([root.id, ...chain.map(({ id }) => id)]);
    const ofFolder = await source({ pageId: folder, contentType: 'folder' });
    await run(ann, ofFolder, 1);
    expect(await idsOf(ofFolder)).toEqual(chain.map(({ id }) => id));
  });

  it('that is deleted is removed once a second run agrees, because it is all of the source', async () => {
    const page = cloud.wiki.page(cloud.wiki.space('Short').id, 'Brief', '<p>Brief.</p>');
    const id = await source({ pageId: page.id });
    await run(ann, id, 1);
    cloud.wiki.pages.delete(page.id);
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ removedCount: 0, heldCount: 1 });
    expect(Object.keys(await texts(id))).toEqual([page.id]);
    await refresh(ann, id);
    expect(await run(ann, id, 3)).toMatchObject({ removedCount: 1 });
    await refresh(ann, id);
    expect(await run(ann, id, 4)).toMatchObject({ status: 'FAILED', errorCode: 'NOT_FOUND' });
  });

  it('that is archived from the beginning says how to read it', async () => {
    const page = cloud.wiki.page(cloud.wiki.space('Past').id, 'Past', '<p>Past.</p>', { status: 'archived' });
    const id = await source({ pageId: page.id });
    expect(await run(ann, id, 1)).toMatchObject({ status: 'FAILED', errorCode: 'NOT_FOUND' });
    expect((await read(ann, id)).errorMessage).toContain('add the source again with archive');
  });

  it('is required, or a space, or all spaces', async () => {
    const id = await source({});
    expect(await run(ann, id, 1)).toMatchObject({ status: 'FAILED', errorCode: 'CONFIGURATION' });
    expect((await read(ann, id)).errorMessage).toContain('pageId, with spaceId, or with allSpaces');
  });
});

describe('attachments', () => {
  it('are read where the source asks for them, and named where they hold no text', async () => {
    const { wiki } = cloud;
    const page = wiki.page(wiki.space('Files').id, 'Files', '<p>With files.</p>');
    const plan = wiki.attach(page.id, 'plan.txt', 'text/plain', Buffer.from('The plan begins in spring.'));
    const map = wiki.attach(page.id, 'map.png', 'image/png', Buffer.from([137, 80]));
    const list = wiki.attach(page.id, 'list.csv', 'text/csv', Buffer.from('name,count\nbolt,7\n'));
    const id = await source({ pageId: page.id, indexAttachments: true });
    expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 3, skippedCount: 1, failedCount: 0 });
    const found = await texts(id);
    expect(found[plan.id]).toContain('begins in spring');
    expect(found[list.id]).toContain('bolt');
    const skipped = (await items(ann, id)).find(({ uniqueId }) => uniqueId === map.id);
    expect(skipped).toMatchObject({
      indexStatus: 'SKIPPED',
      parentUniqueId: page.id,
      metadata: { skippedReason: 'The file is an image: it holds no text that could be read.' },
      originalContent: { contentUrl: expect.stringContaining(`preview=${map.id}`) },
    });

    plan.bytes = Buffer.from('The plan begins in autumn.');
    plan.version += 1;
    wiki.attachments.delete(list.id);
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ changedCount: 1, removedCount: 1 });
    expect((await texts(id))[plan.id]).toContain('begins in autumn');
  });
});

describe('files of Google Drive that pages link to', () => {
  it('are listed with the reason where no account reads them, and without a second reading of the page', async () => {
    const link = '<p>See <a href="https://docs.google.com/document/d/1AbCdEfGhIjKlMn/edit">the plan</a>.</p>';
    const page = cloud.wiki.page(cloud.wiki.space('Links').id, 'Links', link);
    cloud.requests.length = 0;
    const id = await source({ pageId: page.id, indexDriveFiles: true });
    expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 1, skippedCount: 1 });
    expect(cloud.requests.filter(({ query }) => query.has('body-format')).length).toBe(1);
    expect((await texts(id))[page.id]).toContain('[the plan](https://docs.google.com/document/d/1AbCdEfGhIjKlMn/edit)');
    const file = (await items(ann, id)).find(({ uniqueId }) => uniqueId === '1AbCdEfGhIjKlMn');
    expect(file).toMatchObject({ indexStatus: 'SKIPPED', parentUniqueId: page.id });
    expect(file?.errorMessage).toContain('selectedDriveAccount');
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ unchangedCount: 1, skippedCount: 1, removedCount: 0 });
  });
});

describe('an account with several sites', () => {
  it('reads the one that the source or the connection names', async () => {
    cloud.sites.push({ id: 'cloud-2', name: 'Globex', url: 'https://globex.atlassian.net' });
    const page = cloud.wiki.page(cloud.wiki.space('Sites').id, 'Sites', '<p>Sites.</p>');
    cloud.requests.length = 0;
    const named = await source({ pageId: page.id, cloudId: 'cloud-2' });
    expect((await read(ann, named)).data).toMatchObject({ cloudId: 'cloud-2' });
    expect(await run(ann, named, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 1 });
    expect(cloud.requests.filter(({ path }) => path.startsWith('/ex/')).every(({ path }) => path.includes('/cloud-2/'))).toBe(
      true,
    );
    const ofConnection = await connection({ baseUrl: 'https://acme.atlassian.net/wiki' });
    const based = await source({ pageId: page.id, oauthTokenId: ofConnection });
    expect(await run(ann, based, 1)).toMatchObject({ status: 'COMPLETED' });
  });

  it('is not added without a choice, over REST and GraphQL, and the refusal lists the sites', async () => {
    const more = { id: 'cloud-2', name: 'Globex', url: 'https://globex.atlassian.net' };
    cloud.sites.push(more);
    const list = 'Acme (https://acme.atlassian.net, cloudId cloud-1); Globex (https://globex.atlassian.net, cloudId cloud-2)';
    const refused = async (body: object, param: string, oauthTokenId?: string) => {
      const input = { pageName: 'Handbook', oauthTokenId: oauthTokenId ?? (await connection()), ...body };
      const message = expect.stringContaining(list);
      const reply = await ann.post(`/api/v1/ais/${aiId}/data-sources/wiki`, input);
      expect(reply).toMatchObject({ status: 400, body: { error: { param, message } } });
      const query =
        'mutation ($id: ID!, $input: AddWikiDataSourceInput!) { addDataSource(agentId: $id, input: { wiki: $input }) { dataSource { id } } }';
      const { oauthTokenId: connectionId, ...others } = input;
      const { errors } = await ann.graphql(query, { id: aiId, input: { connectionId, ...others } });
      const faults = [{ path: `input.wiki.${param === 'oauthTokenId' ? 'connectionId' : param}` }];
      expect(errors).toMatchObject([{ message, extensions: { faults, code: 'INVALID_VALUE' } }]);
    };
    await refused({}, 'cloudId');
    await refused({ cloudId: 'cloud-3' }, 'cloudId');
    await refused({}, 'oauthTokenId', await connection({ baseUrl: 'https://elsewhere.atlassian.net' }));
    expect((await ann.get(`/api/v1/ais/${aiId}/data-sources`)).body.data).toEqual([]);
  });

  it('that saw one site when its source was added is read there for ever', async () => {
    const page = cloud.wiki.page(cloud.wiki.space('First').id, 'First', '<p>First.</p>');
    const id = await source({ pageId: page.id });
    expect((await read(ann, id)).data.cloudId).toBe('cloud-1');
    await run(ann, id, 1);
    cloud.sites.push({ id: 'cloud-2', name: 'Globex', url: 'https://globex.atlassian.net' });
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ status: 'COMPLETED', unchangedCount: 1 });
  });

  it('may have another one chosen by an update, over REST and GraphQL, and all is read anew there', async () => {
    const page = cloud.wiki.page(cloud.wiki.space('Move').id, 'Move', '<p>Move.</p>');
    const id = await source({ pageId: page.id });
    await run(ann, id, 1);
    const url = `/api/v1/data-sources/${id}`;
    const query = `mutation ($id: ID!, $input: UpdateDataSourceInput!) {
      updateDataSource(id: $id, input: $input) { settings { ... on WikiSettings { cloudId } } }
    }`;
    cloud.sites.push({ id: 'cloud-2', name: 'Globex', url: 'https://globex.atlassian.net' });
    for (const cloudId of ['cloud-3', null]) {
      const error = { param: 'cloudId', message: expect.stringContaining('cloudId cloud-2') };
      expect(await ann.patch(url, { cloudId })).toMatchObject({ status: 400, body: { error } });
      const { errors } = await ann.graphql(query, { id, input: { cloudId } });
      expect(errors).toMatchObject([{ message: error.message, extensions: { faults: [{ path: 'input.cloudId' }] } }]);
    }
    expect((await ann.patch(url, { cloudId: 'cloud-1' })).body.data.cloudId).toBe('cloud-1');
    cloud.requests.length = 0;
    expect((await ann.patch(url, { cloudId: 'cloud-2' })).body.data.cloudId).toBe('cloud-2');
    expect(await run(ann, id, 2)).toMatchObject({ status: 'COMPLETED', isForced: true, changedCount: 1 });
    const read = cloud.requests.filter(({ path }) => path.startsWith('/ex/'));
    expect([...new Set(read.map(({ path }) => path.split('/')[3]))]).toEqual(['cloud-2']);
    const { data } = await ann.graphql(query, { id, input: { cloudId: 'cloud-1' } });
    expect(data.updateDataSource.settings.cloudId).toBe('cloud-1');
    expect(await run(ann, id, 3)).toMatchObject({ status: 'COMPLETED', changedCount: 1 });
  });

  it('is chosen by the runs of the source where Atlassian does not answer at adding', async () => {
    const page = cloud.wiki.page(cloud.wiki.space('Silent').id, 'Silent', '<p>Silent.</p>');
    cloud.fail({ match: /accessible-resources/, status: 503 });
    const id = await source({ pageId: page.id });
    expect((await read(ann, id)).data.cloudId).toBeUndefined();
    expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 1 });
    cloud.sites.push({ id: 'cloud-2', name: 'Globex', url: 'https://globex.atlassian.net' });
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ errorCode: 'CONFIGURATION' });
    expect((await read(ann, id)).errorMessage).toContain('set the cloudId of the source');
  });

  it('is no matter of other kinds of sources', async () => {
    const { id } = (await ann.post(`/api/v1/ais/${aiId}/data-sources/api`, { name: 'Plain', data: {} })).body;
    const reply = await ann.patch(`/api/v1/data-sources/${id}`, { cloudId: 'cloud-1' });
    expect(reply).toMatchObject({ status: 400, body: { error: { param: 'cloudId' } } });
  });
});

describe('a Confluence that is not well', () => {
  it('is asked again after a limit, a failure and a reply that was cut', async () => {
    const space = cloud.wiki.space('Trouble');
    for (let count = 0; count < 5; count += 1) cloud.wiki.page(space.id, `Page ${count}`, `<p>Text ${count}</p>`);
    cloud.fail({ match: /\/spaces\/\d+\/pages/, status: 429, headers: { 'retry-after': '0' } });
    cloud.fail({ match: /cursor=/, status: 503, headers: { 'retry-after': new Date(0).toUTCString() } });
    cloud.fail({ match: /cursor=/, cutAtByte: 40 });
    const id = await source({ spaceId: space.id });
    expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 5, failedCount: 0 });
    expect(cloud.requests.filter(({ path }) => path === '/oauth/token')).toEqual([]);
  });

  it('loses nothing when a page changes between the parts of a list', async () => {
    const space = cloud.wiki.space('Moving');
    const pages = ['a', 'b', 'c'].map((name) => cloud.wiki.page(space.id, name, `<p>${name}</p>`));
    const [first] = pages;
    cloud.fail({ match: /cursor=/, before: () => cloud.wiki.edit(first?.id ?? '', '<p>changed</p>') });
    const id = await source({ spaceId: space.id });
    await run(ann, id, 1);
    await refresh(ann, id);
    await run(ann, id, 2);
    expect((await texts(id))[first?.id ?? '']).toContain('changed');
    expect((await idsOf(id)).length).toBe(3);
  });

  it('keeps what it gave when its list comes without its entries', async () => {
    const space = cloud.wiki.space('Cut');
    for (let count = 0; count < 3; count += 1) cloud.wiki.page(space.id, `Page ${count}`, `<p>Text ${count}</p>`);
    const id = await source({ spaceId: space.id });
    await run(ann, id, 1);
    cloud.fail({ match: /\/spaces\/\d+\/pages/, status: 200, body: { _links: {} } });
    await refresh(ann, id);
    expect(await run(ann, id, 2)).toMatchObject({ status: 'COMPLETED', removedCount: 0, unchangedCount: 3 });
  });
});
