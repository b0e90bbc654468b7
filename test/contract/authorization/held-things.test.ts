import { describe, expect, it } from 'vitest';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { createApis } from '../../../src/start/app.ts';
import { sampledOperations } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { type Answer, callsOf } from './calls.ts';
import { table } from './table.ts';
import { World, worldEnv } from './world.ts';

// A legal hold is told to who may delete the thing, and to nobody else. Arguments come from the authorization table. Which rows a hold keeps from every
// statement is tested in test/api/operations/data-life/holds.test.ts.

/** Mutations that delete what people said, gave or made. */
const deletingOperations: ReadonlySet<string> = new Set([
  'bulkDeleteDataSources',
  'deleteAgent',
  'deleteAgentSecret',
  'deleteAgentTool',
  'deleteChat',
  'deleteChatFile',
  'deleteConversation',
  'deleteConversationItem',
  'deleteDataSource',
  'deleteFile',
  'deleteFlow',
  'deleteMemories',
  'deleteMemory',
  'deleteOrganization',
  'deleteProject',
  'deletePrompt',
  'deleteDataset',
  'deleteResponse',
  'deleteSchedule',
  'deleteSkill',
  'deleteUser',
  'deleteUserInput',
  'deleteVectorStore',
  'detachVectorStoreFile',
  'resetChat',
]);
/** Mutations with such a name that take away rights, labels or copies, and nothing that anybody said or made. */
const deletingNoContent: ReadonlySet<string> = new Set([
  'deleteAgentCategory',
  // Each chat has its own result: test/api/conversations/chats/bin.test.ts.
  'deleteBinnedChats',
  // A number.
  'deleteBudget',
  // It asks for what others keep, and has nothing of them.
  'deleteSavedDocument',
  'deleteAgentGrants',
  // What the service is called elsewhere.
  'deleteMcpOauthClient',
  'deleteConnection',
  'deleteDataExport',
  'deleteGroup',
  'deleteMembership',
  'deletePasskey',
  'deleteTenant',
  // Revisions before keep them.
  'removeDatasetCases',
  // It says what a draft must pass.
  'removeAgentGate',
  // A name for a list.
  'deleteRunFilter',
  // Its deliveries name ids and states, for 30 days at most.
  'deleteWebhook',
  // The source is kept.
  'detachDataSource',
  // It asks for holds before it begins, and before each of its steps: test/api/operations/data-life/erasure.test.ts.
  'erasePerson',
]);

const nameOf = (operation: string) => operation.slice('Mutation.'.length);
const calls = callsOf(createApis().schema, allRoutes).filter(({ operation }) => deletingOperations.has(nameOf(operation)));
/** They delete what has no owner in the organization, or what is the caller's own; the chat that is reset has nothing in it. */
const withoutOwner = new Set(['deleteOrganization', 'deleteUser', 'deleteMemories', 'resetChat']);

const { service } = await withService('web', { env: worldEnv });

const world = await World.create(service);
const setting = await world.setting('PRIVATE');
const colleague = await world.make.person({ organization: world.home });

/** Holds what the owner has while `work` runs. */
async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  const { admin, owner } = setting.world;
  const document = 'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }';
  const { data } = await admin.graphql(document, { input: { userId: owner.userId, reason: 'A claim' } });
  try {
    return await work();
  } finally {
    await admin.graphql('mutation ($id: ID!) { endLegalHold(id: $id) { id } }', { id: data.setLegalHold.id });
  }
}
const said = ({ status, code, message, param }: Answer) => ({ status, code, message, param });

it('names every mutation that deletes: a new one is put on one of two lists', () => {
  const names = Object.keys(operationScopes).flatMap((name) => (name.startsWith('Mutation.') ? [nameOf(name)] : []));
  const deleting = names.filter((name) => /^(?:bulkDelete|delete|detach|remove|reset|clear|erase)/.test(name));
  expect(deleting.toSorted()).toEqual([...deletingOperations, ...deletingNoContent].toSorted());
});

describe('a thing that a legal hold keeps', () => {
  it.each(sampledOperations(calls.map((call) => [call.title, call] as const)))('%s', async (title, call) => {
    const line = table[title] ?? table[call.operation];
    if (line === undefined) throw new Error(`${title} has no line`);
    const { world } = setting;
    const given = await line.given(setting);
    const before = await call.call(colleague, given);
    const during = await whileHeld(async () => {
      const answers = [await call.call(colleague, given)];
      if (!withoutOwner.has(nameOf(call.operation))) answers.push(await call.call(world.owner, given));
      return answers;
    });
    const [toColleague, toOwner] = during;
    expect(toColleague === undefined ? undefined : said(toColleague)).toEqual(said(before));
    if (toOwner === undefined) return;
    expect(before.status).toBeGreaterThanOrEqual(400);
    expect(said(toOwner)).toMatchObject({ status: 409, message: expect.stringContaining('A legal hold keeps this') });
    // It is whole: nothing of the refused deletion was stored.
    expect((await call.call(world.owner, given)).status).toBeLessThan(300);
  });
});
