import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { copyOf } from '../../support/storage/databases.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
afterEach(() => killProcesses());

/** What a person sees who pastes a line into a second terminal. */
function paste(line: string): Promise<string> {
  return new Promise((resolve) => {
    const env = { PATH: `${root}node_modules/.bin:${process.env.PATH}`, HOME: process.env.HOME ?? '/tmp' };
    const shell = spawn('bash', ['-c', line], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    shell.on('close', (code) => resolve(`${output}(${code})`));
  });
}
const commandIn = (output: string) => /^ {2}(npm run -s parley -- ask .*)$/m.exec(output)?.[1];

describe('a first start', () => {
  it('makes an agent that knows the manual, and prints a command that works as it is printed', async () => {
    const place = await copyOf(inject('template'));
    const parley = startProcess({ ...place.env, DEMO: 'on' });
    await parley.url();
    const command = await eventually(() => commandIn(parley.output()) ?? Promise.reject(new Error(parley.output())));
    expect(command).toContain('--agent "Ask the manual"');
    const answer = await paste(command);
    expect(answer).toMatch(/copy the data folder.*\[1\][\s\S]*Sources\n {2}\[1\] \S[\s\S]*\(0\)$/);
    const admin = new TestClient(() => /--url (\S+)/.exec(command)?.[1] ?? '', /--key (\S+)/.exec(command)?.[1]);
    const { body } = await admin.get('/api/v1/ais');
    expect(body.data).toMatchObject([{ name: 'Ask the manual', visibility: 'PRIVATE' }]);
    await parley.kill('SIGTERM');
    const second = startProcess({ ...place.env, DEMO: 'on' });
    const url = await second.url();
    const again = new TestClient(() => url, admin.key);
    expect((await again.get('/api/v1/ais')).body.data).toHaveLength(1);
    expect(second.output()).not.toContain(admin.key);
    await place.remove();
  });

  it('makes none with DEMO=off, and then prints a command for the built-in model', async () => {
    const place = await copyOf(inject('template'));
    const parley = startProcess(place.env);
    await parley.url();
    const command = commandIn(parley.output()) ?? '';
    expect(await paste(command)).toMatch(/I am parley\/offline[\s\S]*\(0\)$/);
    const admin = new TestClient(() => /--url (\S+)/.exec(command)?.[1] ?? '', /--key (\S+)/.exec(command)?.[1]);
    expect((await admin.get('/api/v1/ais')).body.data).toEqual([]);
    await parley.kill('SIGTERM');
    await place.remove();
  });

  it('prints no key that the operator chose', async () => {
    const place = await copyOf(inject('template'));
    const key = 'a-key-that-the-operator-chose-and-knows-0001';
    const parley = startProcess({ ...place.env, DEMO: 'on', PARLEY_ADMIN_KEY: key });
    await parley.url();
    const command = await eventually(() => commandIn(parley.output()) ?? Promise.reject(new Error(parley.output())));
    expect(command).toContain('--key "$PARLEY_ADMIN_KEY"');
    expect(parley.output()).not.toContain(key);
    expect(await paste(`PARLEY_ADMIN_KEY=${key}; ${command}`)).toMatch(/copy the data folder[\s\S]*\(0\)$/);
    await parley.kill('SIGTERM');
    await place.remove();
  });
});
