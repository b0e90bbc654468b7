import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { findFaults, readState } from './oracle.ts';
import { SimulatedServer } from './world/server.ts';
import { Timeline } from './world/timeline.ts';
import { World, worldKinds } from './world/world.ts';

/** Lives through worlds, one a seed, and tells which of them broke a promise. See test/simulation/README.md. */

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    /** Seeds behind these, with commas between them: a process takes five seconds of a processor to start, and a world half of one. */
    also: { type: 'string', default: '' },
    /** Worlds of this kind alone. */
    kind: { type: 'string' },
    /** Ends at the first seed that breaks a promise. */
    stop: { type: 'boolean', default: false },
    /** Prints a digest of all that is stored and was seen: the same for the same seed. */
    digest: { type: 'boolean', default: false },
  },
});
const replayed = process.env.SEED;
const first = Number(replayed ?? values.from);
const count = replayed === undefined ? Number(values.count) : 1;
if (values.kind !== undefined && !worldKinds.some((kind) => kind === values.kind))
  throw new Error(`--kind is one of ${worldKinds.join(', ')}`);
const also = replayed === undefined ? values.also.split(',').filter(Boolean).map(Number) : [];
if (![first, count, ...also].every(Number.isSafeInteger)) throw new Error('--from, --count, --also and SEED are whole numbers');
const seeds = [...Array.from({ length: count }, (_, place) => first + place), ...also];

// What a dead process promised is never settled, so what fails unheard is always of a living one.
const unhandled: string[] = [];
process.on('unhandledRejection', (error) => {
  unhandled.push(`unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`);
});

const clock = performance.now.bind(performance);
const startedMs = clock();
const timeline = new Timeline();
const server = await SimulatedServer.start(timeline);
const broken: number[] = [];
for (const seed of seeds) {
  const faults: string[] = [];
  for (const kind of worldKinds.filter((each) => values.kind === undefined || each === values.kind)) {
    timeline.begin(seed);
    const world = new World(seed, timeline, server, kind);
    const isAtRest = await world.live();
    const found = [
      ...(isAtRest ? [] : ['the world did not come to rest']),
      ...world.faults,
      ...(await findFaults(world)),
      ...unhandled.splice(0),
    ];
    if (values.digest)
      console.log(
        `digest ${createHash('sha256')
          .update(await readState(world))
          .digest('hex')}`,
      );
    await world.end();
    if (found.length > 0) console.log(`SEED=${seed} ${kind} ${JSON.stringify(world.plan)}`);
    for (const fault of found) console.log(`  ${fault}`);
    faults.push(...found);
  }
  if (faults.length === 0) continue;
  broken.push(seed);
  if (values.stop) process.exit(1);
}
const seconds = ((clock() - startedMs) / 1_000).toFixed(1);
if (broken.length > 0) console.log(`broken: ${broken.map((seed) => `SEED=${seed}`).join(' ')}`);
console.log(`${seeds.length - broken.length} of ${seeds.length} seeds hold; ${server.statements} statements in ${seconds} s`);
process.exit(broken.length === 0 ? 0 : 1);
