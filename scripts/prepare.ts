import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Makes what is generated and not in the repository: the Prisma client. Runs before the npm scripts that need it, so that
 * `npm ci --ignore-scripts` suffices; skips in milliseconds when nothing changed.
 */
const stampPath = 'src/storage/generated/.stamp';
const inputs = ['prisma/schema.prisma', 'package-lock.json'];
const stamp = inputs.reduce((hash, path) => hash.update(readFileSync(path)), createHash('sha256')).digest('hex');

if (!existsSync(stampPath) || readFileSync(stampPath, 'utf8') !== stamp) {
  // Its chatter is kept back; when it fails, execFileSync throws with all of it.
  execFileSync(process.execPath, ['node_modules/prisma/build/index.js', 'generate'], { stdio: ['ignore', 'pipe', 'pipe'] });
  writeFileSync(stampPath, stamp);
}
