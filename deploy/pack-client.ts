import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Makes `build/parley-client-<version>.tgz`, the typed client: `npm run pack:client`. Its packages must be installed (`npm --prefix clients/typescript ci`). */
const build = join(import.meta.dirname, '../build');
mkdirSync(build, { recursive: true });
const client = join(import.meta.dirname, '../clients/typescript');
// npm runs no script of ours while it packs: .npmrc.
execFileSync('npm', ['run', 'build'], { cwd: client, stdio: 'inherit' });
const made = execFileSync('npm', ['pack', '--silent', '--pack-destination', build], { cwd: client, encoding: 'utf8' });
console.log(`build/${made.trim().split('\n').at(-1)}`);
