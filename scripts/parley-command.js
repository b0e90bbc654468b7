#!/usr/bin/env node
// The command `parley` of `npx parley` and `npm link`, from any folder. JavaScript, because it may begin on an older Node: it goes on in the one
// of the packages then. The service's .env and data are found in the folder of Parley; files that a person names, where the person is.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const neededMajor = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const script = join(root, 'scripts', 'parley.ts');
const ofPackages = join(root, 'node_modules', '.bin', 'node');
const typedIn = process.cwd();

if (Number.parseInt(process.versions.node, 10) >= neededMajor) {
  process.env.PARLEY_TYPED_IN = typedIn;
  process.chdir(root);
  await import('./parley.ts');
} else if (existsSync(ofPackages)) goOn();
// Says what is missing, and ends.
else await import('../src/lib/node-version.js');

function goOn() {
  const child = spawn(ofPackages, [script, ...process.argv.slice(2)], {
    cwd: root,
    env: { ...process.env, PARLEY_TYPED_IN: typedIn },
    stdio: 'inherit',
  });
  // A terminal sends Ctrl-C to both; other signals reach this process only.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', (error) => {
    console.error(`${ofPackages} does not start: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('close', (code) => {
    process.exitCode = code ?? 1;
  });
}
