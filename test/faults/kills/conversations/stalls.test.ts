import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'parley-stalls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = (maxMs: number, workMs: number, before: string) => `
  const { mkdtempSync, rmSync, truncateSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const folder = mkdtempSync(tmpdir() + '/parley-process-');
  const { watchForStalls } = await import('./src/engine/processes/stall-watch.ts');
  const logger = { error: (facts, text) => console.error(JSON.stringify({ ...facts, text })) };
  const end = watchForStalls({ logger, maxMs: ${maxMs}, folder, underWay: () => ['job knowledge.index-item "a"'] });
  ${before}
  const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1_000; };
  setTimeout(() => { const until = used() + ${workMs}; while (used() < until); }, 500);
  setTimeout(() => { end(); process.exit(7); }, 2_000);
`;

async function run(maxMs: number, workMs: number, before = ''): Promise<{ readonly ended: unknown; readonly errors: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(maxMs, workMs, before)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TMPDIR: folder },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  // Not 'exit': the line of the watcher may still be unread then.
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { ended: signal ?? code, errors };
}

it('a process whose event loop does not turn any more ends, and a line names what was under way', async () => {
  const { ended, errors } = await run(4_000, 600_000);
  expect(ended).toBe('SIGKILL');
  expect(errors).toMatch(/"level":"error","msg":"the event loop is blocked".*"underWay":\["job knowledge.index-item/);
  expect(errors).toMatch(/"level":"fatal","isEnded":true/);
});

it('a process that goes on after a long turn says what took it, and lives', async () => {
  const { ended, errors } = await run(600_000, 2_500);
  expect(ended).toBe(7);
  expect(errors).toMatch(/knowledge.index-item.*the event loop was blocked/);
});

it('leaves no temporary files behind', async () => {
  const { ended } = await run(600_000, 0);
  expect(ended).toBe(7);
  expect(readdirSync(folder).filter((name) => name.startsWith('parley-process-'))).toEqual([]);
});

it('goes on without a watch when the folder of the beat is gone', async () => {
  const { ended, errors } = await run(600_000, 0, 'rmSync(folder, { recursive: true });');
  expect(ended).toBe(7);
  expect(errors.match(/nothing watches it/g)).toHaveLength(1);
});

it('does not take a beat that is just being written for the end of the process', async () => {
  // Empty nearly all the time, as a file is between its truncation and the write.
  const { ended } = await run(600_000, 0, "setInterval(() => truncateSync(folder + '/beat'), 1).unref();");
  expect(ended).toBe(7);
});
