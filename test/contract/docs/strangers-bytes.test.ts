import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadedModules, packagesOf } from '../../support/source/graph.ts';

/** docs/strangers-bytes.md lists where bytes of strangers are read. A reader that nobody listed fails here. */
const page = readFileSync('docs/strangers-bytes.md', 'utf8');
const modules = loadedModules();
const reader = 'src/engine/knowledge/extract/child.ts';
const entries: Readonly<Record<string, string>> = {
  service: 'src/main.js',
  'reader process': reader,
  'web reader process': 'src/engine/knowledge/connectors/web-reader-process.ts',
  'export reader process': 'src/engine/imports/reader-program.ts',
  'program process': 'src/engine/tools/code/box/child.ts',
  'spreadsheet process': 'src/engine/tools/spreadsheet/process/child.ts',
};
/** Packages, or their use in one file, that read no bytes of strangers, or are listed in another way. Whatever else is loaded must be listed. */
const others: ReadonlySet<string> = new Set([
  // The database, and members of requests that were read before.
  ...[
    '@prisma/adapter-pg',
    '@prisma/client',
    '@electric-sql/pglite',
    '@electric-sql/pglite-pgvector',
    '@electric-sql/pglite-prepopulatedfs',
    'pg',
    'pg-boss',
    '@redis/client',
    'dataloader',
  ],
  ...[
    '@pothos/core',
    '@pothos/plugin-dataloader',
    '@pothos/plugin-scope-auth',
    'graphql-sse',
    'graphql-yoga',
    '@graphql-yoga/plugin-csrf-prevention',
    '@graphql-yoga/plugin-graphql-sse',
    '@graphql-yoga/plugin-persisted-operations',
    '@pothos/plugin-complexity',
    '@envelop/core',
    '@escape.tech/graphql-armor-max-aliases',
    '@escape.tech/graphql-armor-max-depth',
    '@escape.tech/graphql-armor-max-directives',
    'lru-cache',
  ],
  ...['express', 'zod', '@opentelemetry/api', 'pino', 'pino-pretty', 'prom-client', '@ai-sdk/provider'],
  // Pages of the service itself, and checksums.
  ...[
    '@graphql-yoga/render-graphiql',
    'swagger-ui-dist',
    'marked',
    'node:zlib http/reply/static.ts',
    'node:zlib entities/people/api-key.ts',
  ],
  ...['new-database.ts', 'prepared-database.ts'].flatMap((file) =>
    ['node:zlib', 'modern-tar'].map((name) => `${name} storage/ground/embedded/${file}`),
  ),
  // GraphQL documents have a row of their own; the other table has the files that take in bodies.
  ...['graphql', 'undici'],
  // They speak to servers of the operator: the store of files, and the collector of traces.
  ...['@aws-sdk/client-s3', '@aws-sdk/lib-storage', '@smithy/node-http-handler'],
  ...['@opentelemetry/context-async-hooks', '@opentelemetry/core', '@opentelemetry/exporter-trace-otlp-http'],
  ...['@opentelemetry/resources', '@opentelemetry/sdk-trace'],
  // They get replies that the client of vendors has read.
  ...['@octokit/auth-app', '@octokit/request', 'oauth4webapi'],
  // It hands on a token that this service has fetched.
  'google-auth-library',
]);

describe('the list of places where bytes of strangers are read', () => {
  it('has every library that reads them, in its process and its files', () => {
    const loaded = Object.entries(entries).flatMap(([process, entry]) =>
      [...packagesOf(modules, entry)]
        .filter(([name]) => name === 'node:zlib' || !(name.startsWith('node:') || others.has(name)))
        .map(([name, files]) => [name, files.map(shortName).filter((file) => !others.has(`${name} ${file}`))] as const)
        .filter(([, files]) => files.length > 0)
        .map(([name, files]) => `${name} | ${process} | ${files.toSorted().join(', ')}`),
    );
    expect(loaded.toSorted()).toEqual(rowsBelow('| library | process | files |').toSorted());
  });

  it('has every file that takes in the bodies of other servers', () => {
    const takesBodies =
      /\begress\??\.(?:send|receive)\(|\bvendors\.(?:send|download|receive)\(|^import (?!type)[^;]* from '(?:undici|[./]*\/egress\/dispatchers\.ts)'/m;
    // It makes clients for the others, and reads nothing itself.
    const maker = 'src/engine/egress/dispatchers.ts';
    const files = [...modules.keys()].filter((file) => !file.endsWith(maker) && takesBodies.test(readFileSync(file, 'utf8')));
    const listed = rowsBelow('| file | bodies of | read by |').map((row) => row.split(' | ')[0] ?? '');
    expect(files.map(shortName).toSorted()).toEqual(listed.toSorted());
  });

  it('is of processes that load the libraries of documents only there', () => {
    const service = packagesOf(modules, entries.service ?? '');
    const ofReader = [...packagesOf(modules, reader).keys()].filter((name) => !name.startsWith('node:'));
    // The storage format of Confluence is read by the service, in bounded time.
    expect(ofReader.filter((name) => service.has(name) && !others.has(name))).toEqual(['htmlparser2']);
  });
});

const shortName = (file: string) => file.replace('src/', '');

/** Rows of the table with this head, without marks. */
function rowsBelow(head: string): readonly string[] {
  if (!page.includes(head)) throw new Error(`processes.md has no table ${head}`);
  const lines = page.slice(page.indexOf(head)).split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) => line.replaceAll('`', '').slice(2, -2));
}
