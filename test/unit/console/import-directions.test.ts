import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findCircles, importStatements, sourceFiles } from '../../support/source/statements.ts';

const source = fileURLToPath(new URL('../../../console/src', import.meta.url));
const imports = importStatements(source, sourceFiles(source)).filter(({ isOurs }) => isOurs);

/** The folders that a folder may import besides itself. The start of the console, `main.tsx`, may import all folders. */
const below: Readonly<Record<string, readonly string[]>> = {
  app: ['screens', 'parts', 'ui', 'graphql', 'text'],
  screens: ['parts', 'ui', 'graphql', 'text'],
  parts: ['ui', 'graphql', 'text'],
  ui: ['graphql', 'text'],
  graphql: [],
  text: [],
};
const entriesMax = 20;

const firstFolder = (path: string) => (path.includes('/') ? path.split('/')[0] : undefined);
const lines = (statements: typeof imports) => statements.map(({ file, target }) => `${file} → ${target}`);

describe('the imports of the console', () => {
  it('go down only: a folder uses the ones below it', () => {
    const isAllowed = (file: string, target: string) => {
      const [from, to] = [firstFolder(file), firstFolder(target)];
      return from === undefined || (to !== undefined && (from === to || below[from]?.includes(to) === true));
    };
    expect(lines(imports.filter(({ file, target }) => !isAllowed(file, target)))).toEqual([]);
  });

  it('keep each screen to itself: what two screens share is a part', () => {
    const screen = (path: string) => /^screens\/([^/]+)\//.exec(path)?.[1];
    const isAcross = (file: string, target: string) => {
      const [from, to] = [screen(file), screen(target)];
      return from !== undefined && to !== undefined && from !== to;
    };
    expect(lines(imports.filter(({ file, target }) => isAcross(file, target)))).toEqual([]);
  });

  it('make no circle: no file comes to itself by its imports, types and what is loaded later included', () => {
    expect(imports.length).toBeGreaterThan(500);
    expect(findCircles(imports.map(({ file, target }) => [file, target] as const))).toEqual([]);
  });
});

it('no folder of the console holds more than 20 entries', () => {
  const entries = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const folders = Map.groupBy(entries, (path) => dirname(path));
  const full = [...folders].filter(([, inside]) => inside.length > entriesMax).map(([folder, inside]) => [folder, inside.length]);
  expect(full).toEqual([]);
});
