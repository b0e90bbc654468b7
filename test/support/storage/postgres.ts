import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../processes/free-port.ts';
import { processesBelow } from '../processes/process-table.ts';

const run = promisify(execFile);
const programs = '/usr/lib/postgresql';
const user = 'postgres';

/** A PostgreSQL server of one test, which may stop it in several ways. */
export interface OwnPostgres {
  /** The URL of its database `postgres`. */
  readonly url: string;
  /** Ends every connection in the middle of its work, and restarts with a recovery from the write-ahead log. */
  crashAndRestart(): Promise<void>;
  /** Stops all its processes where they are; connections stay open and nothing answers. */
  freeze(): void;
  thaw(): void;
  /** Restarts as a standby: it answers, and only reads. */
  restartAsStandby(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The folder with `initdb`, `pg_ctl` and `postgres` of PostgreSQL 18, which Debian 12 has no package of: `.ci/run` unpacks it and names it in
 * POSTGRES_18_BIN. Undefined when it is not there.
 */
export const postgres18 = process.env.POSTGRES_18_BIN;

/**
 * @param bin  the folder with the programs; the newest of the machine when it is not given.
 * @throws Error when this machine has no PostgreSQL programs. A machine that tests on a server has them.
 */
export async function startOwnPostgres(bin = newestPrograms()): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-postgres-'));
  const asServer = await serverAccount(folder);
  const data = join(folder, 'data');
  const port = await freePort();
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=100 -c shared_buffers=32MB`;
  const control = (...words: readonly string[]) =>
    asServer(join(bin, 'pg_ctl'), '-D', data, '-l', join(folder, 'log'), '-w', ...words);
  await asServer(
    join(bin, 'initdb'),
    '-D',
    data,
    '-U',
    'parley',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  );
  await control('-o', options, 'start');
  const signal = (name: NodeJS.Signals) => {
    const server = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    // Each connection has a process of its own below the server's.
    for (const id of [server, ...processesBelow(server).map((one) => one.id)]) process.kill(id, name);
  };
  return {
    url: `postgres://parley@127.0.0.1:${port}/postgres`,
    crashAndRestart: () => control('-o', options, '-m', 'immediate', 'restart'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async restartAsStandby() {
      await control('-m', 'fast', 'stop');
      await asServer('touch', join(data, 'standby.signal'));
      await control('-o', options, 'start');
    },
    async close() {
      await control('-m', 'immediate', 'stop').catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function newestPrograms(): string {
  const versions = existsSync(programs) ? readdirSync(programs) : [];
  const found = versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(programs, version, 'bin'));
  const bin = found.find((folder) => existsSync(join(folder, 'postgres')));
  if (bin === undefined) throw new Error(`no PostgreSQL programs below ${programs}: install the package postgresql`);
  return bin;
}

/** The server refuses to run as root. @returns a function that runs a program as a user who may. */
async function serverAccount(folder: string) {
  if (process.getuid?.() !== 0) return (program: string, ...words: readonly string[]) => quietly(program, words);
  const ids = await Promise.all(['-u', '-g'].map((which) => run('id', [which, user])));
  const [uid = 0, gid = 0] = ids.map(({ stdout }) => Number(stdout));
  chownSync(folder, uid, gid);
  return (program: string, ...words: readonly string[]) => quietly('runuser', ['-u', user, '--', program, ...words]);
}

/** Does not wait for the output to close: the server that `pg_ctl` starts keeps it open. */
async function quietly(program: string, words: readonly string[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = execFile(program, words, { timeout: 60_000 });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ${words.join(' ')} ended with ${code}`))));
  });
}
