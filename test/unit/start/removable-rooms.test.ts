import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const rows = [...read('docs/delete.md').matchAll(/^\| `([^`]+)` \| [^|]+ \| (\d+) \| ([^|]+) \|$/gm)];
/** The table tells the order of size, not every line. */
const deviationMax = 0.3;

const isOurs = (path: string) => !/node_modules|generated|\/dist\//.test(path);
const filesOf = (pattern: string) => globSync(pattern, { cwd: root }).filter(isOurs);
const importsOf = new Map(
  filesOf('src/**/*.{ts,js}').map((file) => [
    file,
    [...read(file).matchAll(/(?:from|import\(|new URL\()\s*'(\.[^']+)'/g)].map(([, path = '']) => join(dirname(file), path)),
  ]),
);

it('docs/delete.md has rooms', () => expect(rows.length).toBeGreaterThan(20));

it.each(rows.map(([, room = '', lines = '', importers = '']) => [room, Number(lines), importers] as const))(
  'docs/delete.md says what names %s, and about how large it is',
  (room, lines, importers) => {
    const isInside = (path: string) => path.startsWith(`${room}/`);
    const named = [...importsOf].filter(([file, imports]) => !isInside(file) && imports.some(isInside)).map(([file]) => file);
    expect(new Set([...importers.matchAll(/`([^`]+)`/g)].map(([, file]) => file))).toEqual(new Set(named));
    const counted = filesOf(`${room}/**/*.{ts,tsx,js,css}`).reduce((sum, file) => sum + read(file).split('\n').length - 1, 0);
    expect(counted).toBeGreaterThan(lines * (1 - deviationMax));
    expect(counted).toBeLessThan(lines * (1 + deviationMax));
  },
);
