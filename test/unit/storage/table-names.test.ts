import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tableName } from '../../../src/storage/operations/data-life/rows.ts';

const schema = readFileSync('prisma/schema.prisma', 'utf8');
const models = [...schema.matchAll(/^model (\w+) \{([\s\S]*?)^\}/gm)].map(([, model = '', body = '']) => ({
  model: model as Parameters<typeof tableName>[0],
  table: /@@map\("(\w+)"\)/.exec(body)?.[1],
}));

it('files of an export are named as the tables of the database', () => {
  expect(models.length).toBeGreaterThan(50);
  for (const { model, table } of models) expect(tableName(model), model).toBe(table);
});
