import {
  GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  buildSchema as parseSchema,
  validateSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { printedScopes } from '../../../scripts/support/operation-scopes.ts';
import { printedSchema } from '../../../src/graphql/printed-schema.ts';
import { buildSchema, undescribed } from '../../../src/graphql/schema.ts';

const schema = buildSchema();

describe('the schema', () => {
  it('is valid', () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  it('has no type that nothing leads to', () => {
    const { types, ...config } = schema.toConfig();
    const implementers = types.filter((type) => isObjectType(type) && type.getInterfaces().length > 0);
    const reached = new GraphQLSchema({ ...config, types: implementers });
    expect(Object.keys(schema.getTypeMap()).sort()).toEqual(Object.keys(reached.getTypeMap()).sort());
  });

  it('is schema.graphql (rewrite with: npm run schema)', async () => {
    await expect(printedSchema(schema)).toMatchFileSnapshot('../../../schema.graphql');
  });

  it('describes every type, field, argument, input and enum value', () => {
    expect(undescribed(schema)).toEqual([]);
  });

  it('has few inputs that are JSON, and each says why', () => {
    const members = Object.values(schema.getTypeMap())
      .filter(isInputObjectType)
      .flatMap((type) => Object.values(type.getFields()).map((field) => ({ ...field, at: `${type.name}.${field.name}` })))
      .filter(({ type }) => getNamedType(type).name === 'JSON');
    expect(members.filter(({ description }) => !/\bJSON: /.test(description ?? '')).map(({ at }) => at)).toEqual([]);
    expect(members.length).toBeLessThanOrEqual(20);
  });

  it('speaks no third-party format: no constant members, seconds, or pages by the ids of their ends', () => {
    const members = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !isIntrospectionType(type))
      .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ ...field, type })) : []));
    const isCopy = ({ name, description }: (typeof members)[number]) =>
      ['object', 'deleted', 'firstId', 'lastId', 'hasMore'].includes(name) ||
      name.includes('_') ||
      /^always\b|seconds since 1970/i.test(description ?? '');
    expect(members.filter(isCopy).map(({ type, name }) => `${type.name}.${name}`)).toEqual([]);
  });

  it('names the values of enums in upper case', () => {
    const lower = Object.values(schema.getTypeMap()).filter(
      (type) =>
        isEnumType(type) && !isIntrospectionType(type) && type.getValues().some(({ name }) => !/^[A-Z][A-Z0-9_]*$/.test(name)),
    );
    expect(lower.map(({ name }) => name)).toEqual([]);
  });

  it('is where the scopes of operations are printed from (rewrite with: npm run schema)', async () => {
    await expect(printedScopes(schema)).toMatchFileSnapshot('../../../src/domain/ground/access/operation-scopes.ts');
  });

  it('has JSON for what belongs to the caller only, in at most 15 places that say so', () => {
    const places = Object.values(schema.getTypeMap()).flatMap((type) =>
      isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
        ? Object.values(type.getFields()).flatMap((field) =>
            String(field.type).replaceAll(/[[\]!]/g, '') === 'JSON'
              ? [[`${type.name}.${field.name}`, field.description ?? ''] as const]
              : [],
          )
        : [],
    );
    expect(places.length).toBeGreaterThan(0);
    expect(places.length).toBeLessThanOrEqual(15);
    for (const [place, description] of places) expect(description, place).toContain(' JSON: ');
  });

  it('has no other scalar that stands for an object, but JSON Schemas', () => {
    const scalars = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));
    const names = ['Count', 'DateTime', 'File', 'JSON', 'JsonSchema', 'PlainValue', 'Vector'];
    expect(scalars.map(({ name }) => name).sort()).toEqual(names);
  });

  it('bounds every connection by first and after', () => {
    const unbounded = [schema.getQueryType(), schema.getSubscriptionType()]
      .flatMap((root) => Object.values(root?.getFields() ?? {}))
      .filter((field) => String(field.type).endsWith('Connection!'))
      .filter((field) => !['first', 'after'].every((name) => field.args.some((arg) => arg.name === name)));
    expect(unbounded.map(({ name }) => name)).toEqual([]);
  });
});

describe('a schema that is not complete', () => {
  const incomplete = parseSchema('"d" type Query { "d" listed: Int forgotten(arg: Color): Int } enum Color { RED }');

  it('names everything without a description', () => {
    const places = ['Query.forgotten', 'Query.forgotten(arg)', 'Color', 'Color.RED'];
    expect(undescribed(incomplete)).toEqual(places.map((place) => `${place} has no description`));
  });
});
