import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type SseFrame, TestClient } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { killProcesses, startNpm, startProcess } from '../../support/processes/process.ts';
import { processesBelow, stillRunning } from '../../support/processes/process-table.ts';
import { copyOf, type Place } from '../../support/storage/databases.ts';
import { heldAnswer, startUpstream, type Upstream } from '../../support/upstream.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const ofPackages = join(root, 'node_modules/.bin');
const ofMachine = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);
const key = 'chosen-by-the-operator-40-characters-long';
const question = { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }], stream: true };

/** Node that `npm` itself runs on: of the packages, and of the machine, which may be an older one. */
const nodes: readonly [string, string][] = [
  ['the Node of the packages', [ofPackages, ofMachine].join(delimiter)],
  ['the Node of the machine', ofMachine],
];

describe.skipIf(process.platform === 'win32')('npm start', () => {
  let place: Place;
  let upstream: Upstream;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
    upstream = await startUpstream();
  });
  afterEach(async () => {
    await killProcesses();
    await upstream.close();
    await place.remove();
  });

  /** Starts a service with a stream that is open and has sent its first text. */
  async function openStream(path: string) {
    const port = await freePort();
    const env = { ...place.env, PORT: String(port), PARLEY_ADMIN_KEY: key, OPENAI_BASE_URL: upstream.url, LOG_LEVEL: 'info' };
    const { script, goOn } = heldAnswer({ text: ['Whole', ' answer'] });
    upstream.otherwise(script);
    const npm = startNpm(env, path);
    const url = await npm.url();
    const begun = Promise.withResolvers<void>();
    const stream = (async () => {
      const seen: SseFrame[] = [];
      for await (const frame of new TestClient(() => url, key).sse('POST', '/api/v1/chat/completions', question)) {
        seen.push(frame);
        if (frame.data.includes('Whole')) begun.resolve();
      }
      return seen;
    })();
    await begun.promise;
    return { npm, env, port, stream, goOn };
  }

  it.each(nodes)('hands SIGTERM on, ends an open stream properly and leaves no process, with %s', async (_node, path) => {
    const { npm, env, port, stream, goOn } = await openStream(path);
    const started = processesBelow(npm.pid);
    expect(started.length).toBeGreaterThan(0);
    const ended = npm.kill('SIGTERM');
    await untilOutput(npm, 'stopping');
    goOn();
    const frames = await stream;
    expect(frames.at(-1)?.data).toBe('[DONE]');
    expect(frames.map(({ data }) => data).join('')).toContain(' answer');
    expect(await ended).toBe(0);
    expect(stillRunning(started)).toEqual([]);
    const next = startProcess({ ...env, PORT: String(port) });
    expect(await next.url()).toContain(`:${port}`);
  });

  it('drains at Ctrl-C, which a terminal sends to npm and to the service, and npm to the service again', async () => {
    const { npm, stream, goOn } = await openStream(ofMachine);
    process.kill(-npm.pid, 'SIGINT');
    await untilOutput(npm, 'stopping');
    goOn();
    expect((await stream).at(-1)?.data).toBe('[DONE]');
    await npm.ended();
    expect(npm.output()).toContain('stopped');
  });
});

describe('an older Node', () => {
  it('is told in one line which one is needed', () => {
    const older = 'data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "20.11.1" } })';
    const { status, stderr } = spawnSync(process.execPath, ['--import', older, join(root, 'src/main.js')], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Parley needs Node\.js 26 or newer, and this is v[\d.]+\. [^\n]*npm ci[^\n]*nodejs\.org\.\n$/);
  });

  it('reads what says so', () => {
    const found = spawnSync('node', ['--version'], { encoding: 'utf8', env: { PATH: ofMachine } });
    if (Number.parseInt(found.stdout?.slice(1) ?? '26', 10) >= 26) return;
    const { status, stderr } = spawnSync('node', [join(root, 'src/main.js')], { encoding: 'utf8', env: { PATH: ofMachine } });
    expect([status, stderr.split('\n').length]).toEqual([1, 2]);
    expect(stderr).toMatch(/^Parley needs Node\.js 26/);
  });
});

async function untilOutput(parley: { output(): string }, text: string): Promise<void> {
  await eventually(() => expect(parley.output()).toContain(text));
}
