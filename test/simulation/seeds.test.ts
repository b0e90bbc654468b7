import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** The last statement of a dead process ended a run after the look at what that process had charged. */
const lateStatement = 1232;
/** A lost signal left a person with what was open before. */
const lostSignals = [410, 743];

const count = 200;
const script = 'test/simulation/seeds.ts';
/** Garbage is collected less often than Node would by itself. */
const memory = ['--min-semi-space-size=16', '--max-semi-space-size=32', '--initial-old-space-size=512'];
const simulate = (...words: readonly string[]) =>
  run(process.execPath, [...memory, script, '--digest', ...words]).then(
    (result) => result.stdout,
    (error: { readonly stdout: string; readonly stderr: string }) => `${error.stdout}${error.stderr}`,
  );
const known = { runs: [lateStatement], permissions: lostSignals };
type Kind = keyof typeof known;
const kinds: readonly Kind[] = ['runs', 'permissions'];
// Each is a process of its own: a world takes the clock, the timers and the randomness of its process.
const simulated = new Map<Kind, Promise<string>>();
function allOf(kind: Kind): Promise<string> {
  const words = ['--kind', kind, '--from', '1', '--count', String(count), '--also', known[kind].join(',')];
  const simulating = simulated.get(kind) ?? simulate(...words);
  simulated.set(kind, simulating);
  return simulating;
}

it.concurrent.each(kinds)(
  '200 worlds of %s, and those of known faults, keep every promise, whatever fails in them',
  async (kind) => {
    const all = count + known[kind].length;
    expect(await allOf(kind)).toMatch(new RegExp(`^${all} of ${all} seeds hold`, 'm'));
  },
  900_000,
);

it('a world is the same for the same seed', async () => {
  for (const kind of kinds) {
    const [alone] = digestsIn(await simulate('--kind', kind, '--from', '1', '--count', '1'));
    expect(alone).toBeDefined();
    expect(alone).toBe(digestsIn(await allOf(kind))[0]);
  }
}, 900_000);

function digestsIn(told: string): readonly string[] {
  return told.match(/digest [0-9a-f]{64}/g) ?? [];
}
