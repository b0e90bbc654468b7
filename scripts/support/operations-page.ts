import { globSync, readFileSync } from 'node:fs';
import type { GraphQLSchema } from 'graphql';
import { compileRoutes, type Route } from '../../src/rest/compile.ts';
import type { DeclaredRoute } from '../../src/rest/route.ts';

/** One operation of both APIs. */
export interface OperationLine {
  /** The contract's name of the operation; '' for an operation that the contract does not have. */
  readonly contract: string;
  /** `GET /api/v1/ais`, or '' for an operation of GraphQL only. */
  readonly rest: string;
  /** `Query.agents`. */
  readonly graphql: string;
  /** A test that calls the operation; every operation has at least the authorization matrix. */
  readonly test: string;
}

/** Calls every operation, so it is named only for operations that no other test calls. */
const everyOperation = 'test/contract/authorization/matrix.test.ts';

interface Source {
  readonly path: string;
  readonly text: string;
}

/** Every operation: the routes in their order, then the operations of GraphQL only. */
export function operationLines(schema: GraphQLSchema, rows: readonly DeclaredRoute[], folder: string): readonly OperationLine[] {
  const routes = compileRoutes(schema, rows);
  const tests = testSources(folder);
  const ofRows = routes.map((route) => {
    const { row } = route;
    const graphql = rootFieldOf(route);
    const test = testOf(tests, row, graphql);
    return { contract: row.spec ?? '', rest: `${row.method.toUpperCase()} ${row.path}`, graphql, test };
  });
  const covered = new Set(ofRows.map(({ graphql }) => graphql));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const names = roots.flatMap((root) => Object.keys(root?.getFields() ?? {}).map((field) => `${root?.name ?? ''}.${field}`));
  const others = names.filter((name) => !covered.has(name));
  return [...ofRows, ...others.map((graphql) => ({ contract: '', rest: '', graphql, test: testOf(tests, undefined, graphql) }))];
}

/** The text of docs/operations.md. */
export function operationsPage(lines: readonly OperationLine[], missing: Readonly<Record<string, string>>): string {
  const rows = lines.map(({ contract, rest, graphql, test }) => `| ${contract} | ${code(rest)} | ${code(graphql)} | ${test} |`);
  const gaps = Object.entries(missing).map(([name, reason]) => `- ${name}: ${reason}`);
  return [
    '# Operations',
    '',
    'Every operation of Parley: its name in the contract (empty for additions), its REST route, its GraphQL field, and a',
    'test that calls it. Both APIs run the same resolver. `test/contract/authorization` calls each operation as every kind of caller.',
    '',
    '| operation of the contract | REST | GraphQL | test |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    ...(gaps.length === 0 ? [] : ['Not there yet:', '', ...gaps, '']),
    'This page is printed from the routes in `src/rest/routes`, the schema and the tests by `npm run operations`.',
    '',
  ].join('\n');
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

function rootFieldOf({ main }: Route): string {
  return `${main.rootType.name}.${main.rootField.name}`;
}

/** Tests of the APIs come first. */
function testSources(folder: string): readonly Source[] {
  const order = ['test/api/', 'test/contract/', 'test/'];
  const rank = (path: string) => order.findIndex((prefix) => path.startsWith(prefix));
  return globSync('test/**/*.test.ts', { cwd: folder })
    .filter((path) => !path.startsWith('test/contract/authorization/'))
    .toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .map((path) => ({ path, text: readFileSync(`${folder}/${path}`, 'utf8') }));
}

/**
 * The first test that calls the operation. Tests of the same noun come first, also those that put the path together from parts, so the page changes
 * little when tests change.
 */
function testOf(sources: readonly Source[], row: DeclaredRoute | undefined, graphql: string): string {
  const noun = row === undefined ? undefined : nounOf(row.tag);
  const related = sources.filter(({ path }) => noun !== undefined && path.includes(`/${noun}`));
  const found =
    (row === undefined
      ? undefined
      : (firstWith(related, callOf(row)) ?? firstWith(related, partOf(row)) ?? firstWith(sources, callOf(row)))) ??
    firstWith(sources, fieldOf(graphql));
  return found ?? everyOperation;
}

/** For example `data-source` for the tag Data sources, to find test/api/knowledge/data-source-kinds.test.ts. */
function nounOf(tag: string): string {
  const noun = tag.toLowerCase().replaceAll(' ', '-').replace(/s$/, '');
  return noun.startsWith('agent-') ? 'agent' : noun;
}

/** Matches the last word of the path. */
function partOf({ path }: DeclaredRoute): RegExp {
  const word = path.split('/').findLast((segment) => !segment.startsWith('{')) ?? '';
  return new RegExp(`[/'"\`]${escaped(word)}\\b`);
}

/** Matches a call of the route: its method, then its path, or the end of the path after a variable, with any text in place of ids. */
function callOf({ method, path }: DeclaredRoute): RegExp {
  const parts = path.split(/\{[^}]*\}/).map(escaped);
  const whole = parts.join('[^/`\'"\\s]+');
  const tail = parts.length > 1 ? (parts.at(-1) ?? '') : '';
  const target = tail === '' ? whole : `(?:${whole}|\\$\\{[^}]*\\}${tail})`;
  return new RegExp(`\\b(?:${method}\\(|(?:call|fetch|stream|sse)\\(\\s*'${method.toUpperCase()}',)\\s*[\`'"]${target}[\`'"?]`);
}

/** Matches a selection of the root field in a document. */
function fieldOf(name: string): RegExp {
  return new RegExp(`\\{\\s*(?:\\w+: )?${name.split('.').at(-1) ?? ''}\\s*[({]`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function firstWith(sources: readonly Source[], pattern: RegExp): string | undefined {
  return sources.find(({ text }) => pattern.test(text))?.path;
}
