import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';
import { listCases } from './list-cases.ts';
import { fillLists, idOf } from './list-rows.ts';
import { watchStatements } from './watched-statements.ts';

/**
 * What the lists of the product read in a database with a million rows: buffers (8 kB) of all statements of a request, for the first request of a
 * connection and after ten repeats, when PostgreSQL may have planned a prepared statement for any values. Behind them: how many statements, and the most that
 * one of them read, which has the mark `!` above 3,000.
 *
 * `DATABASE_URL=postgres://… node bench/growth/lists.ts [name]`: a role that may make databases and load auto_explain, on a server that nobody else
 * uses. Takes some five minutes; `KEEP=1` keeps the database for the next time. A name measures only the cases that contain it, and prints their plans
 * with `PLANS=1`.
 */
const { DATABASE_URL, KEEP, PLANS } = process.env;
if (DATABASE_URL === undefined) throw new Error('DATABASE_URL names the server');
const adminKey = 'pk-bench-administrator-key-of-40-characters';
const buffersMax = 3_000;
const name = 'parley_growth_lists';
// A kept database knows its folder again.
const folder = join(tmpdir(), 'parley-growth-lists');
await mkdir(folder, { recursive: true });
const address = new URL(DATABASE_URL);
address.pathname = name;

const server = new Client({ connectionString: DATABASE_URL });
await server.connect();
const { rowCount: isKept } = await server.query('select from pg_database where datname = $1', [name]);
if (isKept === 0) await server.query(`create database ${name}`);
try {
  await measure();
} finally {
  if (KEEP === undefined) {
    await server.query(`drop database ${name} with (force)`);
    await rm(folder, { recursive: true, force: true });
  }
  await server.end();
}

async function measure() {
  const settings = loadSettings({
    ...{ PORT: '0', DATA_DIR: folder, DATABASE_URL: address.href, DATABASE_POOL_MAX: '4', DEMO: 'off' },
    ...{ PARLEY_ADMIN_KEY: adminKey, PARLEY_MASTER_KEY: 'a master key for measurements only', LOG_LEVEL: 'error' },
  });
  const service = await startService(settings, createLogger({ ...settings, LOG_LEVEL: 'silent' }), (error) => {
    throw error;
  });
  try {
    const { storage } = service.deps;
    const { rows } = await storage.db.pool.query(
      'select id as "orgId", "tenantId" from organizations order by "createdAt" limit 1',
    );
    if (isKept === 0) {
      const filling = new Client({ connectionString: address.href });
      await filling.connect();
      await fillLists(filling, rows[0]);
      await filling.end();
    }
    const person = await addKey(rows[0]);
    const watched = await watchStatements(storage.db.pool);
    const only = process.argv[2] ?? '';
    for (const { name: title, document, variables, isAdmin } of listCases.filter((one) => one.name.includes(only))) {
      const ask = async () => {
        const reply = await fetch(`${service.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${isAdmin ? adminKey : person}` },
          body: JSON.stringify({ query: document, variables }),
        });
        const { errors } = (await reply.json()) as { errors?: unknown };
        if (errors !== undefined) console.error(title, JSON.stringify(errors).slice(0, 300));
        return watched.take();
      };
      const first = await ask();
      let last = first;
      for (let repeat = 0; repeat < 10; repeat += 1) last = await ask();
      const worst = last.statements.toSorted((a, b) => b.buffers - a.buffers)[0];
      const most = Math.max(0, ...[...first.statements, ...last.statements].map(({ buffers }) => buffers));
      const mark = most > buffersMax ? ' !' : '';
      console.log(
        [title.padEnd(60), first.buffers, last.buffers, last.statements.length, most, `${last.ms.toFixed(0)} ms${mark}`].join(
          '\t',
        ),
      );
      if (PLANS !== undefined) console.log(worst?.plan);
    }
  } finally {
    await service.close(1_000);
  }

  async function addKey({ orgId }: { readonly orgId: string }): Promise<string> {
    const { hashSecret, keyPrefix, makeKeySecret } = await import('../../src/entities/people/api-key.ts');
    const { scopes } = await import('../../src/entities/people/caller.ts');
    const secret = makeKeySecret();
    await service.deps.storage.db.pool.query(
      `insert into api_keys (id, "updatedAt", "orgId", "userId", name, scopes, prefix, hash) values ($1, now(), $2, $3, 'Measured', $4, $5, $6)`,
      [service.deps.newId('apiKey'), orgId, idOf('user', 1), scopes, keyPrefix(secret), hashSecret(secret)],
    );
    return secret;
  }
}
