import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWordsOfGraphql, operationsOfRoutes } from '../../../src/graphql/ground/errors/places.ts';
import { buildSchema } from '../../../src/graphql/schema.ts';

const folders = ['domain', 'engine'].map((name) => join(import.meta.dirname, '../../../src', name));

/** Routes that a message of the domain recommends, ids left out. */
function recommended(): readonly string[] {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const texts = files.filter((name) => name.endsWith('.ts')).map((name) => readFileSync(name, 'utf8'));
  return texts.flatMap((text) => text.match(/\b(?:GET|POST|PUT|PATCH|DELETE) \/api\/v1\/[a-z/-]+(?=[; '`])/g) ?? []);
}

describe('a message that recommends an operation of REST', () => {
  it('names the operation of GraphQL instead', () => {
    expect([...new Set(recommended())].sort()).toEqual(Object.keys(operationsOfRoutes).sort());
    const schema = buildSchema();
    const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
    expect(Object.values(operationsOfRoutes).filter((name) => fields[name] === undefined)).toEqual([]);
    expect(inWordsOfGraphql('no such model; GET /api/v1/models lists them')).toBe('no such model; models lists them');
  });
});
