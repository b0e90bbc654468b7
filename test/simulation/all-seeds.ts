import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** `npm run seeds`: ten thousand worlds, over all cores. Ends with the seeds that broke a promise; `SEED=n npm run seeds` replays one. */
const { values } = parseArgs({
  options: { from: { type: 'string', default: '1' }, count: { type: 'string', default: '10000' } },
});
const seeds = fileURLToPath(new URL('seeds.ts', import.meta.url));
/** A process holds what its dead processes left: after so many worlds another one takes over. */
const worldsAtOnce = 100;
let next = Number(values.from);
const end = process.env.SEED === undefined ? next + Number(values.count) : next + 1;
const broken: string[] = [];

await Promise.all(Array.from({ length: availableParallelism() }, liveOn));
console.log(broken.length === 0 ? 'all seeds hold' : `broken: ${broken.join(' ')}`);
process.exit(broken.length === 0 ? 0 : 1);

async function liveOn(): Promise<void> {
  while (next < end) {
    const from = next;
    const count = Math.min(worldsAtOnce, end - from);
    next += count;
    broken.push(...(await live(from, count)));
  }
}

/** @returns the seeds that broke a promise. */
function live(from: number, count: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [seeds, '--from', String(from), '--count', String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
    process.stdout.write(chunk);
  });
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      const named = [...output.matchAll(/^SEED=\d+/gm)].map(([seed]) => seed);
      resolve(code === 0 || named.length > 0 ? named : [`the process of ${from} to ${from + count - 1} ended with ${code}`]);
    });
  });
}
