import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';

const dist = join(import.meta.dirname, '../../../console/dist');
const firstLoadMaxBytes = 180 * 1024;
const screenMaxBytes = 260 * 1024;

interface Chunk {
  readonly file: string;
  readonly src?: string;
  readonly imports?: readonly string[];
}
let chunks: Readonly<Record<string, Chunk>>;

beforeAll(() => {
  chunks = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8'));
});

/** The scripts that come with a chunk: itself and what it imports at once. */
function scriptsOf(name: string, found = new Set<string>()): Set<string> {
  const chunk = chunks[name];
  if (chunk === undefined || found.has(name)) return found;
  found.add(name);
  for (const imported of chunk.imports ?? []) scriptsOf(imported, found);
  return found;
}

const gzippedBytes = (names: Iterable<string>) =>
  [...names]
    .map((name) => gzipSync(readFileSync(join(dist, chunks[name]?.file ?? ''))).length)
    .reduce((sum, bytes) => sum + bytes, 0);

describe('the weight of the console', () => {
  it('is at most 180 KB of script, gzipped, before the first screen, and 260 KB with any screen', () => {
    const first = scriptsOf('index.html');
    const firstBytes = gzippedBytes(first);
    const screens = Object.keys(chunks).filter((name) => /^src\/screens\/[a-z-]+\/[A-Z]\w+\.tsx$/.test(name));
    const weights = screens.map((name) => [name, gzippedBytes(new Set([...first, ...scriptsOf(name)]))] as const);
    const lines = [['first load', firstBytes] as const, ...weights].map(
      ([name, bytes]) => `${name} ${(bytes / 1024).toFixed(1)} KB`,
    );
    process.stdout.write(`console weight: ${lines.join(', ')}\n`);
    expect(firstBytes).toBeGreaterThan(50 * 1024);
    expect(firstBytes).toBeLessThanOrEqual(firstLoadMaxBytes);
    expect(weights.length).toBeGreaterThanOrEqual(6);
    expect(weights.filter(([, bytes]) => bytes > screenMaxBytes)).toEqual([]);
  });
});
