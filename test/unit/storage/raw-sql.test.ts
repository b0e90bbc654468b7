import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = 'src/storage';
/** Files that pass on the statements of others. */
const plumbing = ['pool.ts', 'database.ts'];
const isOwn = (path: string) => path.endsWith('.ts') && !/^(?:generated|database\/embedded)\//.test(path);
const rawSql = /\.(?:query|execute)[<(]|\b(?:selectRows|countRows)[<(]|\breadWhole[<(]|\$(?:query|execute)Raw/;

it('every file with raw SQL says in its first line why it is not Prisma', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => isOwn(path) && !plumbing.some((name) => path.endsWith(`/${name}`)))
    .map((path) => ({ path, source: readFileSync(`${folder}/${path}`, 'utf8') }));
  const raw = files.filter(({ source }) => rawSql.test(source));
  expect(raw.length).toBeGreaterThan(20);
  expect(raw.filter(({ source }) => !/^\/\/ Raw SQL: .{20}/.test(source)).map(({ path }) => path)).toEqual([]);
});
