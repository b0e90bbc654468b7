#!/usr/bin/env node
// The command `parley` of the package. Without words, or with `start`, it is the service, with its data in the folder where it is typed; else one of
// the commands that `parley help` lists.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import './src/lib/node-version.js';

const [word, ...more] = process.argv.slice(2);
if (word !== undefined && word !== 'start') await import('./scripts/parley.js');
else if (more.length > 0) {
  console.error(
    `"parley start" takes nothing behind it, not "${more[0]}": settings are variables of the environment, or stand in .env.`,
  );
  process.exitCode = 2;
} else start();

/**
 * As `npm start` of a clone does. Where the system can, the service takes the place of this process, as with `exec` of a shell: a process that only waits
 * would hold memory as long as the service runs. Windows cannot.
 */
function start() {
  const main = fileURLToPath(new URL('./src/main.js', import.meta.url));
  const words = ['--max-semi-space-size=32', '--max-old-space-size=2000', main];
  const env = { MALLOC_ARENA_MAX: '8', MALLOC_TRIM_THRESHOLD_: '1048576', ...process.env };
  if (process.platform !== 'win32') process.execve(process.execPath, [process.execPath, ...words], env);
  const child = spawn(process.execPath, words, { env, stdio: 'inherit' });
  // A terminal sends Ctrl-C to both; other signals reach this process only.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`Parley does not start: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('close', (code) => {
    process.exitCode = code ?? 1;
  });
}
