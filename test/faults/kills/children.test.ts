import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { findBox } from '../../../src/engine/tools/code/box/box.ts';
import type { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../support/processes/killable.ts';
import { killProcesses } from '../../support/processes/process.ts';
import { processesBelow, stillRunning } from '../../support/processes/process-table.ts';

let place: Killable;
beforeAll(async () => {
  place = await prepareKillable();
});
afterEach(killProcesses);
afterAll(() => place.close());

const box = await findBox();

/** Indexes a document, so that a process that reads documents exists. */
async function readDocument(ann: TestClient): Promise<void> {
  const content = Buffer.from('# Hours\n\nThe workshop is open from nine to five.\n').toString('base64');
  const item = { name: 'a.md', uniqueId: 'a', blobUrl: `data:text/markdown;base64,${content}`, filename: 'a.md' };
  const agent = { name: 'A', description: 'd', instructions: 'i', src: '' };
  const dataSources = [{ name: 'S', type: 'FILE_UPLOAD', data: {}, knowledgeItems: [{ ...item, mimeType: 'text/markdown' }] }];
  const reply = await ann.post('/api/v1/ais/import', { bundle: { version: '1.0', agent, dataSources } });
  await eventually(async () => {
    const { body } = await ann.get(`/api/v1/ais/${reply.body.aiId}/data-sources`);
    expect(body.data[0]).toMatchObject({ indexStatus: 'INDEXED' });
  }, 30_000);
}

it('a service that is killed leaves no reader of documents behind, not one that is stuck', async () => {
  const { parley, ann } = await place.launch();
  await readDocument(ann);
  const readers = processesBelow(parley.pid);
  expect(readers.length).toBeGreaterThan(0);
  // The process that used the processor is the reader; it hangs for ever from now on.
  const [reader] = [...readers].sort((one, other) => other.cpuSeconds - one.cpuSeconds);
  if (reader === undefined) throw new Error('no process reads');
  process.kill(reader.id, 'SIGSTOP');
  await parley.kill('SIGKILL');
  await eventually(() => expect(stillRunning(readers)).toEqual([]), 10_000);
});

it.runIf(box !== undefined)('a service that is killed leaves no program of a model behind, not one that never ends', async () => {
  const { parley, ann } = await place.launch({ PYTHON_TIMEOUT_MS: '600000' });
  // A busy machine may fail to try its sandboxes in time and answer with an error: the model then calls again.
  const call = { toolCalls: [{ id: 'call_1', name: 'python', arguments: JSON.stringify({ code: 'while True: pass' }) }] };
  place.upstream.next(...Array.from({ length: 8 }, () => call));
  const run = { model: 'openai/test-model', input: 'Hi', tools: [{ type: 'python' }], background: true };
  expect((await ann.post('/api/v2/responses', run)).status).toBe(200);
  // The sandbox is tried before, which takes less time than this.
  const programs = await eventually(() => {
    const below = processesBelow(parley.pid);
    expect(Math.max(0, ...below.map(({ cpuSeconds }) => cpuSeconds))).toBeGreaterThan(3);
    return below;
  }, 110_000);
  await parley.kill('SIGKILL');
  await eventually(() => expect(stillRunning(programs)).toEqual([]), 10_000);
});

it('a service that is asked to end leaves none either', async () => {
  const { parley, ann } = await place.launch();
  await readDocument(ann);
  const readers = processesBelow(parley.pid);
  expect(readers.length).toBeGreaterThan(0);
  expect(await parley.kill('SIGTERM')).toBe(0);
  await eventually(() => expect(stillRunning(readers)).toEqual([]), 10_000);
});
