import { beforeAll, describe, expect, it } from 'vitest';
import { sweepOldData } from '../../../src/domain/data-life/sweep.ts';
import { eventually } from '../../support/eventually.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService('plain', { env: { RUN_EVENTS_RETENTION_DAYS: '7' } });
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person();
  agentId = (await make.agent({ owner: ann })).id;
});

async function answered() {
  const chat = await ann.post(`/api/v1/ais/${agentId}/chats`);
  const { body } = await ann.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt: 'What is it?' });
  return { chatId: chat.body.id as string, runId: body.runId as string, content: body.message.content as string };
}
const eventsPath = ({ chatId, runId }: { chatId: string; runId: string }) => `/api/v1/chats/${chatId}/runs/${runId}/events`;
const followed = (run: { chatId: string; runId: string }) => ann.get(eventsPath(run), { accept: 'text/event-stream' });

async function age(runId: string, days: number): Promise<void> {
  const { pool } = service.deps.storage.db;
  const past = `now() - interval '${days} days'`;
  await pool.query(`update runs set "createdAt" = ${past}, "endedAt" = ${past} where id = $1`, [runId]);
  await pool.query(`update run_event_batches set "createdAt" = ${past} where "runId" = $1`, [runId]);
}

describe('events of runs', () => {
  it('are deleted once the run is over for as long as they are kept; the transcript stays, and the chat goes on', async () => {
    const [old, young] = [await answered(), await answered()];
    expect((await followed(old)).status).toBe(200);
    await age(old.runId, 8);
    await age(young.runId, 6);
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
    const run = await answered();
    await age(run.runId, 30);
    const { pool } = service.deps.storage.db;
    await pool.query(`update runs set status = 'in_progress', "isWaiting" = true, "endedAt" = null where id = $1`, [run.runId]);
    await sweepOldData(service.deps, AbortSignal.timeout(60_000));
    expect(await service.deps.storage.runEvents.has(run.runId)).toBe(true);
  });
});
