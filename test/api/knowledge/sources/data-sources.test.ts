import { describe, expect, it } from 'vitest';
import { addFile, indexed, itemsOf } from '../../../support/knowledge/knowledge.ts';
import { makeFor, type Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { startService, withService } from '../../../support/service.ts';

const { service, make } = await withService();
/** Of Ann's organization. */

const organization = await make.organization();
const ann = await make.person({ organization });
const colleague = await make.person({ organization });
const stranger = await make.person();
const agent = await make.agent({ owner: ann });

const newSource = (data: unknown = { hours: 'Open from nine to five' }, owner = ann, agentId = agent.id) =>
  make.apiDataSource({ owner, agentId, data });

describe('adding knowledge', () => {
  it('a JSON payload has every member of the contract, and is indexed', async () => {
    const added = await newSource({ hours: 'The shop opens at nine', days: ['Monday'] });
    expect(added).toMatchObject({
      id: expect.stringMatching(/^ds_/),
      orgId: ann.orgId,
      ownerUserId: ann.userId,
      type: 'API',
      refreshPeriod: 'NEVER',
      data: { hours: 'The shop opens at nine', days: ['Monday'] },
      cite: true,
      orgVisible: false,
    });
    const done = await indexed(ann, added.id);
    expect(done).toMatchObject({ indexStatus: 'INDEXED', indexPercentage: '100', lastIndexedAt: expect.stringMatching(/Z$/) });
    const [item] = await itemsOf(ann, added.id);
    expect(item).toMatchObject({
      id: expect.stringMatching(/^ki_/),
      type: 'API',
      indexStatus: 'INDEXED',
      indexPercentage: '100',
      documentCount: 1,
      cite: true,
      metadata: {},
      originalContent: { mimeType: 'application/json', isContentStoredExternally: false },
    });
  });

  it('a file is known by its content, whatever its sender declared', async () => {
    const { status, body } = await addFile(ann, agent.id, 'notes.md', '# Otters\n\nOtters hold hands.\n', 'image/png');
    expect(status).toBe(200);
    expect(body).toMatchObject({ type: 'FILE_UPLOAD', name: 'notes.md', data: { filename: 'notes.md', size: 29 } });
    expect(await indexed(ann, body.id)).toMatchObject({ indexStatus: 'INDEXED' });
  });

  it.each([
    ['bytes that are no document', 'photo.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'FAILED'],
    ['a document without text', 'empty.txt', ' \n\n ', 'SKIPPED'],
    ['a broken PDF', 'broken.pdf', '%PDF-1.7\nnothing else', 'FAILED'],
  ])('%s ends with a reason that a person can act on', async (_case, filename, content, status) => {
    const { body } = await addFile(ann, agent.id, filename, content);
    expect(await indexed(ann, body.id)).toMatchObject({ indexStatus: 'FAILED', indexPercentage: '100' });
    const [item] = await itemsOf(ann, body.id);
    expect(item).toMatchObject({ indexStatus: status, errorCode: expect.stringMatching(/^[A-Z_]+$/) });
    expect(item.errorMessage).toMatch(/^[A-Z].{15,}\.$/);
    const { errorCode, errorMessage } = item;
    expect((await ann.get(`/api/v1/data-sources/${body.id}`)).body).toMatchObject({ errorCode, errorMessage, warnings: [] });
    const { data } = await ann.graphql('query ($id: ID!) { dataSource(id: $id) { errorCode errorMessage } }', { id: body.id });
    expect(data.dataSource).toEqual({ errorCode, errorMessage });
  });

  it.each([
    ['data that is no object', { name: 'x', data: [1] }, 'data'],
    ['data that is missing', { name: 'x' }, 'data'],
    ['a blank name', { name: ' ', data: {} }, 'name'],
    ['a name of 201 characters', { name: 'x'.repeat(201), data: {} }, 'name'],
  ])('refuses %s', async (_case, body, param) => {
    const reply = await ann.post(`/api/v1/ais/${agent.id}/data-sources/api`, body);
    expect(reply).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('refuses an empty file, and one larger than the limit', async () => {
    expect((await addFile(ann, agent.id, 'nothing.txt', '')).status).toBe(400);
    const small = await startService({ env: { UPLOAD_MAX_BYTES: '100' } });
    try {
      const owner = await makeFor(small).person();
      const { id } = await makeFor(small).agent({ owner });
      expect((await addFile(owner, id, 'fits.txt', 'x'.repeat(100))).status).toBe(200);
      expect((await addFile(owner, id, 'large.txt', 'x'.repeat(101))).status).toBe(413);
    } finally {
      await small.close();
    }
  });
});

describe('who sees a source', () => {
  it("its owner, editors of an agent that has it, administrators, and with orgVisible the organization; another's is missing", async () => {
    const source = await newSource();
    const editor = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const administrator = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, role: 'ADMIN' });
    const seenBy = async (who: Person) => (await who.get(`/api/v1/data-sources/${source.id}`)).status;
    expect([
      await seenBy(ann),
      await seenBy(editor),
      await seenBy(administrator),
      await seenBy(colleague),
      await seenBy(stranger),
    ]).toEqual([200, 404, 200, 404, 404]);
    const edited = await make.agent({ owner: ann, editors: [{ id: editor.userId, name: '', email: editor.email }] });
    await ann.patch(`/api/v1/data-sources/${source.id}`, { ais: [agent.id, edited.id] });
    expect(await seenBy(editor)).toBe(200);
    await ann.patch(`/api/v1/data-sources/${source.id}`, { orgVisible: true });
    expect([await seenBy(colleague), await seenBy(stranger)]).toEqual([200, 404]);
  });

  it('the original is served to those who see the source, as bytes that nothing runs', async () => {
    const page = '<script>alert(1)</script><p>Hello there, this is a page.</p>';
    const { body: source } = await addFile(ann, agent.id, 'a page, ü.html', page, 'text/html');
    const [item] = await itemsOf(ann, source.id);
    expect(item.originalContent.contentBlobUrl).toBe(item.originalContent.contentUrl);
    const { pathname, origin } = new URL(item.originalContent.contentUrl);
    expect(origin).toBe(service.url);
    const reply = await ann.get(pathname);
    expect(reply.body).toBe(page);
    expect(reply.headers.get('content-type')).toBe('application/octet-stream');
    expect(reply.headers.get('content-disposition')).toMatch(
      /^attachment; filename="a page, _\.html"; filename\*=UTF-8''a%20page%2C%20%C3%BC\.html$/,
    );
    expect(reply.headers.get('content-security-policy')).toContain('sandbox');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await colleague.get(pathname)).status).toBe(404);
    expect((await service.nobody.get(pathname)).status).toBe(401);
  });
});

describe('lists', () => {
  it('the accessible sources carry ais and ownerUser, in order, page by page, with a total', async () => {
    const owner = await make.person();
    const first = await make.agent({ owner, name: 'First' });
    const second = await make.agent({ owner, name: 'Second' });
    const sources: { readonly id: string }[] = [];
    for (const name of ['alpha', 'beta', 'gamma']) {
      sources.push(await make.apiDataSource({ owner, agentId: first.id, name, data: { name } }));
    }
    await owner.post(`/api/v1/ais/${second.id}/data-sources`, { dataSourceId: sources[1]?.id });
    const list = async (query: string) => (await owner.get(`/api/v1/data-sources?${query}`)).body;
    const names = async (query: string) => (await list(query)).data.map(({ name }: { name: string }) => name);
    expect(await names('')).toEqual(['gamma', 'beta', 'alpha']);
    expect(await names('orderBy=%2BcreatedAt')).toEqual(['alpha', 'beta', 'gamma']);
    expect(await names('orderBy=+createdAt')).toEqual(['alpha', 'beta', 'gamma']);
    expect((await names('orderBy=-usageCount'))[0]).toBe('beta');
    expect(await names('search=ALPH')).toEqual(['alpha']);
    expect(await names('type=WIKI')).toEqual([]);
    const page = await list('page=2&limit=2');
    expect(page).toMatchObject({
      total: 3,
      data: [{ name: 'alpha', ais: [{ id: first.id, name: 'First' }], ownerUser: { id: owner.userId, email: owner.email } }],
    });
    for (const order of ['-createdAt', '%2BcreatedAt', '-usageCount', '%2BusageCount', '-lastIndexedAt', '%2BlastIndexedAt']) {
      await eventually(async () => {
        for (const { id } of sources) await indexed(owner, id);
      });
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const next = await list(`orderBy=${order}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
        seen.push(...next.data.map(({ name }: { name: string }) => name));
        cursor = next.nextCursor;
      }
      expect(seen.toSorted()).toEqual(['alpha', 'beta', 'gamma']);
    }
  });

  it.each(['createdAt', '-name', '-createdAt;', '--createdAt'])('refuses the order %s', async (orderBy) => {
    const reply = await ann.get(`/api/v1/data-sources?orderBy=${encodeURIComponent(orderBy)}`);
    expect(reply).toMatchObject({ status: 400, body: { error: { param: 'orderBy' } } });
  });

  it('are narrowed to those that are ready, read now, or failing', async () => {
    const owner = await make.person();
    const { id: agentId } = await make.agent({ owner });
    const good = await make.apiDataSource({ owner, agentId, data: { hours: 'Open from nine to five' } });
    const bad = (await addFile(owner, agentId, 'broken.pdf', '%PDF-1.4 nothing follows')).body;
    await Promise.all([indexed(owner, good.id), indexed(owner, bad.id)]);
    const idsOf = async (state: string) => {
      const query = 'query ($state: DataSourceState) { dataSources(state: $state) { nodes { id } } }';
      return (await owner.graphql(query, { state })).data.dataSources.nodes.map(({ id }: { id: string }) => id);
    };
    // The run of a source ends a moment behind its last document.
    await expect.poll(() => idsOf('READING'), { timeout: 60_000 }).toEqual([]);
    expect(await idsOf('READY')).toEqual([good.id]);
    expect(await idsOf('FAILING')).toEqual([bad.id]);
  });
  it('the sources of an AI; its items by first, cursor and page', async () => {
    const owner = await make.person();
    const { id } = await make.agent({ owner });
    const source = await make.apiDataSource({ owner, agentId: id, data: { a: 1 } });
    expect((await owner.get(`/api/v1/ais/${id}/data-sources`)).body).toMatchObject({ data: [{ id: source.id }] });
    const items = (await owner.get(`/api/v1/data-sources/${source.id}/knowledge?first=1`)).body;
    expect(items).toMatchObject({ data: [{ name: source.name }], pagination: { nextCursor: null } });
    expect((await owner.get(`/api/v1/data-sources/${source.id}/knowledge?page=2`)).body.data).toEqual([]);
    expect((await owner.get(`/api/v1/data-sources/${source.id}/knowledge?page=0`)).status).toBe(400);
  });
});

describe('changing', () => {
  it('absent members are kept, null gives back the default', async () => {
    const source = await newSource();
    const path = `/api/v1/data-sources/${source.id}`;
    expect((await ann.patch(path, { refreshPeriod: 'WEEKLY', cite: false, orgVisible: true })).body).toMatchObject({
      refreshPeriod: 'WEEKLY',
      cite: false,
      orgVisible: true,
    });
    expect((await ann.patch(path, { cite: null, orgVisible: null })).body).toMatchObject({
      refreshPeriod: 'WEEKLY',
      cite: true,
      orgVisible: false,
    });
    expect((await ann.patch(path, { refreshPeriod: 'HOURLY' })).status).toBe(400);
  });

  it('is renamed, and keeps its name for null; a blank name is refused', async () => {
    const agent = await make.agent({ owner: ann });
    const { id } = await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Hours', data: { monday: 'nine' } });
    const rename = (name: unknown) => ann.patch(`/api/v1/data-sources/${id}`, { name });
    expect(await rename(' Opening hours ')).toMatchObject({ status: 200, body: { name: 'Opening hours' } });
    expect(await rename(null)).toMatchObject({ status: 200, body: { name: 'Opening hours' } });
    expect(await rename(' ')).toMatchObject({ status: 400, body: { error: { param: 'name' } } });
  });
  it('ais replaces the agents; one the caller may not edit is refused', async () => {
    const source = await newSource();
    const other = await make.agent({ owner: ann });
    const path = `/api/v1/data-sources/${source.id}`;
    await ann.patch(path, { ais: [other.id] });
    expect((await ann.get(path)).body.ais).toMatchObject([{ id: other.id }]);
    const foreign = await make.agent({ owner: stranger });
    const visible = await make.agent({ owner: colleague, visibility: 'ORGANIZATION' });
    expect((await ann.patch(path, { ais: [foreign.id] })).status).toBe(404);
    expect((await ann.patch(path, { ais: [visible.id] })).status).toBe(403);
    expect((await ann.patch(path, { ais: null })).status).toBe(200);
    expect((await ann.get(path)).body.ais).toEqual([]);
  });

  it("attaches what is one's own or open to the organization, and nothing else", async () => {
    const source = await newSource();
    const theirs = await make.agent({ owner: colleague });
    const attach = (who: Person, agentId: string) => who.post(`/api/v1/ais/${agentId}/data-sources`, { dataSourceId: source.id });
    expect((await attach(colleague, theirs.id)).status).toBe(404);
    await ann.patch(`/api/v1/data-sources/${source.id}`, { orgVisible: true });
    expect(await attach(colleague, theirs.id)).toMatchObject({ status: 200, body: { aiId: theirs.id, dataSourceId: source.id } });
    expect((await attach(colleague, theirs.id)).status).toBe(200);
    const foreign = await make.agent({ owner: stranger });
    expect((await attach(stranger, foreign.id)).status).toBe(404);
  });

  it('an item that must not be cited says so', async () => {
    const source = await newSource();
    const [item] = await itemsOf(ann, source.id);
    const reply = await ann.patch(`/api/v1/data-sources/${source.id}/knowledge/${item.id}`, { cite: false });
    expect(reply).toMatchObject({ status: 200, body: { id: item.id, cite: false } });
    const other = await newSource();
    expect((await ann.patch(`/api/v1/data-sources/${other.id}/knowledge/${item.id}`, { cite: false })).status).toBe(404);
  });
});

describe('deleting', () => {
  it('removes the source at once, and everything behind it soon', async () => {
    const source = await newSource({ secret: 'A zebra walks by' });
    await indexed(ann, source.id);
    const { pool } = service.deps.storage.db;
    const { rows } = await pool.query('select "contentBlobKey" as key from knowledge_items where "dataSourceId" = $1', [
      source.id,
    ]);
    expect(await ann.delete(`/api/v1/data-sources/${source.id}`)).toMatchObject({
      status: 200,
      body: { indexStatus: 'DELETING' },
    });
    expect((await ann.get(`/api/v1/data-sources/${source.id}`)).status).toBe(404);
    await eventually(async () => {
      const left = await pool.query(
        `select (select count(*) from data_sources where id = $1) + (select count(*) from knowledge_items where "dataSourceId" = $1)
         + (select count(*) from chunks where data_source_id = $1) + (select count(*) from lexeme_frequencies where data_source_id = $1)
         + (select count(*) from lexeme_statistics where data_source_id = $1)
         + (select count(*) from agent_data_sources where "dataSourceId" = $1)
         + (select count(*) from chunk_texts t where not exists (select 1 from chunks c where c.id = t.chunk_id)) as rows`,
        [source.id],
      );
      expect(left.rows).toEqual([{ rows: '0' }]);
    });
    const { blobs } = service.deps.storage;
    await eventually(() => expect(blobs.read(rows[0].key)).rejects.toMatchObject({ code: 'NOT_FOUND' }));
  });

  it('in bulk: all or none, and only what the agent has', async () => {
    const owner = await make.person();
    const { id } = await make.agent({ owner });
    const other = await make.agent({ owner });
    const one = await make.apiDataSource({ owner, agentId: id, data: { a: 1 } });
    const two = await make.apiDataSource({ owner, agentId: id, data: { a: 2 } });
    const elsewhere = await make.apiDataSource({ owner, agentId: other.id, data: { a: 3 } });
    const bulk = (dataSourceIds: string[]) => owner.post(`/api/v1/ais/${id}/data-sources/bulk-delete`, { dataSourceIds });
    expect((await bulk([one.id, elsewhere.id])).status).toBe(404);
    expect((await bulk([])).status).toBe(400);
    expect((await owner.get(`/api/v1/ais/${id}/data-sources`)).body.data).toHaveLength(2);
    expect(await bulk([one.id, two.id])).toMatchObject({ status: 200, body: { aiId: id, dataSourceIds: [one.id, two.id] } });
    expect((await owner.get(`/api/v1/ais/${id}/data-sources`)).body.data).toEqual([]);
  });

  it('in bulk: detaches what other agents use, deletes the rest, and counts both', async () => {
    const [owner, bob] = [await make.person(), await make.person()];
    const [first, second] = [await make.agent({ owner }), await make.agent({ owner })];
    const make2 = (agentId: string) => make.apiDataSource({ owner, agentId, data: { a: 1 } });
    const [own, shared] = [await make2(first.id), await make2(first.id)];
    await owner.post(`/api/v1/ais/${second.id}/data-sources`, { dataSourceId: shared.id });
    const bulk = (agentId: string, dataSourceIds: string[], who = owner) =>
      who.post(`/api/v1/ais/${agentId}/data-sources/bulk-delete`, { dataSourceIds });
    expect((await bulk(first.id, [own.id, shared.id], bob)).status).toBe(404);
    expect(await bulk(first.id, [own.id, shared.id])).toMatchObject({
      status: 200,
      body: { aiId: first.id, dataSourceIds: [own.id, shared.id], deletedCount: 1, detachedCount: 1 },
    });
    const listed = async (agentId: string) =>
      (await owner.get(`/api/v1/ais/${agentId}/data-sources`)).body.data.map(({ id }: { id: string }) => id);
    expect([await listed(first.id), await listed(second.id)]).toEqual([[], [shared.id]]);
    expect((await owner.get(`/api/v1/data-sources/${own.id}`)).status).toBe(404);
    expect((await bulk(second.id, [shared.id])).body).toMatchObject({ deletedCount: 1, detachedCount: 0 });
    expect((await owner.get(`/api/v1/data-sources/${shared.id}`)).status).toBe(404);
  });
});
