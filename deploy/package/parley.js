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

/** As `npm start` of a clone does. */
function start() {
  const main = fileURLToPath(new URL('./src/main.js', import.meta.url));
  const child = spawn(process.execPath, ['--max-semi-space-size=32', '--max-old-space-size=2000', main], {
    env: { MALLOC_ARENA_MAX: '2', ...process.env },
    stdio: 'inherit',
  });
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
