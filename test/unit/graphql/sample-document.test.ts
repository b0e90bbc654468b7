import { OperationTypeNode, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { sampleDocument } from '../../../src/graphql/graphiql/sample-document.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';

const schema = buildSchema();
const operations = Object.values(OperationTypeNode).flatMap((operation) =>
  Object.values(schema.getRootType(operation)?.getFields() ?? {}).map((field) => ({ operation, name: field.name, field })),
);
const sampleOf = (wanted: string) => {
  const { operation, field } = operations.find(({ name }) => name === wanted) ?? {};
  if (operation === undefined || field === undefined) throw new Error(`no operation ${wanted}`);
  return sampleDocument(schema, operation, field);
};

describe('a document for an operation', () => {
  it.each(operations)('is valid: $operation $name', ({ operation, field }) => {
    const { query, variables } = sampleDocument(schema, operation, field);
    expect(validate(schema, parse(query))).toEqual([]);
    const given = Object.keys(variables === '' ? {} : JSON.parse(variables));
    expect(given).toEqual(
      field.args
        .filter(({ type, defaultValue }) => String(type).endsWith('!') && defaultValue === undefined)
        .map(({ name }) => name),
    );
  });
  it('asks for the nodes of a list', () => {
    expect(sampleOf('agents').query).toMatch(/^query Agents \{\n {2}agents \{\n {4}nodes \{\n {6}id\n {6}name\n/);
  });
  it('has a place for each required value', () => {
    const { query, variables } = sampleOf('createAgent');
    expect(query).toContain('mutation CreateAgent($input: CreateAgentInput!)');
    expect(JSON.parse(variables)).toMatchObject({ input: { name: '' } });
  });
});
