import { afterEach, beforeEach, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { claudeConversation } from '../../../support/operations/chat-exports.ts';
import { endedImport, importFile, sendImport } from '../../../support/operations/chat-imports.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';

/** A process that is killed while it brings chats: the next one goes on, and no chat is there twice, or in half. */
let world: Killable;
beforeEach(async () => {
  world = await prepareKillable();
});
afterEach(() => world.close());

const count = 400;
const chats = Array.from({ length: count }, (_, index) => claudeConversation(`c${index}`, `Chat ${index}`));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Each chat of the person: its name, and how many messages it has. */
async function allChats(who: TestClient) {
  const query = `query ($after: String) { chats(first: 50, after: $after) {
    nodes { name messages(first: 5) { nodes { id } } } pageInfo { hasNextPage endCursor } } }`;
  const found: { readonly name: string; readonly messages: { readonly nodes: readonly unknown[] } }[] = [];
  for (let after: string | null = null; ; ) {
    const { data, errors }: Awaited<ReturnType<TestClient['graphql']>> = await who.graphql(query, { after });
    expect(errors).toBeUndefined();
    found.push(...data.chats.nodes);
    if (!data.chats.pageInfo.hasNextPage) return found;
    after = data.chats.pageInfo.endCursor;
  }
}

it('kills in the middle of an import leave each chat once and whole', { timeout: 600_000 }, async () => {
  let id = '';
  let agentId = '';
  for (const [round, ms] of [0, 120, 400].entries()) {
    const { parley, ann } = await world.launch();
    if (round === 0) {
      agentId = await world.agentWithTool(ann, 'openai/test-model');
      id = (await sendImport(ann, agentId, chats)).data.importChats.id;
    }
    await pause(ms);
    await parley.kill('SIGKILL');
  }
  const ann = await world.recover();
  expect(await endedImport(ann, id)).toMatchObject({
    status: 'DONE',
    readCount: count,
    importedCount: count,
    existingCount: 0,
    messageCount: 2 * count,
  });
  const found = await allChats(ann);
  expect(new Set(found.map(({ name }) => name)).size).toBe(count);
  expect(found.filter(({ messages }) => messages.nodes.length === 2)).toHaveLength(count);
  expect(await importFile(ann, agentId, chats)).toMatchObject({ importedCount: 0, existingCount: count });
});
