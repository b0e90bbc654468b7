import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

// Each is a process of its own: a world takes the clock, the timers and the randomness of its process.
it.each([1, 101])(
  'worlds %i and the 99 after it keep every promise, whatever fails in them',
  async (from) => {
    const simulating = run(process.execPath, ['test/simulation/seeds.ts', '--from', String(from), '--count', '100']);
    const stdout = await simulating.then(
      (result) => result.stdout,
      (error: { readonly stdout: string; readonly stderr: string }) => `${error.stdout}${error.stderr}`,
    );
    expect(stdout).toMatch(/^100 of 100 seeds hold/);
  },
  600_000,
);

it('a world is the same for the same seed', async () => {
  const tell = async () =>
    (await run(process.execPath, ['test/simulation/seeds.ts', '--from', '7', '--count', '1', '--digest'])).stdout;
  const digest = /digest [0-9a-f]{64}/;
  const [once, again] = await Promise.all([tell(), tell()]);
  expect(once).toMatch(digest);
  expect(digest.exec(again)?.[0]).toBe(digest.exec(once)?.[0]);
});
