import {
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect } from 'vitest';
import { createApis } from '../../../src/start/app.ts';
import type { RequestHeaders, TestClient } from '../../support/client.ts';

/**
 * Levels of a selection. More are not needed: rights are checked by type and field, whatever the path, and the walk (walk.test.ts) follows things by their
 * ids to every type, with a key of each scope.
 */
const depthMax = 4;
const { schema } = createApis();
const nodeTypes = new Set(schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType).map(({ name }) => name));

/** Settings of a service that accepts such documents. */
export const roomForWholeSelections = {
  GRAPHQL_COST_MAX: '100000000',
  GRAPHQL_TOKENS_MAX: '1000000',
  GRAPHQL_DEPTH_MAX: '40',
  GRAPHQL_ALIASES_MAX: '5000',
  // An operation counts as many requests by its cost.
  RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: '1000000000',
  RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION: '1000000000',
};

/**
 * Sends a query that selects everything it can reach, and returns its value; any error except a missing scope fails the test.
 *
 * @param refusal  the code of another error that may come.
 */
export async function ask(
  who: TestClient,
  field: GraphQLField<unknown, unknown>,
  given: Readonly<Record<string, unknown>>,
  headers?: RequestHeaders,
  refusal?: string,
): Promise<unknown> {
  const used = field.args.filter((one) => given[one.name] !== undefined);
  const declared = used.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = used.map(({ name }) => `${name}: $${name}`).join(', ');
  // A search shows things of several types, each of which has a query of its own: with all levels the document would have too many fields.
  const begin = field.name === 'search' ? 1 : 0;
  const query = `query ${declared === '' ? '' : `(${declared})`} { ${field.name}${passed === '' ? '' : `(${passed})`} ${wholeSelection(field, begin)} }`;
  const variables = Object.fromEntries(used.map(({ name }) => [name, given[name]]));
  const { data, errors = [] } = (await who.post('/graphql', { query, variables }, headers)).body;
  const unexpected = errors.filter(
    ({ extensions: { code } }: { extensions: { code: string } }) => code !== 'INSUFFICIENT_SCOPE' && code !== refusal,
  );
  expect(unexpected).toEqual([]);
  return withoutAliases(data?.[field.name]);
}

/** By the root field, for all callers. */
const selections = new Map<GraphQLField<unknown, unknown>, string>();

function wholeSelection(field: GraphQLField<unknown, unknown>, begin: number): string {
  const known = selections.get(field);
  if (known !== undefined) return known;
  const text = selection(field, [], begin);
  selections.set(field, text);
  return text;
}

/** A selection of everything that can be reached; each type appears once on a path. */
function selection(field: GraphQLField<unknown, unknown>, above: readonly string[], depth: number): string {
  const type = getNamedType(field.type);
  if (!isCompositeType(type)) return '';
  const path = [...above, type.name];
  const possible = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  // Each type that has a query of its own is selected there to the full depth: here a document with all of them would get too long.
  const inner = possible.every(({ name }) => nodeTypes.has(name)) ? depth + 1 : depth;
  const fragments = possible.map(
    (one) => `... on ${one.name} ${membersOf(one, [...path, one.name], inner, [type, ...possible])}`,
  );
  return `{ __typename ${membersOf(type, path, depth, []).slice(1, -1)} ${fragments.join(' ')} }`;
}

/** @param beside  types that are selected at the same place: a field that has another type there gets an alias, `name_Type`. */
function membersOf(type: GraphQLNamedType, path: readonly string[], depth: number, beside: readonly GraphQLNamedType[]): string {
  const others = beside.flatMap(fieldsOf);
  const parts = fieldsOf(type)
    .filter((inner) => inner.args.every(({ type: argument }) => !isNonNullType(argument)))
    .filter(
      (inner) =>
        !isCompositeType(getNamedType(inner.type)) || (depth < depthMax && !path.includes(getNamedType(inner.type).name)),
    )
    .map((inner) => {
      const conflicts = others.some(({ name, type: other }) => name === inner.name && String(other) !== String(inner.type));
      return `${conflicts ? `${inner.name}_${type.name}: ` : ''}${inner.name} ${selection(inner, path, depth + 1)}`;
    });
  return `{ __typename ${parts.join(' ')} }`;
}

function withoutAliases(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAliases);
  if (typeof value !== 'object' || value === null) return value;
  const suffix = `_${(value as { readonly __typename?: string }).__typename}`;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.endsWith(suffix) ? name.slice(0, -suffix.length) : name,
      withoutAliases(inner),
    ]),
  );
}

export function fieldsOf(type: GraphQLNamedType): readonly GraphQLField<unknown, unknown>[] {
  return isObjectType(type) || isInterfaceType(type) ? Object.values((type as GraphQLObjectType).getFields()) : [];
}
