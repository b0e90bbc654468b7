import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** The last statement of a dead process ended a run after the look at what that process had charged. */
const lateStatement = 1232;
/** A lost signal left a person with what was open before. */
const lostSignals = [410, 743];

// Each is a process of its own: a world takes the clock, the timers and the randomness of its process.
it.concurrent.each([
  { kind: 'runs', from: 1, also: [lateStatement] },
  { kind: 'runs', from: 101, also: [] },
  { kind: 'permissions', from: 1, also: [] },
  { kind: 'permissions', from: 101, also: lostSignals },
])(
  '100 worlds of $kind from $from, and $also, keep every promise, whatever fails in them',
  async ({ kind, from, also }) => {
    const range = ['--kind', kind, '--from', String(from), '--count', '100', '--also', also.join(',')];
    const count = 100 + also.length;
    const simulating = run(process.execPath, ['test/simulation/seeds.ts', ...range]);
    const stdout = await simulating.then(
      (result) => result.stdout,
      (error: { readonly stdout: string; readonly stderr: string }) => `${error.stdout}${error.stderr}`,
    );
    expect(stdout).toMatch(new RegExp(`^${count} of ${count} seeds hold`));
  },
  600_000,
);

it('a world is the same for the same seed', async () => {
  const tell = async () =>
    (await run(process.execPath, ['test/simulation/seeds.ts', '--from', '7', '--count', '1', '--digest'])).stdout;
  // One of each kind.
  const digests = /digest [0-9a-f]{64}/g;
  const [once, again] = await Promise.all([tell(), tell()]);
  expect(once.match(digests)).toHaveLength(2);
  expect(again.match(digests)).toEqual(once.match(digests));
});
