import { beforeEach, describe, expect, it } from 'vitest';
import { sweepOldData } from '../../../../src/domain/operations/data-life/sweep.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');
let ann: Person;

const organization = await make.organization();
const admin = await make.person({ organization, role: 'ADMIN' });
const agent = await make.agent({ owner: admin, visibility: 'ORGANIZATION' });

beforeEach(async () => {
  ann = await make.person({ organization });
});

const { pool } = service.deps.storage.db;
const sweep = () => sweepOldData(service.deps, AbortSignal.timeout(60_000));
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const binnedSince = (id: string, days: number) =>
  pool.query('update chats set "deletedAt" = $2, "updatedAt" = $2 where id = $1', [id, daysAgo(days)]);
const countOf = async (table: string, id: string): Promise<number> =>
  (await pool.query(`select count(*)::int as count from ${table} where "chatId" = $1`, [id])).rows[0].count;

/** A chat with an answer, a file, a tag and an opinion, as the user of it sees it. */
async function newChat(owner: Person = ann, name = 'Rome'): Promise<{ id: string; fileUrl: string }> {
  const { id } = await make.chat({ owner, agentId: agent.id });
  await owner.post(`/api/v1/chats/${id}/messages`, { prompt: 'Hello' });
  await owner.patch(`/api/v1/chats/${id}`, { name, tags: ['travel'], pinPosition: 3 });
  const form = new FormData();
  form.append('file', new Blob(['note of Rome'], { type: 'text/plain' }), 'note.txt');
  const file = await owner.post(`/api/v1/chats/${id}/files`, form);
  const { messages } = (await owner.get(`/api/v1/chats/${id}`)).body;
  await owner.put(`/api/v1/chats/${id}/messages/${messages[1].id}/feedback`, { rating: 'UP' });
  return { id, fileUrl: file.body.url };
}
const bin = async (who: Person = ann): Promise<readonly { chatId: string; name: string | null; expiresAt: string }[]> =>
  (await who.get('/api/v1/bin/chats')).body.data;
const idsInBin = async (who: Person = ann) => (await bin(who)).map(({ chatId }) => chatId);
const restore = (ids: readonly string[], who: Person = ann) => who.post('/api/v1/bin/chats/restore', { chatIds: ids });
const deleteForEver = (ids: readonly string[], who: Person = ann) => who.post('/api/v1/bin/chats/delete', { chatIds: ids });

describe('a deleted chat', () => {
  it('is nowhere but in the bin', async () => {
    const { id, fileUrl } = await newChat();
    const run = (await ann.get(`/api/v1/chats/${id}`)).body.messages[1].runId;
    expect((await fetch(fileUrl)).status).toBe(200);
    expect((await ann.delete(`/api/v1/chats/${id}`)).status).toBe(200);
    for (const path of [`chats/${id}`, `chats/${id}/messages`, `chats/${id}/files`, `chats/${id}/export`, `chats/${id}/place`])
      expect((await ann.get(`/api/v1/${path}`)).status, path).toBe(404);
    expect((await ann.delete(`/api/v1/chats/${id}`)).status).toBe(404);
    expect((await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'Hello?' })).status).toBe(404);
    expect((await ann.get(`/api/v1/runs/${run}/trace`)).status).toBe(404);
    expect((await fetch(fileUrl)).status).toBe(404);
    const { data } = await ann.graphql(
      `query ($id: ID!) { chats(first: 100, archive: WITH) { nodes { id } } search(query: "Rome") { title } chatTags { name } feedback { nodes { chatId } }
        agent(id: "${agent.id}") { feedback { up } } node(id: $id) { id } }`,
      { id },
    );
    expect(data.chats.nodes).not.toContainEqual({ id });
    expect(data).toMatchObject({ search: [], chatTags: [], feedback: { nodes: [] }, node: null });
    expect((await bin())[0]).toMatchObject({ chatId: id, name: 'Rome', expiresAt: expect.any(String) });
    expect(await idsInBin(admin)).toEqual([]);
    await deleteForEver([id]);
  });

  it('comes back with messages, branches, files, tags, pin and opinions', async () => {
    const { id, fileUrl } = await newChat();
    const before = (await ann.get(`/api/v1/chats/${id}`)).body;
    await ann.delete(`/api/v1/chats/${id}`);
    expect((await restore([id])).body).toEqual({ results: [{ chatId: id, error: null }] });
    expect((await ann.get(`/api/v1/chats/${id}`)).body).toEqual(before);
    expect((await ann.get(`/api/v1/chats/${id}/place`)).body.tags).toEqual(['travel']);
    expect(await (await fetch(fileUrl)).text()).toBe('note of Rome');
    expect(await idsInBin()).toEqual([]);
    const { data } = await ann.graphql('query { feedback { nodes { chatId } } }');
    expect(data.feedback.nodes).toEqual([{ chatId: id }]);
    expect((await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'And now?' })).status).toBe(200);
    const again = await ann.post(`/api/v1/chats/${id}/messages/${before.messages[1].id}/regenerate`, {});
    expect(again.status, JSON.stringify(again.body)).toBe(200);
  });

  it('has no runs while it is in the bin, and gets them back with their steps, costs, tags and events', async () => {
    upstream.next({ status: 400 });
    const { id } = await make.chat({ owner: ann, agentId: agent.id });
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'This fails' });
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'This works' });
    const read = async () => {
      const { data } = await ann.graphql(
        `query ($id: ID!) { chat(id: $id) { messages(first: 10) { nodes { content error { code } run { id status cost tags error { code }
          usage { inputTokens outputTokens } steps { __typename } } } } }
          runs(first: 100) { nodes { id status tags } } runStatistics(by: AGENT) { total { runCount inputTokens ratedUpCount } } }`,
        { id },
      );
      return data;
    };
    const trace = async (runId: string) => (await ann.get(`/api/v1/runs/${runId}/trace`)).body;
    const answers = (await read()).chat.messages.nodes;
    const [failedId, answeredId]: readonly string[] = [
      ...new Set<string>(answers.map(({ run }: { run: { id: string } }) => run.id)),
    ];
    await ann.graphql('mutation ($id: ID!) { setRunTags(id: $id, tags: ["good"]) { id } }', { id: answeredId });
    const before = await read();
    const traceBefore = await trace(answeredId ?? '');
    expect(before.runs.nodes).toMatchObject([
      { id: answeredId, status: 'COMPLETED', tags: ['good'] },
      { id: failedId, status: 'FAILED' },
    ]);
    await ann.delete(`/api/v1/chats/${id}`);
    expect(await read()).toMatchObject({ runs: { nodes: [] }, runStatistics: { total: { runCount: 0 } } });
    await sweep();
    await restore([id]);
    expect(await read()).toEqual(before);
    expect(await trace(answeredId ?? '')).toEqual(traceBefore);
    expect((await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'And now?' })).status).toBe(200);
  });

  it('brings stored responses back, so that one goes on from the last', async () => {
    const conversation = (await ann.post('/api/v1/conversations', {})).body.id;
    const ask = (body: object) => ann.post('/api/v2/responses', { model: agent.id, ...body });
    const first = (await ask({ input: 'Hello', conversation })).body;
    const pathOf = (path: string) => `/api/v2/responses/${first.id}${path}`;
    const before = (await ann.get(pathOf(''))).body;
    const items = (await ann.get(pathOf('/input_items'))).body;
    expect(before.status).toBe('completed');
    await ann.delete(`/api/v1/conversations/${conversation}`);
    expect((await ann.get(pathOf(''))).status).toBe(404);
    const [{ chatId } = { chatId: '' }] = await bin();
    await restore([chatId]);
    expect((await ann.get(pathOf(''))).body).toEqual(before);
    expect((await ann.get(pathOf('/input_items'))).body).toEqual(items);
    expect((await ask({ input: 'And now?', previous_response_id: first.id })).status).toBe(200);
  });

  it('has no older runs and events than the organization keeps', async () => {
    const own = await make.organization();
    const owner = await make.person({ organization: own, role: 'ADMIN' });
    const ownAgent = await make.agent({ owner });
    const { id } = await make.chat({ owner, agentId: ownAgent.id });
    const runIds: string[] = [];
    for (const prompt of ['One', 'Two']) {
      await owner.post(`/api/v1/chats/${id}/messages`, { prompt });
      runIds.push((await owner.get(`/api/v1/chats/${id}`)).body.messages.at(-1).runId);
    }
    await owner.delete(`/api/v1/chats/${id}`);
    const age = (runId: string | undefined, days: number) =>
      pool.query('update binned_runs set "endedAt" = $2 where "runId" = $1', [runId, daysAgo(days)]);
    await age(runIds[0], 9);
    await age(runIds[1], 4);
    await owner.graphql('mutation { updateDataRetention(input: { runDays: 7, eventDays: 3 }) { runs { days } } }');
    await sweep();
    await restore([id], owner);
    expect((await owner.get(`/api/v1/runs/${runIds[0]}`)).status).toBe(404);
    expect((await owner.get(`/api/v1/runs/${runIds[1]}`)).body).toMatchObject({ status: 'completed' });
    expect((await owner.get(`/api/v1/runs/${runIds[1]}/trace`)).status).toBe(404);
    const { rows } = await pool.query('select 1 from run_event_batches where "runId" = any($1)', [runIds]);
    expect(rows).toEqual([]);
    expect((await owner.get(`/api/v1/chats/${id}`)).body.messages).toHaveLength(4);
  });

  it('is counted with its agent again once it is restored', async () => {
    const own = await make.agent({ owner: ann });
    const { id } = await make.chat({ owner: ann, agentId: own.id });
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'Hello' });
    const isCounted = (count: number) =>
      eventually(async () => expect((await ann.get(`/api/v1/ais/${own.id}`)).body.messageCount).toBe(count));
    await isCounted(2);
    await ann.delete(`/api/v1/chats/${id}`);
    await isCounted(0);
    await restore([id]);
    await isCounted(2);
    await ann.delete(`/api/v1/chats/${id}`);
    await deleteForEver([id]);
    await isCounted(0);
  });

  it('has its run stopped', async () => {
    upstream.next({ hangAtByte: 150 });
    const { id } = await make.chat({ owner: ann, agentId: agent.id });
    const sending = ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'Wait' });
    await eventually(async () => expect((await ann.get(`/api/v1/chats/${id}`)).body.activeRunId).not.toBeNull());
    await ann.delete(`/api/v1/chats/${id}`);
    expect((await sending).status).toBeGreaterThanOrEqual(400);
    await restore([id]);
    const { messages, activeRunId } = (await ann.get(`/api/v1/chats/${id}`)).body;
    expect(activeRunId).toBeNull();
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user']);
    expect((await ann.post(`/api/v1/chats/${id}/messages`, { prompt: 'Go on' })).status).toBe(200);
  });
});

describe('the bin', () => {
  it('is one person’s own', async () => {
    const { id } = await newChat();
    await ann.delete(`/api/v1/chats/${id}`);
    for (const act of [restore, deleteForEver]) {
      expect((await act([id], admin)).body.results).toEqual([
        { chatId: id, error: { code: 'NOT_FOUND', message: 'There is no such chat in the bin' } },
      ]);
    }
    expect(await idsInBin()).toEqual([id]);
    await deleteForEver([id]);
  });

  it('is emptied for ever: rows and bytes go, and the audit log says so', async () => {
    const { id } = await newChat();
    await ann.delete(`/api/v1/chats/${id}`);
    expect(await countOf('messages', id)).toBe(2);
    expect(await countOf('binned_runs', id)).toBe(1);
    expect((await deleteForEver([id])).body).toEqual({ results: [{ chatId: id, error: null }] });
    expect(await countOf('messages', id)).toBe(0);
    expect(await countOf('binned_runs', id)).toBe(0);
    const { rows } = await pool.query('select "blobKey", "deletedAt" from chat_files where "chatId" = $1', [id]);
    expect(rows).toEqual([{ blobKey: null, deletedAt: expect.any(Date) }]);
    expect((await restore([id])).body.results[0].error.code).toBe('NOT_FOUND');
    const { data } = await admin.graphql(
      'query { auditLog(filter: { action: "deleteBinnedChats" }, first: 1) { nodes { targetIds } } }',
    );
    expect(data.auditLog.nodes[0].targetIds).toContain(id);
  });

  it('is emptied by the sweep after 30 days, or when the retention of chats ends before', async () => {
    const [young, old, kept] = [await newChat(), await newChat(), await newChat()];
    for (const { id } of [young, old, kept]) await ann.delete(`/api/v1/chats/${id}`);
    await binnedSince(young.id, 29);
    await binnedSince(old.id, 31);
    await sweep();
    expect(await idsInBin()).toEqual([kept.id, young.id]);
    expect(await countOf('messages', old.id)).toBe(0);
    const retain = (chatDays: number | null) =>
      admin.graphql('mutation ($d: Int) { updateDataRetention(input: { chatDays: $d }) { chats { days } } }', { d: chatDays });
    await retain(7);
    const [first, second] = await bin();
    expect(new Date(first?.expiresAt ?? 0).getTime() - Date.now()).toBeLessThan(7 * 86_400_000);
    expect(new Date(second?.expiresAt ?? 0).getTime()).toBeLessThan(Date.now());
    await sweep();
    expect(await idsInBin()).toEqual([kept.id]);
    await retain(null);
    await deleteForEver([kept.id]);
  });

  it('is kept by a legal hold', async () => {
    const [before, during] = [await newChat(), await newChat()];
    await ann.delete(`/api/v1/chats/${before.id}`);
    await binnedSince(before.id, 40);
    const hold = await admin.graphql('mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }', {
      input: { userId: ann.userId, reason: 'A claim' },
    });
    const refused = await ann.delete(`/api/v1/chats/${during.id}`);
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('A legal hold keeps this') } },
    });
    expect((await deleteForEver([before.id])).body.results[0].error.code).toBe('CONFLICT');
    await sweep();
    expect(await countOf('messages', before.id)).toBe(2);
    await admin.graphql('mutation ($id: ID!) { endLegalHold(id: $id) { id } }', { id: hold.data.setLegalHold.id });
    await sweep();
    expect(await countOf('messages', before.id)).toBe(0);
  });

  it('is not in exports, and is emptied at once when the person is erased', async () => {
    const bob = await make.person({ organization });
    const { id } = await newChat(bob, 'Hidden trip');
    await bob.delete(`/api/v1/chats/${id}`);
    const { data } = await bob.graphql('mutation { exportPersonData(input: {}) { id } }');
    await eventually(async () => {
      const read = await bob.graphql('query { dataExports { nodes { id status counts { table count } } } }');
      const made = read.data.dataExports.nodes.find(({ id: exportId }: { id: string }) => exportId === data.exportPersonData.id);
      expect(made.status).toBe('READY');
      const counts = Object.fromEntries(made.counts.map(({ table, count }: { table: string; count: number }) => [table, count]));
      for (const table of ['chats', 'messages', 'chat_files', 'message_feedback', 'runs'])
        expect(counts[table] ?? 0, table).toBe(0);
    });
    const input = { userId: bob.userId, transferToUserId: admin.userId };
    const erasing = await admin.graphql('mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }', { input });
    expect(erasing.errors).toBeUndefined();
    await eventually(async () => expect(await countOf('messages', id)).toBe(0));
    await eventually(async () => expect((await pool.query('select 1 from chats where id = $1', [id])).rowCount).toBe(0));
  });
});
