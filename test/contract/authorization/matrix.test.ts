import { describe, expect, it } from 'vitest';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { scopes } from '../../../src/entities/people/caller.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { createApis } from '../../../src/start/app.ts';
import type { TestClient } from '../../support/client.ts';
import type { Person } from '../../support/make.ts';
import { inTurn, sampledOperations } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { type Answer, callsOf, operationsOf } from './calls.ts';
import { isStanding, isWrite, type Outcome, outcomeOf, type Principal, principals, visibilitiesOf } from './relations.ts';
import { type Line, table } from './table.ts';
import { type Setting, World, worldEnv } from './world.ts';

// Every operation, on both faces, for everybody, at every visibility: what table.ts promises. Nothing here names an operation.
// Who may not is refused at every visibility of a root field (fields and visibilities take turns, but with PROPERTY_RUNS=all); who may is let in at the
// strictest, since each call that works and changes something needs things of its own. A row of REST runs the root field: there, people take turns, and with PROPERTY_RUNS=all everybody gets each answer that is promised to them.

const { schema } = createApis();
const calls = callsOf(schema, allRoutes);

const { service } = await withService('web', { env: worldEnv });
/** The owner's keys, each without one scope. */
const poorKeys = new Map<string, Person>();

const world = await World.create(service);
const people = await world.people();
for (const missing of scopes) {
  poorKeys.set(missing, await world.make.withKey(world.owner, { scopes: scopes.filter((scope) => scope !== missing) }));
}
const settings = await world.settings();

function clientOf(who: Principal, operation: string): TestClient {
  if (who === 'nobody') return service.nobody;
  if (who !== 'keyWithoutScope') return people[who];
  return poorKeys.get(operationScopes[operation] ?? '') ?? people.owner;
}

describe('the table', () => {
  it('has one line for every operation', () => {
    const lines = Object.keys(table).filter((name) => !name.includes('/'));
    // Some only rows of REST run.
    const operations = new Set([...operationsOf(schema).map(({ name }) => name), ...calls.map(({ operation }) => operation)]);
    expect(lines.toSorted()).toEqual([...operations].toSorted());
  });
  it('names only routes that exist', () => {
    const titles = calls.flatMap(({ title, operation }) => [title, operation]);
    expect(Object.keys(table).filter((name) => !titles.includes(name))).toEqual([]);
  });
});

describe('what everybody gets is what the table says', () => {
  it.each(sampledOperations(calls.map((call, turn) => [call.title, call, turn] as const)))(
    '%s',
    async (title, { operation, takesTicket, isRoot, call }, turn) => {
      const line = table[title] ?? table[operation];
      if (line === undefined) throw new Error(`${operation} has no line in test/contract/authorization/table.ts`);
      const wrong: string[] = [];
      const tried = new Set<string>();
      const again = inTurn(visibilitiesOf(line.needs), turn);
      for (const visibility of visibilitiesOf(line.needs)) {
        const promised = casesOf(line, operation, visibility, takesTicket);
        const cases = (isRoot ? promised : inTurn(promised, turn)).filter(({ who, outcome }) => {
          const isKnown = tried.has(`${who} ${outcome}`);
          tried.add(`${who} ${outcome}`);
          return !isKnown || (isRoot && isStanding(who) && outcome !== 'allowed' && again.includes(visibility));
        });
        if (cases.length === 0) continue;
        const shared = await line.given(settings[visibility]);
        await forEach(cases, async ({ who, outcome }) => {
          const given = outcome === 'allowed' && isWrite(operation) ? await line.given(settings[visibility]) : shared;
          const answer = await call(clientOf(who, operation), given);
          if (!isAs(answer, outcome, line)) wrong.push(`${who}, ${visibility}: ${outcome} promised, got ${shown(answer)}`);
        });
      }
      expect(wrong).toEqual([]);
    },
  );
});

/** The refused callers come first, because the allowed calls may use things up. */
function casesOf(line: Line, operation: string, visibility: Setting['visibility'], takesTicket: boolean) {
  const needsScope = operationScopes[operation] !== null;
  const cases = principals.map((who) => {
    const outcome = outcomeOf(line.needs, who, visibility, needsScope, isWrite(operation));
    return { who, outcome: who === 'nobody' && takesTicket ? ('allowed' as const) : outcome };
  });
  return cases.toSorted((a, b) => Number(a.outcome === 'allowed') - Number(b.outcome === 'allowed'));
}

function isAs({ status }: Answer, outcome: Outcome, { reaches }: Line): boolean {
  if (outcome !== 'allowed') return status === outcome;
  return reaches === undefined ? status < 300 : status === reaches;
}
function shown({ status, code, message }: Answer): string {
  return `${status} ${code} ${message}`.trim();
}

/** Runs a few at a time: the service is one process, and so is the test. */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}
