import { beforeAll, describe, expect, it } from 'vitest';
import { deletingOperations } from '../../../src/domain/access/kept-by-hold.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';
import { type Answer, callsOf } from './calls.ts';
import { table } from './table.ts';
import { type Setting, World, worldEnv } from './world.ts';

// A legal hold is told to who may delete the thing, and to nobody else. Operations come from the list of those that a hold refuses, arguments from the
// authorization table.

const nameOf = (operation: string) => operation.slice('Mutation.'.length);
const calls = callsOf(buildSchema(), allRoutes).filter(({ operation }) => deletingOperations.has(nameOf(operation)));
/** They delete what has no owner in the organization, or what is the caller's own. */
const withoutOwner = new Set(['deleteOrganization', 'deleteUser', 'deleteMemories']);

const { service } = await withService('web', { env: worldEnv });
let setting: Setting;
let colleague: Person;

beforeAll(async () => {
  const world = await World.create(service);
  setting = await world.setting('PRIVATE');
  colleague = await world.make.person({ organization: world.home });
});

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

describe('a thing that a legal hold keeps', () => {
  it.each(calls.map((call) => [call.title, call] as const))('%s', async (title, call) => {
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
