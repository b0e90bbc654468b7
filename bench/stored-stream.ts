import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { Row } from './completions/completions.ts';
import { cores, start } from './completions/processes.ts';
import { call, startOnServer } from './support/service.ts';

/** The most that one stored stream of 200 deltas may cost. */
const statementsMax = 80;
const walBytesMax = 70_000;
const passes = 3;
const idleMs = 10_000;
const model = 'openai/paced-200-20';

interface Cost {
  readonly statements: number;
  readonly walBytes: number;
}

/**
 * Measures what one stored stream of 200 deltas, one every 20 ms, costs a PostgreSQL server: statements (BEGIN and COMMIT are some) and bytes of its
 * write-ahead log, for a message of a chat and for a response. What the service does in the same time without a stream (jobs, signals) is
 * subtracted. `raw` is what a stream may cost. Needs `DATABASE_URL`: a server that nobody else uses, on which a database is made and dropped.
 */
export async function benchStoredStream(): Promise<readonly Row[]> {
  const { DATABASE_URL } = process.env;
  if (DATABASE_URL === undefined) {
    console.error('stored stream: not measured, because DATABASE_URL names no PostgreSQL server');
    return [];
  }
  const server = new Client({ connectionString: DATABASE_URL });
  await server.connect();
  const name = `parley_bench_${process.pid}`;
  await server.query(`create database ${name}`);
  const address = new URL(DATABASE_URL);
  address.pathname = name;
  try {
    return await measure(address.href, server);
  } finally {
    await server.query(`drop database ${name} with (force)`);
    await server.end();
  }
}

async function measure(databaseUrl: string, server: Client): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-stored-'));
  const upstream = await start<{ url: string }>('upstream.ts', [], cores.load);
  const counter = await countStatements(databaseUrl);
  const service = await startOnServer({ folder, databaseUrl: counter.url, modelsUrl: upstream.ready.url });
  /** The cost of some work, less what the service does by itself in that time. */
  const costOf = async (work: () => Promise<unknown>, idlePerMs: Cost = { statements: 0, walBytes: 0 }): Promise<Cost> => {
    const walBefore = await walOf(server);
    counter.take();
    const startedMs = performance.now();
    await work();
    const tookMs = performance.now() - startedMs;
    const statements = counter.take();
    const walBytes = (await walOf(server)) - walBefore;
    return { statements: statements - idlePerMs.statements * tookMs, walBytes: walBytes - idlePerMs.walBytes * tookMs };
  };
  try {
    const agent = { src: '', name: 'Bench', description: '', instructions: 'Be brief.', modelId: model };
    const { id: agentId } = (await (await call(`${service.url}/api/v1/ais`, agent)).json()) as { id: string };
    const chat = await call(`${service.url}/api/v1/ais/${agentId}/chats`, {});
    const { id: chatId } = (await chat.json()) as { id: string };
    const requests = [
      { what: 'message of a chat', path: `/api/v1/chats/${chatId}/messages`, body: { prompt: 'Hello', stream: true } },
      { what: 'response', path: '/api/v1/responses', body: { model, input: 'Hello', stream: true } },
    ];
    const send = async (path: string, body: object) => (await call(`${service.url}${path}`, body)).text();
    // The first of each prepares statements and pages.
    for (const { path, body } of requests) await send(path, body);
    const idle = await costOf(() => wait(idleMs));
    const idlePerMs = { statements: idle.statements / idleMs, walBytes: idle.walBytes / idleMs };
    const rows: Row[] = [];
    for (const { what, path, body } of requests) {
      const costs: Cost[] = [];
      for (let pass = 0; pass < passes; pass += 1) costs.push(await costOf(() => send(path, body), idlePerMs));
      const least = (key: keyof Cost) => Math.min(...costs.map((cost) => cost[key]));
      const name = `stored stream of 200 deltas, ${what}`;
      const floor = { ratioMax: 1 };
      const note = `beside ${(idlePerMs.statements * 1000).toFixed(1)} statements a second of an idle service`;
      rows.push({ name: `${name}: statements`, raw: statementsMax, ours: least('statements'), unit: '', floor, note });
      rows.push({ name: `${name}: WAL`, raw: walBytesMax / 1000, ours: least('walBytes') / 1000, unit: 'kB', floor });
    }
    return rows;
  } finally {
    await service.close(1_000);
    counter.close();
    await upstream.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function walOf(server: Client): Promise<number> {
  const { rows } = await server.query<{ bytes: string }>(`select pg_current_wal_insert_lsn() - '0/0' as bytes`);
  return Number(rows[0]?.bytes);
}

interface StatementCounter {
  /** The address of the database, through the counter. */
  readonly url: string;
  /** The number of statements since the last call. */
  take(): number;
  close(): void;
}

/** A proxy in front of a PostgreSQL server: counts what the server is asked to execute, by either protocol. */
async function countStatements(databaseUrl: string): Promise<StatementCounter> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  let count = 0;
  const proxy = createServer((client) => {
    const database = connect(Number(target.port === '' ? 5432 : target.port), target.hostname);
    client.on(
      'data',
      statementReader(() => {
        count += 1;
      }),
    );
    client.pipe(database).pipe(client);
    for (const socket of [client, database]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const proxied = new URL(databaseUrl);
  proxied.hostname = '127.0.0.1';
  proxied.port = String((proxy.address() as AddressInfo).port);
  return {
    url: proxied.href,
    take() {
      const taken = count;
      count = 0;
      return taken;
    },
    close() {
      proxy.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Reads what a client of PostgreSQL's protocol 3 sends; calls `onStatement` for each simple query and each execution. */
function statementReader(onStatement: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  // The first message of a connection has no type.
  let typeBytes = 0;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4) {
      const end = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < end) return;
      const type = typeBytes === 0 ? '' : rest.toString('latin1', 0, 1);
      if (type === 'Q' || type === 'E') onStatement();
      typeBytes = 1;
      rest = rest.subarray(end);
    }
  };
}

if (import.meta.main) {
  for (const { name, raw, ours, unit, note = '' } of await benchStoredStream())
    console.log(`${name}\t${raw} ${unit}\t${ours.toFixed(1)} ${unit}\t${note}`);
  process.exit(0);
}
