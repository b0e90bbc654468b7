import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindOfId } from '../../../src/entities/ground/ids.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { createApis } from '../../../src/start/app.ts';
import type { Person } from '../../support/make.ts';
import { inTurn, propertyRuns, sampledOperations, triesAll } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { type Answer, type Arguments, type Call, callsOf } from './calls.ts';
import { type IdPosition, idPositions, withId } from './id-positions.ts';
import { table } from './table.ts';
import { World, worldEnv } from './world.ts';

// Another organization's id, in any place of any call, gets the same answer as an id that does not exist. No operation is named here.

const calls = callsOf(createApis().schema, allRoutes);

const { service } = await withService('web', { env: worldEnv });
/** Ids of everything in another organization of the tenant, and in another tenant. */

const world = await World.create(service);
const setting = await world.setting('PRIVATE');
const sister = await World.create(service, world);
const foreign = { sister: await idsOf(sister), stranger: await idsOf(await World.create(service)) };
const tenantKey = await world.make.person({ organization: world.home, level: 'TENANT' });
const people = { owner: world.owner, admin: world.admin, tenantKey };

async function idsOf(world: World): Promise<readonly string[]> {
  const { world: _world, visibility: _visibility, ...ids } = await world.setting('PRIVATE');
  const { message } = await world.awaiting(ids.agent);
  return [...Object.values(ids), message, await world.key(), world.home.id, world.home.tenantId, world.owner.userId];
}

describe('the comparison', () => {
  it('tells a visible thing from a missing one', async () => {
    const names = ['Query.agent', 'GET /api/v1/chats/{chatId}', 'Mutation.updateDataSource', 'PATCH /api/v1/groups/{groupId}'];
    for (const call of calls.filter(({ title }) => names.includes(title))) {
      const base = await lineOf(call).given(setting);
      const [position] = idPositions(call.field, base);
      const own = Object.values(base).find((value) => typeof value === 'string');
      if (position === undefined || own === undefined) throw new Error(`${call.title} has no id`);
      expect((await difference(people.owner, call, base, position, own)).fault, call.title).toBeDefined();
    }
  });
});

describe('an id of another organization looks like a missing one', () => {
  const places = new Set<string>();

  it.each(sampledOperations(calls.map((call, turn) => [call.title, call, turn] as const)))('%s', async (_title, call, turn) => {
    const { given } = lineOf(call);
    let base = await given(setting);
    const wrong: string[] = [];
    for (const position of idPositions(call.field, base)) {
      places.add(position.path.join('.'));
      const missing: MissingAnswers = new Map();
      const ids = [...foreign.stranger, ...foreign.sister].filter((candidate) => fits(position, candidate));
      for (const id of inTurn(ids, turn)) {
        // The caller's own tenant is not foreign.
        if (id === setting.world.home.tenantId) continue;
        const { fault, isUsedUp } = await difference(people.owner, call, base, position, id, missing);
        if (isUsedUp) base = await given(setting);
        if (fault !== undefined) wrong.push(fault);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.runIf(triesAll)('was tried in arguments, in inputs, in lists, and in choices', () => {
    const some = [
      'id',
      'input.groups.0',
      'input.editors.0.id',
      'input.orgCategoryIds.0',
      'input.dataSourceIds.0',
      'input.agentIds.0',
    ];
    expect([...places]).toEqual(
      expect.arrayContaining([
        ...some,
        'input.prompt',
        'input.outputs.0.toolCallId',
        'input.input',
        'input.messages.0',
        'input.items.0',
        'input.options.flow.id',
      ]),
    );
  });

  it('for every caller and every kind of id', async () => {
    const anyCall = fc.constantFrom(...calls.map(({ title }) => title));
    const anyone = fc.constantFrom('owner', 'admin', 'tenantKey');
    await fc.assert(
      fc.asyncProperty(anyCall, anyone, fc.nat(), fc.nat(), async (title, who, place, thing) => {
        const call = calls.find((candidate) => candidate.title === title);
        if (call === undefined) throw new Error(`no ${title}`);
        // It finds the refused calls that an administrator made in this test itself, with the id of somebody else.
        if (call.operation === 'Query.auditLog') return;
        const base = await lineOf(call).given(setting);
        const positions = idPositions(call.field, base);
        const position = positions[place % Math.max(1, positions.length)];
        // For a TENANT key, what it administers in its tenant is not foreign.
        const ids = who === 'tenantKey' ? foreign.stranger : [...foreign.stranger, ...foreign.sister];
        const id = ids[thing % ids.length];
        if (position === undefined || id === undefined || id === setting.world.home.tenantId) return;
        expect((await difference(people[who], call, base, position, id)).fault).toBeUndefined();
      }),
      { numRuns: propertyRuns(150) },
    );
  });
});

function lineOf({ title, operation }: Call) {
  const line = table[title] ?? table[operation];
  if (line === undefined) throw new Error(`${operation} has no line in test/contract/authorization/table.ts`);
  return line;
}

function fits({ kinds }: IdPosition, id: string): boolean {
  const kind = kindOfId(id);
  return kind !== undefined && (kinds === undefined || kinds.includes(kind));
}

/** What a missing id of each kind was answered in one place of a call. */
type MissingAnswers = Map<string, string>;

/** What tells another's id from a missing one; nothing is as it should be. Both calls may succeed where a place only narrows a list. */
async function difference(
  who: Person,
  call: Call,
  base: Arguments,
  position: IdPosition,
  id: string,
  missing: MissingAnswers = new Map(),
) {
  const kind = kindOfId(id);
  if (kind === undefined) throw new Error(`${id} is no id`);
  let isUsedUp = false;
  if (!missing.has(kind)) {
    const answer = await call.call(who, withId(base, position, service.deps.newId(kind)));
    isUsedUp = answer.status < 300;
    missing.set(kind, normal(answer));
  }
  const others = await call.call(who, withId(isUsedUp ? await lineOf(call).given(setting) : base, position, id));
  const [left, right] = [missing.get(kind), normal(others)];
  const fault = `${position.path.join('.')} = ${id}\n  missing:   ${left}\n  another's: ${right}`;
  return { isUsedUp: isUsedUp || others.status < 300, fault: left === right ? undefined : fault };
}

/** Without the members that differ between any two calls. Messages are counted later: with a batch of the ledger, or after two seconds. */
function normal({ status, code, message, param, body }: Answer): string {
  const text = JSON.stringify(status < 300 ? { status, body } : { status, code, message, param });
  return text
    .replace(/\b[a-z]{2,9}[-_][0-9a-hjkmnp-tv-z]{26}\b/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/("created[a-z_]*"|"completed_at"):\d+/g, '$1:TIME')
    .replace(/("\w+(?:_ms|Ms)"):\d+/g, '$1:DURATION')
    .replace(/([A-Za-z])_\d+\b/g, '$1_N')
    .replace(/("messageCount"):\d+/g, '$1:COUNT')
    .slice(0, 2_000);
}
