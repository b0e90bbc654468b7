import {
  type GraphQLArgument,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { createApis } from '../../../src/start/app.ts';
import type { TestClient } from '../../support/client.ts';
import type { Person } from '../../support/make.ts';
import { inTurn, sampledOperations } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { Probe } from '../audit/probe.ts';
import { type Answer, type Arguments, callsOf } from './calls.ts';
import { outcomeOf, type Principal } from './relations.ts';
import { type Line, table } from './table.ts';
import { World, worldEnv } from './world.ts';

// Every mutation, also a future one: one that is refused has changed nothing, and its faults name places of the document. Operations come from the
// schema, arguments that work from the authorization table; members in turn get values that cannot be right (all with PROPERTY_RUNS=all). Triggers of the database note
// every row that is written (audit/probe.ts).

const { schema } = createApis();
const mutations = callsOf(schema, []).filter(({ operation }) => operation.startsWith('Mutation.'));

const { service } = await withService('web', { env: worldEnv });

const world = await World.create(service);
const setting = await world.setting('PRIVATE');
const people = await world.people();
const probe = new Probe(service);
await probe.install();

describe('a mutation that is refused', () => {
  it.each(sampledOperations(mutations.map((call, turn) => [call.operation, call, turn] as const)))(
    '%s changes nothing, for a wrong member or a missing right',
    async (_name, call, turn) => {
      const line = table[call.operation];
      if (line === undefined) throw new Error(`${call.operation} has no line`);
      const given = await line.given(setting);
      const wrong: string[] = [];
      await probe.quiet();
      const tried = async (what: string, who: TestClient, args: Arguments) => {
        const answer = await call.call(who, args);
        if (answer.status < 400) return probe.quiet();
        const written = (await probe.take()).filter(({ kind }) => kind !== 'READ' && kind !== 'REFUSAL');
        if (written.length > 0) wrong.push(`${what}: ${answer.status} ${answer.message}, wrote ${JSON.stringify(written)}`);
        if (answer.status >= 500) wrong.push(`${what}: ${answer.status} ${answer.message}`);
        wrong.push(
          ...placesOf(answer)
            .flatMap((place) => faultOf(place, call.field.args))
            .map((text) => `${what}: ${text}`),
        );
      };
      for (const { at, args } of inTurn(wrongArguments(call.field.args, given), turn)) await tried(at, allowed(line), args);
      for (const who of ['otherTenant', 'colleague'] as const) {
        if (outcomeOf(line.needs, who, 'PRIVATE', true) !== 'allowed') await tried(who, people[who], given);
      }
      expect(wrong).toEqual([]);
    },
  );
});

function allowed({ needs }: Line): Person {
  const candidates = ['owner', 'orgAdmin', 'instanceKey'] as const satisfies readonly Principal[];
  const who = candidates.find((name) => outcomeOf(needs, name, 'PRIVATE', true) === 'allowed');
  if (who === undefined) throw new Error('nobody may call it');
  return people[who];
}

interface Place {
  readonly path: string | null;
  readonly message: string;
}
function placesOf({ body }: Answer): readonly Place[] {
  const { errors = [] } = body as { errors?: readonly { extensions: { faults: readonly Place[] } }[] };
  return errors.flatMap(({ extensions }) => extensions.faults);
}

/** What is wrong with a path; empty when the arguments have such a place, and the message begins with no other name. */
function faultOf({ path, message }: Place, args: readonly GraphQLArgument[]): readonly string[] {
  if (path === null) return [`a fault has no place: ${message}`];
  const [name, ...keys] = path.split('.');
  const argument = args.find((one) => one.name === name);
  return argument !== undefined && hasPlace(argument.type, keys) ? [] : [`there is no place ${path}: ${message}`];
}

function hasPlace(type: GraphQLInputType, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  const nullable = getNullableType(type);
  if (isListType(nullable)) return /^\d+$/.test(key) && hasPlace(nullable.ofType, rest);
  if (!isInputObjectType(nullable)) return isScalarType(nullable) && !isSpecifiedScalarType(nullable);
  const field = nullable.getFields()[key];
  return field !== undefined && hasPlace(field.type, rest);
}

interface Wrong {
  readonly at: string;
  readonly args: Arguments;
}

/** The arguments, each time with another value that cannot be right. */
function wrongArguments(args: readonly GraphQLArgument[], given: Arguments): readonly Wrong[] {
  return args.flatMap(({ name, type }) =>
    wrongValues(type, given[name], 0).map(({ at, value }) => ({ at: `${name}${at}`, args: { ...given, [name]: value } })),
  );
}

const depthMax = 4;

function wrongValues(type: GraphQLInputType, given: unknown, depth: number): readonly { at: string; value: unknown }[] {
  const nullable = getNullableType(type);
  if (depth > depthMax || given instanceof Blob) return [];
  if (isListType(nullable)) {
    const items: readonly unknown[] = Array.isArray(given) ? given : [];
    const first = wrongValues(nullable.ofType, items[0], depth + 1);
    const tooMany =
      isInputObjectType(getNullableType(nullable.ofType)) && items.length === 0 ? [] : [Array(3_000).fill(items[0] ?? 'x')];
    return [
      ...tooMany.map((value) => ({ at: ' with 3,000 items', value })),
      ...first.map(({ at, value }) => ({ at: `[0]${at}`, value: [value, ...items.slice(1)] })),
    ];
  }
  if (isInputObjectType(nullable)) {
    const members = (given ?? {}) as Arguments;
    const chosen = Object.values(nullable.getFields()).filter(({ name }) => !nullable.isOneOf || members[name] !== undefined);
    return chosen.flatMap((field) =>
      wrongValues(field.type, members[field.name], depth + 1).map(({ at, value }) => ({
        at: `.${field.name}${at}`,
        value: { ...members, [field.name]: value },
      })),
    );
  }
  if (isEnumType(nullable)) return [];
  const values = wrongScalars[nullable.name] ?? ['x'];
  return values.map((value) => ({ at: ` = ${JSON.stringify(value).slice(0, 20)}`, value }));
}

const wrongScalars: Readonly<Record<string, readonly unknown[]>> = {
  String: ['x'.repeat(500_000), ' ', 'nul \u0000'],
  ID: ['none_x'],
  Int: [-2, 2_147_483_647],
  Float: [-1e9, 1e9],
  Count: [2 ** 53 - 1],
  DateTime: ['1900-01-01T00:00:00.000Z'],
  Boolean: [],
  File: [],
  JSON: ['x', { $: 1 }],
};
