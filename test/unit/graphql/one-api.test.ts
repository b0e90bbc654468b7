import {
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  printSchema,
  validateSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { Faults } from '../../../src/domain/ground/faults.ts';
import { graphqlOnly, isRestOnly, restOnly, servedSchema } from '../../../src/graphql/ground/builder/one-api.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';
import { camelNames } from '../../../src/http/input/names.ts';
import { compileReader } from '../../../src/http/input/reader.ts';

const Expiry = new GraphQLInputObjectType({ name: 'Expiry', fields: { anchor: { type: GraphQLString } } });
const StoreInput = new GraphQLInputObjectType({
  name: 'StoreInput',
  fields: {
    name: { type: GraphQLString },
    expiresAfterDays: { type: GraphQLInt, extensions: graphqlOnly },
    expiresAfter: { type: Expiry, extensions: restOnly },
  },
});
const Legacy = new GraphQLObjectType({ name: 'Legacy', fields: { id: { type: GraphQLString } } });
const Store = new GraphQLObjectType({
  name: 'Store',
  fields: {
    percent: { type: GraphQLInt },
    percentText: { type: GraphQLString, extensions: restOnly },
    legacy: { type: Legacy, extensions: restOnly },
  },
});
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      stores: {
        type: Store,
        args: { first: { type: GraphQLInt }, page: { type: GraphQLInt, extensions: restOnly }, input: { type: StoreInput } },
      },
    },
  }),
});

describe('the schema that /graphql serves', () => {
  it('has no field, argument, input member or type that only REST has', () => {
    expect(printSchema(servedSchema(schema))).toBe(`type Query {
  stores(first: Int, input: StoreInput): Store
}

type Store {
  percent: Int
}

input StoreInput {
  name: String
  expiresAfterDays: Int
}`);
  });

  it('is valid, and all of it can be reached, in the real one', () => {
    const served = servedSchema(buildSchema());
    expect(validateSchema(served)).toEqual([]);
    expect(membersOf(served).filter(isRestOnly)).toEqual([]);
  });
});

describe('REST', () => {
  it('reads what only it has, and does not know what only GraphQL has', () => {
    const read = compileReader(new GraphQLNonNull(StoreInput), camelNames);
    const faults = new Faults();
    expect(read({ name: 'a', expiresAfterDays: 3, expiresAfter: { anchor: 'x' } }, faults)).toEqual({
      name: 'a',
      expiresAfter: { anchor: 'x' },
    });
    expect(faults.found).toEqual([]);
  });
});

function membersOf(served: GraphQLSchema) {
  const types = Object.values(served.getTypeMap());
  const fields = types.flatMap((type) => (isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []));
  const inputs = types.flatMap((type) => (isInputObjectType(type) ? Object.values(type.getFields()) : []));
  return [...fields, ...fields.flatMap(({ args }) => args), ...inputs];
}
