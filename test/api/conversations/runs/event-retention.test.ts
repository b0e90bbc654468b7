import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepOldData } from '../../../../src/domain/operations/data-life/sweep.ts';
import { lowerBoundOfIds } from '../../../../src/entities/ground/ids.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { ageRun } from '../../../support/runs/aged-runs.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', { env: { RUN_EVENTS_RETENTION_DAYS: '7', TASKS_FIRST_AFTER_MS: '250' } });

const organization = await make.organization();
const ann = await make.person({ organization });
const admin = await make.person({ organization, role: 'ADMIN' });
const agentId = (await make.agent({ owner: ann })).id;

// The first sweep of the installation may come at any moment: it must not take what a test makes.
beforeAll(() =>
  eventually(async () => {
    const { dataLife, storage } = service.deps;
    expect(dataLife.sweptAt ?? (await storage.tasks.endedAt('retention.sweep'))).toBeDefined();
  }),
);
beforeEach(() => service.deps.dataLife.eventsSwept.forget());

interface Answered {
  readonly chatId: string;
  readonly runId: string;
  readonly content: string;
}
/** An answer in a chat of its own, asked for some days ago. */
async function answered(days: number): Promise<Answered> {
  const chat = await ann.post(`/api/v1/ais/${agentId}/chats`);
  const { body } = await ann.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt: 'What is it?' });
  const runId = await ageRun(service.deps.storage.db.pool, body.runId, days);
  return { chatId: chat.body.id, runId, content: body.message.content };
}
const followed = ({ chatId, runId }: Answered) =>
  ann.get(`/api/v1/chats/${chatId}/runs/${runId}/events`, { accept: 'text/event-stream' });
const sweep = () => sweepOldData(service.deps, AbortSignal.timeout(60_000));
const hasEvents = (runId: string) => service.deps.storage.conversations.runEvents.has(runId);
const rowsOf = async (table: string, runId: string) =>
  (await service.deps.storage.db.pool.query(`select 1 from ${table} where "runId" = $1`, [runId])).rowCount;

/** A partition for the runs of a day that is over, as a service that ran then has made it. */
async function partitionAt(days: number): Promise<string> {
  const { pool } = service.deps.storage.db;
  const fromMs = Math.floor(Date.now() / 86_400_000 - days) * 86_400_000;
  const bounds = [fromMs, fromMs + 86_400_000].map((ms) => `'${lowerBoundOfIds('run', new Date(ms))}'`);
  const name = `run_event_batches_run_past_${days}`;
  await pool.query(`create table ${name} (like run_event_batches including all)`);
  await pool.query(`alter table run_event_batches attach partition ${name} for values from (${bounds[0]}) to (${bounds[1]})`);
  return name;
}
const partitions = async () => (await service.deps.storage.operations.eventPartitions.list()).map(({ name }) => name);

describe('events of runs', () => {
  it('are one row once the run is over, with the same numbers', async () => {
    const chat = await ann.post(`/api/v1/ais/${agentId}/chats`);
    const { body } = await ann.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt: 'What is it?' });
    expect(await rowsOf('run_event_batches', body.runId)).toBe(1);
    const log = (await service.deps.storage.conversations.runs.readEvents(body.runId, -1, 100))?.events ?? [];
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_event, index) => index));
    expect((await service.deps.storage.conversations.runs.readEvents(body.runId, 2, 100))?.events).toEqual(log.slice(3));
  });

  it('are deleted once the run is over for as long as they are kept; the transcript stays, and the chat goes on', async () => {
    const [old, young] = [await answered(8), await answered(6)];
    expect((await followed(old)).status).toBe(200);
    // The sweep runs soon after the start of a process; another sweep may be running.
    await service.restart();
    await eventually(async () => expect((await followed(old)).status).toBe(404));
    expect((await followed(old)).body.error.message).toContain('no longer kept');
    expect((await followed(young)).body).toContain('run.completed');
    const { body } = await ann.get(`/api/v1/chats/${old.chatId}`);
    expect(body.messages).toMatchObject([{ content: 'What is it?' }, { content: old.content }]);
    const next = await ann.post(`/api/v1/chats/${old.chatId}/messages`, { prompt: 'And now?' });
    expect(next.body.status).toBe('completed');
  });

  it('of a run that is not over stay, however old it is', async () => {
    const run = await answered(30);
    const { pool } = service.deps.storage.db;
    await pool.query(`update runs set status = 'in_progress', "isWaiting" = true, "endedAt" = null where id = $1`, [run.runId]);
    await sweep();
    expect(await hasEvents(run.runId)).toBe(true);
  });

  it('of a response go too: it is answered and continued as before, and its stream is gone', async () => {
    const { body: begun } = await ann.post('/api/v2/responses', { model: agentId, input: 'What is it?' });
    const id = await ageRun(service.deps.storage.db.pool, begun.id, 8);
    const path = `/api/v2/responses/${id}`;
    const before = await ann.get(path);
    expect(before).toMatchObject({ status: 200, body: { id, status: 'completed' } });
    const items = await ann.get(`${path}/input_items`);
    await sweep();
    expect([await hasEvents(id), await rowsOf('folded_responses', id)]).toEqual([false, 1]);
    expect((await ann.get(path)).body).toEqual(before.body);
    expect((await ann.get(`${path}/input_items`)).body).toEqual(items.body);
    expect(await ann.get(`${path}?stream=true`)).toMatchObject({ status: 404 });
    const next = await ann.post('/api/v2/responses', { model: agentId, input: 'And now?', previous_response_id: id });
    expect(next.body.status).toBe('completed');
    expect((await ann.delete(path)).status).toBe(200);
    expect(await rowsOf('folded_responses', id)).toBe(0);
  });
});

describe('partitions of events', () => {
  it('are there for the next days, and made once', async () => {
    await eventually(async () => expect((await partitions()).length).toBeGreaterThanOrEqual(4));
    const made = await partitions();
    const { eventPartitions } = service.deps.storage.operations;
    await eventPartitions.makeAhead(new Date(), 1);
    expect(await partitions()).toEqual(made);
    await eventPartitions.makeAhead(new Date(Date.now() + 4 * 86_400_000), 1);
    expect((await partitions()).length).toBeGreaterThan(made.length);
  });

  it('are dropped whole when all in them is old, and kept while one run must stay', async () => {
    const [young, old] = [await partitionAt(20), await partitionAt(25)];
    const [kept, gone] = [await answered(20), await answered(25)];
    const choice = 'mutation ($days: Int) { updateDataRetention(input: { eventDays: $days }) { events { days } } }';
    expect((await admin.graphql(choice, { days: 23 })).errors).toBeUndefined();
    await sweep();
    expect([await hasEvents(kept.runId), await hasEvents(gone.runId)]).toEqual([true, false]);
    expect((await partitions()).filter((name) => [young, old].includes(name))).toEqual([young]);
    expect((await admin.graphql(choice, { days: null })).errors).toBeUndefined();
    await sweep();
    expect(await hasEvents(kept.runId)).toBe(false);
    expect(await partitions()).not.toContain(young);
    expect((await ann.get(`/api/v1/chats/${kept.chatId}`)).body.messages).toHaveLength(2);
  });
});
