import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kind, OperationTypeNode, parse, print } from 'graphql';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { type Service, startService } from '../../src/start/service.ts';
import { type Statement, watchStatements } from '../support/statements.ts';
import { adminKey, caller, makeOrganization } from './organization.ts';

/**
 * `npm run bench:pages`: each page query in an organization of 100,000 messages, runs, documents, audit entries and usage entries. Prints how many
 * statements a page takes, how much processor time (that of the embedded database included, that of a server not), and how many buffers the
 * statement takes that reads most. With `DATABASE_URL`, which names an empty database of a server, it measures that; else the embedded database.
 */
const warmRounds = 20;
const measuredRounds = 60;
const bars = { statements: 9, cpuMs: 30, buffers: 3_000 };
const folder = join(import.meta.dirname, '../../clients/typescript/documents/pages');

const { DATABASE_URL } = process.env;
const dataFolder = await mkdtemp(join(tmpdir(), 'parley-pages-'));
const settings = loadSettings({
  ...{ PORT: '0', DATA_DIR: dataFolder, LOG_LEVEL: 'silent', PARLEY_ADMIN_KEY: adminKey, DEMO: 'off' },
  ...(DATABASE_URL === undefined ? {} : { DATABASE_URL, PARLEY_MASTER_KEY: 'the master key of a benchmark' }),
});
const service = await startService(settings, createLogger(settings), (error) => {
  throw error;
});
let isMet = true;
try {
  const variables = await makeOrganization(service);
  await service.deps.audit.flush();
  console.log(['| page |', 'statements |', 'CPU p50, ms |', 'buffers, largest statement |'].join(' '));
  console.log('| --- | ---: | ---: | ---: |');
  for (const { name, text } of await pageQueries()) {
    const figures = await measure(service, { query: text, variables: variables[name] ?? {} });
    const { statements, cpuMs, buffers } = figures;
    if (statements > bars.statements || cpuMs > bars.cpuMs || buffers.count > bars.buffers) isMet = false;
    console.log(`| ${name} | ${statements} | ${cpuMs.toFixed(1)} | ${buffers.count.toLocaleString('en')} |`);
    if (buffers.count > bars.buffers) console.error(`${name} reads ${buffers.count} buffers: ${buffers.text}`);
  }
} finally {
  await service.close(1_000);
  await rm(dataFolder, { recursive: true, force: true });
}
process.exit(isMet ? 0 : 1);

interface PageFigures {
  readonly statements: number;
  readonly cpuMs: number;
  readonly buffers: { readonly count: number; readonly text: string };
}

async function measure(running: Service, request: object): Promise<PageFigures> {
  const call = caller(running);
  const read = async () => {
    const reply = await call('POST', '/graphql', request);
    if (reply.errors !== undefined) throw new Error(JSON.stringify(reply.errors));
  };
  for (let round = 0; round < warmRounds; round += 1) await read();
  // What the rounds before read of other people's content is looked up behind their replies.
  await running.deps.audit.flush();
  const statements = await watchStatements(running, read);
  const times = [];
  for (let round = 0; round < measuredRounds; round += 1) {
    const before = process.cpuUsage();
    await read();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return { statements: statements.length, cpuMs: median(times), buffers: await largest(running, statements) };
}

/** The statement that reads most, by the plan of the database. */
async function largest({ deps }: Service, statements: readonly Statement[]): Promise<PageFigures['buffers']> {
  let most = { count: 0, text: '' };
  for (const { text, values } of statements) {
    if (!/^\s*(select|with)\b/i.test(text) || /\b(insert|update|delete)\b/i.test(text)) continue;
    const { rows } = await deps.storage.db.pool.query(`explain (analyze, buffers, format json) ${text}`, [...values]);
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    const count = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    if (count > most.count) most = { count, text };
  }
  return most;
}

async function pageQueries(): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const queries = [];
  for (const file of (await readdir(folder)).toSorted()) {
    const { definitions } = parse(await readFile(join(folder, file), 'utf8'));
    const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
    for (const node of definitions) {
      if (node.kind !== Kind.OPERATION_DEFINITION || node.operation !== OperationTypeNode.QUERY) continue;
      queries.push({ name: node.name?.value ?? file, text: [node, ...fragments].map(print).join('\n') });
    }
  }
  return queries;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
