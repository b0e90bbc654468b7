import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../processes/eventually.ts';
import { freePort } from '../processes/free-port.ts';

const run = promisify(execFile);

/** A PgBouncer of one test in front of the test server. */
export interface PgBouncer {
  /** The URL of a database through it. */
  url(directUrl: string): string;
  close(): Promise<void>;
}

/** @returns the version of the program; undefined where it is not installed. */
export async function pgBouncerVersion(): Promise<string | undefined> {
  return run('pgbouncer', ['--version']).then(
    ({ stdout }) => /PgBouncer (\S+)/.exec(stdout)?.[1],
    () => undefined,
  );
}

/** Whether a version keeps prepared statements in transaction mode, unless `max_prepared_statements` is 0. */
export function keepsPrepared(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || minor >= 21;
}

/** @param more  further lines of its settings. */
export async function startPgBouncer(
  serverUrl: string,
  poolMode: 'transaction' | 'statement',
  more: readonly string[] = [],
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-pgbouncer-'));
  const port = await freePort();
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const user = decodeURIComponent(username);
  writeFileSync(join(folder, 'users.txt'), `"${user}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort === '' ? '5432' : serverPort}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
      `auth_type = trust\nauth_file = ${join(folder, 'users.txt')}`,
      `pool_mode = ${poolMode}\ndefault_pool_size = 8\nmax_client_conn = 200`,
      ...more,
    ].join('\n'),
  );
  // PgBouncer does not run as root.
  chmodSync(folder, 0o755);
  const isRoot = process.getuid?.() === 0;
  const child = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), join(folder, 'pgbouncer.ini')]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  await eventually(() => reach(port, child, () => output));
  return {
    url(directUrl) {
      const url = new URL(directUrl);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    async close() {
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        await once(child, 'close');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function reach(port: number, child: ChildProcess, output: () => string): Promise<void> {
  if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${output()}`, { cause: 'final' });
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
