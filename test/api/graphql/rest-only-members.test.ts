import { type GraphQLInputType, getNamedType, isEnumType, isInputObjectType, isNonNullType, isRequiredInputField } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildSchema } from '../../../src/graphql/schema.ts';
import { withService } from '../../support/service.ts';

// Members that choose the form of a REST reply have no effect over GraphQL, and are refused there by name.

const { make } = await withService('web');
const schema = buildSchema();

const values: Readonly<Record<string, unknown>> = {
  Boolean: true,
  Int: 1,
  String: 'a',
  ID: 'a',
  JSON: 'a',
  DateTime: '2026-01-01T00:00:00Z',
};

/** A value that GraphQL accepts. */
function valueFor(type: GraphQLInputType): unknown {
  const inner = isNonNullType(type) ? type.ofType : type;
  const named = getNamedType(inner);
  const value = isInputObjectType(named)
    ? Object.fromEntries(
        Object.values(named.getFields())
          .filter(isRequiredInputField)
          .map((field) => [field.name, valueFor(field.type)]),
      )
    : isEnumType(named)
      ? named.getValues()[0]?.name
      : values[named.name];
  return String(inner).startsWith('[') ? [value] : value;
}

/** Every member and argument of a root field that is marked as one of REST. */
const marked = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((root) =>
  Object.values(root?.getFields() ?? {}).flatMap((field) =>
    field.args.flatMap((argument) => {
      const type = getNamedType(argument.type);
      const own = argument.extensions.isRestOnly === true ? [{ argument, member: undefined }] : [];
      const inner = argument.name === 'input' && isInputObjectType(type) ? Object.values(type.getFields()) : [];
      const members = inner.filter(({ extensions }) => extensions.isRestOnly === true).map((member) => ({ argument, member }));
      return [...own, ...members].map(({ argument: at, member }) => ({ root, field, at, member }));
    }),
  ),
);
const cases = marked
  .filter(({ field, member }) => `${field.name}.${member?.name}` !== 'newResponseEvents.stream')
  .map((one) => [`${one.field.name}: ${one.member?.name ?? one.at.name}`, one] as const);

describe('a member of REST', () => {
  it.each(cases)('is refused over GraphQL: %s', async (_name, { root, field, at, member }) => {
    const ann = await make.person();
    const needed = field.args.filter((argument) => isNonNullType(argument.type) || argument === at);
    const variables = Object.fromEntries(
      needed.map((argument) => {
        const value = valueFor(argument.type);
        const isInner = argument === at && member !== undefined;
        return [argument.name, isInner ? { ...(value as object), [member.name]: valueFor(member.type) } : value];
      }),
    );
    const declared = needed.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
    const passed = needed.map(({ name }) => `${name}: $${name}`).join(', ');
    const kind = root?.name.toLowerCase() ?? 'query';
    const document = `${kind} (${declared}) { ${field.name}(${passed}) { __typename } }`;
    const response = await ann.fetch('POST', '/graphql', { query: document, variables }, { accept: 'text/event-stream' });
    const text = await response.text();
    expect(text).toContain('UNSUPPORTED_VALUE');
    expect(text).toContain(`"param":"${member?.name ?? at.name}"`);
  });

  it('is there in every API that streams', () => {
    expect(cases.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'createCompletion: stream',
        'createCompletion: streamOptions',
        'sendMessage: stream',
        'createResponse: stream',
      ]),
    );
  });
});
