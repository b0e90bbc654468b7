import { type GraphQLInputType, getNamedType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { createApis } from '../../../src/start/app.ts';
import { sampledOperations } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { type Arguments, type Call, callsOf } from '../authorization/calls.ts';
import { table } from '../authorization/table.ts';
import { World, worldEnv } from '../authorization/world.ts';

// Every whole number that a call takes, on both APIs, is refused outside of its bounds with the bounds from both sides: never with those of 32 bits.

/** Places in a log: beyond its end nothing follows, and before its beginning everything does. */
const unbounded: readonly string[] = [
  'Query.response(startingAfter)',
  'Subscription.runEvents(after)',
  'Subscription.resumedResponseEvents(after)',
];
/** What the other members must be for a number to be read. */
const site = { url: 'https://example.com', refreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [] };
const samples: Readonly<Record<string, Arguments>> = {
  'AddWebUrlDataSourceInput.maxMemoryMb': site,
  'AddWebUrlDataSourceInput.maxPages': site,
  'AddWebUrlDataSourceInput.timeoutSeconds': site,
  'FlowVersionInput.steps': { version: 1 },
  'GuardPatternInput.lengthMax': { name: 'PART', pattern: '[0-9]{4}' },
  'FlowVersionInput.version': { steps: [] },
  'Mutation.createFile(expiresAfterSeconds)': { expiresAfterAnchor: 'created_at' },
};

/** Numbers of rows whose form GraphQL does not have: the members of that form. */
const membersOfRest: Readonly<Record<string, (value: number) => Arguments>> = {
  'POST /api/v1/uploads: CreateFileUploadInput.sizeBytes': (bytes) => ({ bytes }),
  'POST /api/v1/uploads: CreateFileUploadInput.expiresAfterSeconds': (seconds) => ({
    expires_after: { anchor: 'created_at', seconds },
  }),
  'POST /api/v1/vector_stores/{vectorStoreId}/search: VectorStoreSearchInput.limit': (limit) => ({ max_num_results: limit }),
};

interface Place {
  /** As `CompletionInput.maxTokens`. */
  readonly coordinate: string;
  readonly path: readonly string[];
  readonly set: (given: unknown, value: number) => unknown;
}

// Bodies of other formats have names and bounds of their own.
const calls = callsOf(
  createApis().schema,
  allRoutes.filter(({ form }) => form === undefined),
);
const models = { IMAGE_MODEL: 'ollama/one', OLLAMA_BASE_URL: 'http://127.0.0.1:1', EMBEDDING_MODEL: 'ollama/two' };
const { service } = await withService('web', { env: { ...worldEnv, ...models } });
const setting = await (await World.create(service)).setting('PRIVATE');
const operator = await setting.world.make.person({ organization: setting.world.home, level: 'INSTANCE' });

const cases = calls.flatMap((call) =>
  call.field.args
    .filter(({ name }) => call.argumentNames.includes(name))
    .flatMap(({ name, type }) => placesOf(type, `${call.operation}(${name})`, [name], []))
    .filter(({ path }) => call.canSet(path))
    .map((place) => ({ call, place })),
);

describe.each(
  sampledOperations(cases.map(({ call, place }) => [`${call.title}: ${place.path.join('.')}`, call, place] as const)),
)('%s', (_title, call, place) => {
  it.each([-3_000_000_000, 3_000_000_000, 1e15])('%d is refused with both bounds', async (value) => {
    if (unbounded.includes(place.coordinate)) return;
    const line = table[call.title] ?? table[call.operation];
    const given = await line?.given(setting);
    const isForOperators = ['isInstance', 'administersOrganization', 'administersItsOwn'].includes(line?.needs ?? '');
    const who = isForOperators ? operator : setting.world.owner;
    const { status, message } = await call.call(who, withNumber(call, place, given, value));
    const shown = `${place.coordinate}: ${status} ${message}`;
    expect([400, 413], shown).toContain(status);
    expect(message, shown).toMatch(/from -?\d+ to \d+/);
    expect(message, shown).not.toMatch(/214748364[78]/);
  });
});

/** What a call is given, with a number at a place of it. */
function withNumber({ title }: Call, { coordinate, set }: Place, given: Arguments | undefined, value: number): Arguments {
  if (given?.inputOfRest === undefined) return set(given, value) as Arguments;
  const members = membersOfRest[`${title}: ${coordinate}`];
  if (members === undefined) throw new Error(`${title} has a form of its own: add ${coordinate} to membersOfRest`);
  return { ...given, inputOfRest: { ...(given.inputOfRest as Arguments), ...members(value) } };
}

/** The whole numbers in a type; a type that holds itself is walked once. */
function placesOf(
  type: GraphQLInputType,
  coordinate: string,
  path: readonly string[],
  within: readonly string[],
): readonly Place[] {
  const [name] = path;
  return inner(type, coordinate, within).map(({ set, ...place }) => ({
    ...place,
    path: [...path, ...place.path],
    set: (given, value) => ({
      ...samples[coordinate],
      ...(given as object),
      [String(name)]: set((given as Arguments)[String(name)], value),
    }),
  }));
}

function inner(type: GraphQLInputType, coordinate: string, within: readonly string[]): readonly Place[] {
  if (isNonNullType(type)) return inner(type.ofType, coordinate, within);
  if (isListType(type)) {
    return inner(type.ofType, coordinate, within).map((place) => ({
      ...place,
      path: ['0', ...place.path],
      set: (given, value) => [place.set(Array.isArray(given) ? given[0] : undefined, value)],
    }));
  }
  if (!isInputObjectType(type)) {
    return getNamedType(type).name === 'Int' ? [{ coordinate, path: [], set: (_given, value) => value }] : [];
  }
  if (within.includes(type.name)) return [];
  return Object.values(type.getFields()).flatMap((field) => {
    const own = `${type.name}.${field.name}`;
    return inner(field.type, own, [...within, type.name]).map((place) => ({
      ...place,
      path: [field.name, ...place.path],
      set: (given: unknown, value: number) => ({
        ...(samples[own] ?? {}),
        ...(type.isOneOf ? {} : (given as object | undefined)),
        [field.name]: place.set((given as Arguments | undefined)?.[field.name], value),
      }),
    }));
  });
}
