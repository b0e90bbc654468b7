import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  graphql,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  buildSchema as schemaOf,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { referenceScopes, sharedFields } from '../../../src/domain/ground/access/reference-scopes.ts';
import type { Scope } from '../../../src/entities/people/caller.ts';
import { accessFaults, guardNested } from '../../../src/graphql/ground/builder/nested-access.ts';
import { findAccess } from '../../../src/graphql/ground/builder/type-access.ts';
import { createApis } from '../../../src/start/app.ts';
import { sampledOperations, triesAll } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { operationsOf } from './calls.ts';
import { ask, fieldsOf, roomForWholeSelections } from './selection.ts';
import { table } from './table.ts';
import { World } from './world.ts';

// A key sees through nesting only what it sees directly. Each query of the schema selects everything that it can reach, once with a key of every
// scope and once with a key of the query's scope alone. If the second key is shown something of another noun, that is a fault. No operation and no
// field is named here: both come from the schema.

const { schema } = createApis();
const queries = operationsOf(schema).filter(({ name }) => name.startsWith('Query.') && !name.startsWith('Query.node'));

const { service } = await withService('web', { env: { ...roomForWholeSelections } });
const seenPlaces = new Set<string>();

const world = await World.create(service);
const setting = await world.setting('GROUP');
const owner = world.owner;

describe('a key with the scope of a query alone', () => {
  it.each(sampledOperations(queries.map(({ name, field }) => [name, field] as const)))(
    '%s shows nothing of another noun',
    async (name, field) => {
      const line = table[name];
      if (line === undefined) throw new Error(`${name} has no line`);
      // A call that succeeds for nobody here shows nothing.
      if (line.reaches !== undefined) return;
      // Queries of administration are sent by an administrator.
      const person = line.needs === 'isInstance' || line.needs.startsWith('administers') ? setting.world.admin : owner;
      const scope = operationScopes[name] ?? null;
      const given = await line.given(setting);
      const level = line.needs === 'isInstance' ? 'INSTANCE' : 'ORGANIZATION';
      const rich = await setting.world.make.withKey(person, { level });
      const poor = await setting.world.make.withKey(person, { level, scopes: scope === null ? [] : [scope] });
      const all = await ask(rich, field, given);
      for (const { place } of crossings(all, field, 'every scope')) seenPlaces.add(place);
      const few = await ask(poor, field, given, undefined, line.hidden);
      expect(
        crossings(few, field, scope).map(({ place, value }) => `${place} shows ${JSON.stringify(value).slice(0, 100)}`),
      ).toEqual([]);
    },
  );

  it.runIf(triesAll)('with every scope, other nouns are shown', () => {
    expect([...seenPlaces]).toEqual(
      expect.arrayContaining(['Agent.groups', 'Agent.groupIds', 'Agent.sources', 'DataSource.agents', 'Run.agentId']),
    );
  });
});

describe('a type that is not written yet', () => {
  const scopeless = { scopes: new Set<Scope>(['AGENTS:READ']) };
  const sdl = `
    type Query { agent: Agent! }
    type Agent { id: ID! groups: [Group!]! lead: Group home: Group! groupIds: [ID!]! sister: Agent }
    type Group { id: ID! name: String! }`;

  it('is refused by the schema until its scope is declared, and so are ids, e-mails and inputs of unknown nouns', () => {
    const odd = schemaOf(`${sdl}
      type Diary { id: ID! }
      type Mutation { write(input: DiaryInput!): Diary! }
      input DiaryInput { penId: ID! }
      type Chat { id: ID! inkId: ID! writerEmail: String! diary: Diary }`);
    expect(accessFaults(odd)).toEqual(
      expect.arrayContaining([
        'Diary does not say who may see it (access)',
        'Chat.inkId refers to something that domain/ground/access/reference-scopes.ts does not list',
        'Chat.writerEmail refers to something that domain/ground/access/reference-scopes.ts does not list',
        'DiaryInput.penId refers to something that domain/ground/access/reference-scopes.ts does not list',
      ]),
    );
  });

  it('is guarded wherever a field leads to another noun: empty list, null, or an error where neither fits', async () => {
    const made = declared(schemaOf(sdl), { Agent: 'AGENTS:READ', Group: 'GROUPS:READ' });
    const group = { id: 'g', name: 'Board' };
    const agent = { id: 'a', groups: [group], lead: group, home: group, groupIds: ['g'], sister: { id: 'b', lead: group } };
    guardNested(made);
    const refused: string[] = [];
    const audit = { refusals: { note: (_caller: unknown, place: string) => void refused.push(place) } };
    const run = (source: string) =>
      graphql({ schema: made, source, rootValue: { agent }, contextValue: { caller: scopeless, deps: { audit } } });
    expect(await run('{ agent { groups { name } lead { name } groupIds sister { id lead { name } } } }')).toEqual({
      data: { agent: { groups: [], lead: null, groupIds: [], sister: { id: 'b', lead: null } } },
    });
    expect((await run('{ agent { home { name } } }')).errors?.[0]?.message).toBe(
      'Agent.home needs a key with the scope GROUPS:READ',
    );
    expect(refused).toEqual(['Agent.home']);
  });
});

interface Crossing {
  readonly place: string;
  readonly value: unknown;
}

/** What a reply shows of nouns that the scope does not read: objects of their types, and their ids and e-mails. */
function crossings(value: unknown, field: GraphQLField<unknown, unknown>, scope: Scope | null | 'every scope'): Crossing[] {
  if (Array.isArray(value)) return value.flatMap((item) => crossings(item, field, scope));
  if (typeof value !== 'object' || value === null) return [];
  const { __typename: shownAs } = value as { readonly __typename?: string };
  const type = schema.getType(shownAs ?? '') ?? getNamedType(field.type);
  if (!(isObjectType(type) || isInterfaceType(type))) return [];
  return fieldsOf(type).flatMap((inner) => {
    const shown = (value as Readonly<Record<string, unknown>>)[inner.name];
    const place = `${type.name}.${inner.name}`;
    if (isNothing(shown) || sharedFields[place] !== undefined) return [];
    const needs = isCompositeType(getNamedType(inner.type)) ? scopesOf(inner, shown) : [referenceScopes[inner.name]];
    const isForeign = needs.some((need) => need !== undefined && need !== null && need !== nounScope(type) && need !== scope);
    return [...(isForeign ? [{ place, value: shown }] : []), ...crossings(shown, inner, scope)];
  });
}

/** No value, an empty list, or a page of which every member says that the list has no items. */
function isNothing(shown: unknown): boolean {
  if (shown === undefined || shown === null) return true;
  if (Array.isArray(shown)) return shown.length === 0;
  if (typeof shown !== 'object') return false;
  const { __typename: name, pageInfo, ...members } = shown as Readonly<Record<string, unknown>>;
  if (!String(name).endsWith('Connection')) return false;
  const { __typename: _pageName, ...places } = (pageInfo ?? {}) as Readonly<Record<string, unknown>>;
  const empty: Readonly<Record<string, unknown>> = { nodes: [], edges: [], totalCount: 0, isTotalCountExact: true };
  const isEmpty = ([member, value]: [string, unknown]) => JSON.stringify(value) === JSON.stringify(empty[member]);
  return Object.entries(members).every(isEmpty) && Object.values(places).every((value) => value === false || value === null);
}

/** Of the things that a field shows: where it may show several types, of those that it shows. */
function scopesOf(field: GraphQLField<unknown, unknown>, shown: unknown): readonly (Scope | null | undefined)[] {
  const type = getNamedType(field.type);
  if (!isAbstractType(type)) return [nounScope(type)];
  return [shown].flat().map((one) => {
    const shownAs = schema.getType((one as { readonly __typename?: string } | null)?.__typename ?? '');
    return shownAs === undefined ? undefined : nounScope(shownAs);
  });
}

/** As the type declares; a connection has the scope of its nodes. */
function nounScope(type: GraphQLNamedType): Scope | null | undefined {
  return isObjectType(type) || isInterfaceType(type) ? findAccess(type)?.scope : undefined;
}

/** Lets types say who may see them, as `access` does in the code. */
function declared(made: GraphQLSchema, scopes: Readonly<Record<string, Scope>>): GraphQLSchema {
  for (const [name, scope] of Object.entries(scopes)) {
    const type = made.getType(name);
    if (isObjectType(type)) type.extensions = { pothosOptions: { access: { scope } } };
  }
  return made;
}
