import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { processScreen } from './output/screen.ts';
import { runCommand } from './run.ts';

if (existsSync('.env')) process.loadEnvFile('.env');
const words = process.argv.slice(2);
const {
  INIT_CWD,
  npm_lifecycle_event: script,
  PARLEY_TYPED_IN: typedIn = script === 'parley' ? INIT_CWD : undefined,
} = process.env;
// npm and parley-command.js run this in the folder of Parley, which is right for its data; the files that a person names are where the person is.
const isOfInstallation =
  words.includes('--local') || ['secrets', 'doctor', 'move', 'search-index', 'upgrade'].includes(words[0] ?? '');
if (typedIn !== undefined && !isOfInstallation) process.chdir(typedIn);
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // A second signal ends the process at once.
    if (ending.signal.aborted) process.exit(1);
    ending.abort();
  });
}
// Whoever reads the output may leave early, like `head`.
process.stdout.on('error', () => process.exit(0));
process.exitCode = await runCommand(words, process.env, processScreen(process.env), ending.signal);
// What was written leaves first. An embedded database leaves a worker behind that would keep the process waiting.
for (const stream of [process.stdout, process.stderr]) while (stream.writableLength > 0) await wait(5);
process.exit();
