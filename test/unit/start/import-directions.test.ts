import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  findCircles,
  type ImportStatement,
  importStatements,
  sourceFiles,
  withoutComments,
} from '../../support/imports/statements.ts';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

/** The folders that a folder may import besides itself. The files directly in `src`, and `start`, may import all folders. */
const below: Readonly<Record<string, readonly string[]>> = {
  rest: ['http', 'wire', 'domain', 'engine', 'storage', 'entities', 'lib'],
  graphql: ['http', 'wire', 'domain', 'engine', 'storage', 'entities', 'lib'],
  mcp: ['http', 'domain', 'engine', 'storage', 'entities', 'lib'],
  scim: ['http', 'domain', 'entities', 'lib'],
  pages: ['http', 'entities', 'lib'],
  http: ['domain', 'engine', 'storage', 'entities', 'lib'],
  domain: ['wire', 'engine', 'storage', 'entities', 'lib'],
  engine: ['storage', 'entities', 'lib'],
  storage: ['entities', 'lib'],
  wire: ['engine', 'entities', 'lib'],
  entities: [],
  lib: [],
};
/** Packages that only one folder may import. */
const keptTo: readonly (readonly [folder: string, packages: RegExp])[] = [
  ['storage', /^(pg|@prisma\/.*|@electric-sql\/.*|node:sqlite)$/],
  ['graphql', /^(@pothos\/.*|graphql-yoga|@graphql-yoga\/.*|graphql-sse)$/],
];

interface Import extends ImportStatement {
  /** The first folder of `file`; empty for a file directly in src. */
  readonly folder: string;
}
const files = sourceFiles(source).filter((file) => !file.startsWith('storage/generated/'));
const imports: readonly Import[] = importStatements(source, files).map((statement) => ({
  ...statement,
  folder: statement.file.includes('/') ? (statement.file.split('/')[0] ?? '') : '',
}));
/** Folders whose subfolders have an order: each uses the ones below it. Files directly in them name what all subfolders share. */
const layered = ['domain', 'engine', 'engine/runs'];

describe('imports', () => {
  it('go down only: a folder uses the ones below it', () => {
    expect(imports.filter((each) => !isAllowed(each)).map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('make no circle: no file comes to itself by its imports, types included', () => {
    expect(findCircles(imports.flatMap(({ file, target, isOurs }) => (isOurs ? [[file, target] as const] : [])))).toEqual([]);
  });

  it.each(layered)('make no circle of the folders in %s', (area) => {
    expect(findCircles(imports.flatMap(({ file, target }) => folderPair(area, file, target)))).toEqual([]);
  });

  it('do not climb in the run engine: its folders use no file directly in it', () => {
    const climbs = imports.filter(({ file, target }) => /^engine\/runs\/.+\//.test(file) && /^engine\/runs\/[^/]+$/.test(target));
    expect(climbs.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('keep the database, the ORM and the GraphQL libraries to the folder that knows them', () => {
    const strays = imports.filter(({ folder, target, isTypeOnly }) =>
      keptTo.some(([owner, packages]) => packages.test(target) && folder !== owner && !isTop(folder) && !isTypeOnly),
    );
    expect(strays.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('take settings as a type only: the process reads its environment once', () => {
    const readers = imports.filter(({ folder, target, isTypeOnly }) => !isTop(folder) && target === 'settings.ts' && !isTypeOnly);
    expect(readers.map(({ file }) => file)).toEqual([]);
    const readsEnvironment = files.filter((file) => /\bprocess\.env\b/.test(withoutComments(read(file))));
    expect(readsEnvironment).toEqual(['start/process.ts']);
  });
});

function isTop(folder: string): boolean {
  return folder === '' || folder === 'start';
}

function isAllowed({ folder, target, isOurs }: Import): boolean {
  if (isTop(folder) || !isOurs) return true;
  const [first = '', ...rest] = target.split('/');
  if (rest.length === 0) return target === 'settings.ts';
  return first === folder || below[folder]?.includes(first) === true;
}

/** The two subfolders of an area that an import joins; none for an import inside one, or of a file directly in the area. */
function folderPair(area: string, file: string, target: string): readonly (readonly [string, string])[] {
  const [from, to] = [file, target].map((path) => new RegExp(`^${area}/([^/]+)/`).exec(path)?.[1]);
  return from === undefined || to === undefined || from === to ? [] : [[from, to]];
}

function read(file: string): string {
  return readFileSync(join(source, file), 'utf8');
}
