import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { displayValue } from '../../lib/text/display-value.ts';
import type { Settings } from '../../settings.ts';
import { checkDataFolder } from '../../storage/ground/embedded/data-folder.ts';
import { FolderInUseError, lockFolder } from '../../storage/ground/embedded/lock.ts';
import { pendingMigrations } from '../../storage/ground/migrations/migrate.ts';
import { openPool } from '../../storage/ground/opening/pool.ts';
import { serverProblem } from '../../storage/ground/opening/server-check.ts';
import { checkSharedFiles } from '../../storage/ground/opening/shared-files.ts';
import { StartRefusal } from '../../storage/ground/opening/start-refusal.ts';
import { refuseUnfinishedMove } from '../../storage/move/progress.ts';
import { type Finding, findCode, good, wrong } from './finding.ts';

const timeoutMs = 5_000;

/** What the operator is told of an error of PostgreSQL or of the way to it: what is the matter, and what to do. */
const reasons: Readonly<Record<string, readonly [string, string]>> = {
  ECONNREFUSED: ['nothing listens there', 'Start the server, or correct DATABASE_URL.'],
  ECONNRESET: ['the connection was cut', 'See whether the server runs, and whether something stands in between.'],
  ENOTFOUND: ['no such host is known', 'Correct the host in DATABASE_URL.'],
  EAI_AGAIN: ['its host could not be looked up', 'See whether names can be looked up here, or correct the host in DATABASE_URL.'],
  ETIMEDOUT: ['no answer came in time', 'See whether the host, the port and the firewalls are right.'],
  EHOSTUNREACH: ['no way leads to its host', 'Correct the host in DATABASE_URL, or the network.'],
  ENETUNREACH: ['no way leads to its host', 'Correct the host in DATABASE_URL, or the network.'],
  ENOENT: ['its socket is not there', 'Start the server, or correct the folder of the socket in DATABASE_URL.'],
  EACCES: ['this process may not use its socket', 'Give its user the right to.'],
  '28P01': ['the password is wrong', 'Correct the user or the password in DATABASE_URL; signs in them are percent-encoded.'],
  '28000': ['the server does not let this user in', 'Correct the user in DATABASE_URL, or allow it in pg_hba.conf.'],
  '3D000': ['that database does not exist', 'Make it (createdb), or correct its name in DATABASE_URL.'],
  '42501': ['the user may not make tables', 'Give the user the right to: GRANT ALL ON SCHEMA public.'],
  '53300': ['the server has no connection left', 'Raise its max_connections, or lower DATABASE_POOL_MAX.'],
  '57P03': ['the server is starting or stopping', 'Try again in a moment.'],
  '53100': ['its disk is full', 'Make room there.'],
  '25006': ['it is read-only', 'Name the primary server in DATABASE_URL.'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is of another name', 'Use the name of the certificate in DATABASE_URL.'],
  SELF_SIGNED_CERT_IN_CHAIN: ['its certificate is not trusted here', 'Name the authority in NODE_EXTRA_CA_CERTS.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is not trusted here', 'Name the authority in NODE_EXTRA_CA_CERTS.'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['its certificate is not trusted here', 'Name the authority in NODE_EXTRA_CA_CERTS.'],
};
const byMessage: readonly (readonly [RegExp, string])[] = [
  [/timeout exceeded|timed out|connection timeout/i, 'ETIMEDOUT'],
  [/Connection terminated|ECONNRESET/, 'ECONNRESET'],
];

/** Why the server of DATABASE_URL cannot be used; undefined when the error is not of a database. */
export function databaseProblem(error: unknown, { DATABASE_URL }: Pick<Settings, 'DATABASE_URL'>): Finding | undefined {
  if (DATABASE_URL === undefined || !(error instanceof Error)) return undefined;
  const at = `The database ${displayValue('DATABASE_URL', DATABASE_URL)}`;
  const code = findCode(error);
  const knownReason = reasons[code ?? ''] ?? reasons[byMessage.find(([pattern]) => pattern.test(error.message))?.[1] ?? ''];
  if (knownReason !== undefined) return wrong('database', `${at} cannot be used: ${knownReason[0]}.`, knownReason[1]);
  if (/SSL|password must be a string|Invalid URL/.test(error.message)) {
    return wrong('database', `${at} cannot be used: ${displayValue('DATABASE_URL', error.message)}.`, 'Correct DATABASE_URL.');
  }
  // SQLSTATE: everything else that PostgreSQL itself says.
  return /^[0-9A-Z]{5}$/.test(code ?? '')
    ? wrong('database', `${at} refuses (${code}): ${displayValue('DATABASE_URL', error.message)}.`)
    : undefined;
}

/** Whether the database could be opened. Changes nothing in it. */
export async function checkDatabase(settings: Settings): Promise<Finding> {
  return settings.DATABASE_URL === undefined ? checkEmbedded(settings) : checkServer(settings);
}

async function checkServer(settings: Settings): Promise<Finding> {
  const config = {
    connectionString: settings.DATABASE_URL,
    max: 2,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  };
  try {
    const pool = openPool(config, { onLost: () => undefined });
    try {
      const problem = await serverProblem(pool, { prepares: settings.DATABASE_PREPARED_STATEMENTS === 'on' });
      if (problem !== undefined) return wrong('database', `The database (DATABASE_URL) cannot be used: ${problem}`);
      await refuseUnfinishedMove(pool);
      const { rows } = await pool.query<{ version: string }>(
        "select split_part(current_setting('server_version'), ' ', 1) as version",
      );
      const filesProblem = await checkSharedFiles(settings, pool);
      if (filesProblem !== undefined) return wrong('files', filesProblem);
      const pending = await pendingMigrations(pool);
      const todo = pending.length === 0 ? '' : `; the next start applies ${pending.length} migration(s)`;
      return good('database', `PostgreSQL ${rows[0]?.version} answers${todo}.`);
    } finally {
      await pool.end();
    }
  } catch (error) {
    if (error instanceof StartRefusal) return wrong('database', error.message);
    return (
      databaseProblem(error, settings) ??
      wrong('database', `The database cannot be used: ${displayValue('DATABASE_URL', String(error))}.`, 'Correct DATABASE_URL.')
    );
  }
}

function checkEmbedded({ DATA_DIR }: Settings): Finding {
  const folder = resolve(DATA_DIR);
  if (!existsSync(join(folder, 'database'))) return good('database', `The first start makes the embedded database in ${folder}.`);
  try {
    lockFolder(folder)();
    checkDataFolder(folder);
    return good('database', `The embedded database is in ${folder}.`);
  } catch (error) {
    if (error instanceof FolderInUseError) return good('database', `Parley is running on the embedded database in ${folder}.`);
    if (error instanceof StartRefusal) return wrong('database', error.message);
    return wrong('database', `The embedded database in ${folder} cannot be opened (${findCode(error) ?? String(error)}).`);
  }
}
