import { afterEach, beforeEach, expect, it } from 'vitest';
import yauzl from 'yauzl';
import { scopes } from '../../../../src/entities/people/caller.ts';
import { TestClient } from '../../../support/client.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';

/** A process that is killed while it exports or erases: the next one finishes, with everything or with nothing left. */
let world: Killable;
beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

const marker = 'Quokka4711';
const chatCount = 25;
const attachment = Buffer.alloc(3 * 1024 * 1024, `${marker} `);

/** Bob, whose key may do what a member may, with chats and attachments. */
async function bobWithChats(ann: TestClient): Promise<{ readonly userId: string }> {
  const agent = await world.agentWithTool(ann, 'openai/test-model');
  expect((await ann.patch(`/api/v1/ais/${agent}`, { visibility: 'ORGANIZATION' })).status).toBe(200);
  world.upstream.otherwise({ text: `${marker} answer` });
  const user = await ann.post('/api/v1/admin/users', { email: `${marker}@example.com`.toLowerCase(), name: `${marker} Bob` });
  expect(user.status, JSON.stringify(user.body)).toBe(200);
  const userId: string = user.body.id;
  const mine = scopes.filter((scope) => !scope.startsWith('ADMIN:'));
  const key = await ann.graphql('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
    input: { name: 'Bob', userId, scopes: mine.map((scope) => scope.replace(':', '_')) },
  });
  expect(key.errors).toBeUndefined();
  const bob = new TestClient(() => ann.url, key.data.createApiKey.secret);
  for (let index = 0; index < chatCount; index += 1) {
    const chat = await bob.post(`/api/v1/ais/${agent}/chats`, { name: `${marker} ${index}` });
    expect(chat.status, JSON.stringify(chat.body)).toBe(200);
    expect((await bob.post(`/api/v1/chats/${chat.body.id}/messages`, { prompt: `${marker} prompt` })).status).toBe(200);
    if (index % 3 > 0) continue;
    const form = new FormData();
    form.append('file', new Blob([attachment], { type: 'text/plain' }), `${marker}-${index}.txt`);
    expect((await bob.post(`/api/v1/chats/${chat.body.id}/files`, form)).status).toBe(200);
  }
  return { userId };
}

/** The files of the ZIP of an export that is ready. */
async function exported(ann: TestClient, id: string): Promise<ReadonlyMap<string, Buffer>> {
  const { url } = await eventually(async () => {
    const { data } = await ann.graphql('query ($id: ID!) { node(id: $id) { ... on DataExport { status url } } }', { id });
    expect(data.node.status).toBe('READY');
    return data.node;
  }, 120_000);
  const zip = await yauzl.fromBufferPromise(Buffer.from(await (await fetch(url)).arrayBuffer()), {});
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    expect(files.has(entry.fileName)).toBe(false);
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    files.set(entry.fileName, Buffer.concat(chunks));
  }
  return files;
}
const begin = async (ann: TestClient): Promise<string> =>
  (await ann.graphql('mutation { exportOrganizationData { id } }')).data.exportOrganizationData.id;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('kills in the middle of exports leave whole files in the end', { timeout: 600_000 }, async () => {
  const ids: string[] = [];
  for (const [round, ms] of [0, 60, 250].entries()) {
    const { parley, ann } = await world.launch();
    if (round === 0) await bobWithChats(ann);
    ids.push(await begin(ann));
    await pause(ms);
    await parley.kill('SIGKILL');
  }
  const ann = await world.recover();
  for (const id of ids) {
    const files = await exported(ann, id);
    const chats = (files.get('chats.ndjson')?.toString() ?? '').trim().split('\n');
    expect(new Set(chats.map((line) => JSON.parse(line).id)).size).toBe(chatCount);
    const attachments = [...files].filter(([path]) => path.startsWith('attachments/'));
    expect(attachments.filter(([, bytes]) => bytes.equals(attachment))).toHaveLength(Math.ceil(chatCount / 3));
  }
});

it('kills in the middle of an erasure leave nothing of the person in the end', { timeout: 600_000 }, async () => {
  const first = await world.launch();
  const { userId } = await bobWithChats(first.ann);
  const erase = 'mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }';
  const { id } = (await first.ann.graphql(erase, { input: { userId } })).data.erasePerson;
  const status = async (ann: TestClient) => {
    const { data } = await ann.graphql(
      'query ($id: ID!) { node(id: $id) { ... on Erasure { status report { table action count } } } }',
      { id },
    );
    return data.node;
  };
  let { parley, ann } = first;
  for (const ms of [0, 40, 150]) {
    await eventually(async () => expect((await status(ann)).status).not.toBe('PENDING'), 60_000);
    await pause(ms);
    await parley.kill('SIGKILL');
    ({ parley, ann } = await world.launch());
  }
  await parley.kill('SIGKILL');
  const last = await world.recover();
  const { report } = await eventually(async () => {
    const found = await status(last);
    expect(found.status).toBe('DONE');
    return found;
  }, 120_000);
  expect(report).toContainEqual(expect.objectContaining({ table: 'chats', action: 'ERASED' }));
  const files = await exported(last, await begin(last));
  const withMarker = [...files].filter(([, bytes]) => bytes.toString('latin1').toLowerCase().includes(marker.toLowerCase()));
  expect(withMarker.map(([path]) => path)).toEqual([]);
});
