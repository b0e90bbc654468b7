import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Takes `engines` of packages out of package-lock.json: `npm run lock`, after `npm install`. They are what npm compares with the Node that it
 * runs on itself, and it warns of each. Parley and its packages run on the Node 26 that is installed beside them.
 */
const path = 'package-lock.json';
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, { engines?: unknown }> };
for (const [place, entry] of Object.entries(lock.packages)) if (place !== '') delete entry.engines;
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
