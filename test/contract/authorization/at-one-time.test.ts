import { describe, expect, it } from 'vitest';
import { createApis } from '../../../src/start/app.ts';
import type { Person } from '../../support/make.ts';
import { sampled } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { callsOf } from './calls.ts';
import { outcomeOf, type Principal } from './relations.ts';
import { type Line, table } from './table.ts';
import { World, worldEnv } from './world.ts';

// Every mutation that ends something, also a future one: of callers at one time, one has ended it. The others are told that it is gone, so that nothing is
// told, audited or given back twice.

const { service } = await withService('web', { env: worldEnv });
const ends = callsOf(createApis().schema, []).filter(({ operation }) =>
  /^Mutation\.(?:delete|revoke|end|cancel|remove)[A-Z]/.test(operation),
);

/** So many that several have looked before the first one writes. */
const callers = 5;
/** What may be asked for again, because it names no one thing, or says how something has to be in the end. */
const repeatable: ReadonlySet<string> = new Set([
  ...['cancelDataSource', 'cancelResponse', 'cancelRun', 'cancelVectorStoreFileBatch', 'revokeChatShare'],
  ...['deleteAgentGrants', 'deleteBinnedChats', 'deleteMemories', 'endOtherSessions'],
]);

const world = await World.create(service);
const setting = await world.setting('PRIVATE');
const people = await world.people();

describe('of calls at one time', () => {
  it.each(sampled(ends).map((call) => [call.operation.slice('Mutation.'.length), call] as const))(
    'one of %s does it',
    async (name, call) => {
      const line = table[call.operation];
      if (line === undefined) throw new Error(`${call.operation} has no line`);
      const given = await line.given(setting);
      const who = allowed(line);
      const answers = await Promise.all(Array.from({ length: callers }, () => call.call(who, given)));
      const [first, ...others] = answers.map(({ status }) => status).sort();
      expect(first).toBe(line.reaches ?? 200);
      const isRefused = (status: number) => status === 404 || status === 409;
      expect(others.filter((status) => (repeatable.has(name) ? status !== 200 : !isRefused(status)))).toEqual([]);
    },
  );
});

/** Mutations that change a thing, each with the one that deletes it. */
const changes = callsOf(createApis().schema, []).flatMap((change) => {
  const noun = /^Mutation\.(?:update|rename|edit)([A-Z]\w*)$/.exec(change.operation)?.[1];
  const end = ends.find(({ operation }) => operation === `Mutation.delete${noun}`);
  return end === undefined ? [] : [[change.operation.slice('Mutation.'.length), change, end] as const];
});

describe('a change while its thing is deleted', () => {
  it.each(sampled(changes))('%s is made or finds nothing, and never fails', async (_name, change, end) => {
    const [line, endLine] = [table[change.operation], table[end.operation]];
    if (line === undefined || endLine === undefined) throw new Error(`${change.operation} has no line`);
    const members = await line.given(setting);
    for (let round = 0; round < 3; round += 1) {
      // Of a thing of its own.
      const given = { ...members, ...(await endLine.given(setting)) };
      const who = allowed(line);
      const answers = await Promise.all([
        change.call(who, given),
        change.call(who, given),
        end.call(who, given),
        change.call(who, given),
      ]);
      expect(answers.filter(({ status }) => ![200, 403, 404, 409].includes(status))).toEqual([]);
    }
  });

  it('is tried for all kinds of things', () => expect(changes.length).toBeGreaterThan(15));
});

function allowed({ needs }: Line): Person {
  const candidates = ['owner', 'orgAdmin', 'instanceKey'] as const satisfies readonly Principal[];
  const who = candidates.find((name) => outcomeOf(needs, name, 'PRIVATE', true) === 'allowed');
  if (who === undefined) throw new Error('nobody may call it');
  return people[who];
}
