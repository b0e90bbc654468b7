import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  findCircles,
  type ImportStatement,
  importStatements,
  sourceFiles,
  withoutComments,
} from '../../support/source/statements.ts';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

/** The folders that a folder may import besides itself. The files directly in `src`, and `start`, may import all folders. */
const below: Readonly<Record<string, readonly string[]>> = {
  rest: ['http', 'wire', 'domain', 'engine', 'storage', 'entities', 'lib'],
  graphql: ['http', 'wire', 'domain', 'engine', 'storage', 'entities', 'lib'],
  mcp: ['http', 'domain', 'engine', 'storage', 'entities', 'lib'],
  a2a: ['http', 'wire', 'domain', 'engine', 'storage', 'entities', 'lib'],
  oauth: ['http', 'domain', 'entities', 'lib'],
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
/** The districts of a layer: each uses itself and those before it. Files directly in a layer put its districts together. */
const districts = ['ground', 'people', 'agents', 'knowledge', 'conversations', 'operations'];
const inDistricts = ['domain', 'graphql', 'rest/routes', 'storage'];
/** What stands beside the districts, by layer: it is no noun. */
const besideDistricts: Readonly<Record<string, readonly string[]>> = {
  graphql: ['graphiql', 'server'],
  storage: ['blobs', 'generated', 'move', 'vault'],
};
const entriesMax = 20;
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

  it.each(inDistricts)('go down the districts only in %s: no noun uses one of a district above its own', (layer) => {
    const pairs = imports.map(({ file, target }) => ({ file, target, pair: folderPair(layer, file, target)[0] }));
    const climbs = pairs.filter(({ pair: [from = '', to = ''] = [] }) => {
      return districts.includes(from) && districts.indexOf(to) > districts.indexOf(from);
    });
    expect(climbs.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
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

describe('folders', () => {
  it.each(inDistricts)('of %s are the districts, and nothing else but what is listed', (layer) => {
    const folders = readdirSync(join(source, layer), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const strays = folders.map(({ name }) => name).filter((name) => !districts.includes(name));
    expect(strays.sort()).toEqual(besideDistricts[layer] ?? []);
  });

  it.each(['src', 'test', 'bench', 'scripts'])('of %s hold at most 20 entries each', (top) => {
    const root = join(source, '..', top);
    const all = readdirSync(root, { recursive: true, withFileTypes: true }).filter(({ name, parentPath }) => {
      return name !== 'node_modules' && !/node_modules|generated|fixtures|decisions/.test(parentPath);
    });
    const sizes = Map.groupBy(all, ({ parentPath }) => relative(root, parentPath));
    expect([...sizes].filter(([, entries]) => entries.length > entriesMax).map(([folder]) => folder)).toEqual([]);
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
