import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findRealShell, runInRealShell } from '../../../src/engine/tools/code/box/real-shell.ts';
import { shellScripts } from '../../fixtures/shell-scripts.ts';

/** The shell of the machine in its box: right figures, and no way out. */
const shell = await findRealShell();
const MiB = 1024 * 1024;
const limits = {
  ...{ filesMaxBytes: 32 * MiB, filesMax: 20, fileMaxBytes: 5 * MiB, stateMaxBytes: 8 * MiB },
  ...{ timeoutMs: 20_000, memoryMaxBytes: 512 * MiB },
};
const numbers = `${Array.from({ length: 40 }, (_one, index) => (index * 7919) % 101).join('\n')}\n`;
const table = 'name,city,sum\nann,Paris,12.5\nbob,Rome,7\ncat,Paris,3\ndan,Oslo,40\neve,Rome,0.5\n';
const words = 'the quick brown fox\njumps over the lazy dog\nthe end\n\nabab xyxy\n';
const files = Object.entries({ 'numbers.txt': numbers, 'table.csv': table, 'words.txt': words });
const program = (source: string, more: object = {}) => ({
  ...({ kind: 'shell', source, variables: Buffer.alloc(0), environment: {}, folder: '/workspace' } as const),
  files: files.map(([path, text]) => ({ path, bytes: Buffer.from(text) })),
  ...more,
});
const run = (source: string, more: object = {}, bounds: object = {}) =>
  runInRealShell(program(source, more), { ...limits, ...bounds }, new AbortController().signal);

describe.runIf(shell !== undefined)('the shell of the machine', { timeout: 300_000 }, () => {
  it('gives the same as bash and the tools of the machine, for a set of scripts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-shell-'));
    for (const [path, text] of files) await writeFile(join(folder, path), text);
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' };
    const expected = (source: string) =>
      new Promise<string>((resolve) => {
        execFile('/bin/bash', ['-c', source], { cwd: folder, env }, (error, stdout) => resolve(`${error?.code ?? 0} ${stdout}`));
      });
    const different: string[] = [];
    // One box for many scripts: each in a shell of its own.
    for (let start = 0; start < shellScripts.length; start += 30) {
      const some = shellScripts.slice(start, start + 30);
      const source = some
        .map((_script, index) => `out=$(bash -c "$(cat s${index}.sh)"; echo "|$?"); printf '%s\\0' "$out"`)
        .join('\n');
      const scripts = some.map((script, index) => ({ path: `s${index}.sh`, bytes: Buffer.from(script) }));
      const { stdout } = await run(source, { files: [...program('').files, ...scripts] });
      const got = stdout.split('\0');
      for (const [index, script] of some.entries()) {
        const [, printed = '', status = ''] = /^([\s\S]*)\|(\d+)$/.exec(got[index] ?? '') ?? [];
        const real = await expected(script);
        if (`${status} ${printed}`.trimEnd() !== real.trimEnd()) different.push(`${script} → ${status} ${printed}, not ${real}`);
      }
    }
    await rm(folder, { recursive: true });
    expect(shellScripts.length).toBeGreaterThanOrEqual(300);
    expect(different).toEqual([]);
  });

  it('keeps variables and folder, gives files back, and notes those that are gone', async () => {
    const made = await run('mkdir d; cd d; A="it\'s\n2"; echo hi >new.txt; rm ../words.txt; exit 3');
    expect(made).toMatchObject({ exitCode: 3, folder: '/workspace/d', removed: ['words.txt'] });
    expect(made.files.map(({ path, bytes }) => [path, bytes.toString()])).toEqual([['d/new.txt', 'hi\n']]);
    expect(made.environment).toEqual({ A: "it's\n2" });
    expect((await run('echo "$A"; pwd', made)).stdout).toBe("it's\n2\n/workspace/d\n");
  });

  it('has no environment, files, network or rights of the machine', async () => {
    process.env.PARLEY_CANARY = 'canary';
    const { stdout } = await run(
      'cat /proc/*/environ | tr "\\0" "\\n" | grep -c PARLEY_CANARY; ls -d /etc/passwd /home /root /var /opt /work /srv 2>/dev/null; (: </dev/tcp/127.0.0.1/22) 2>/dev/null && echo net; touch /usr/x /x /dev/x 2>/dev/null && echo wrote; mount -t tmpfs x /tmp 2>/dev/null && echo mounted; unshare -U true 2>/dev/null && echo namespace; ls /sys 2>/dev/null; echo end',
    );
    delete process.env.PARLEY_CANARY;
    expect(stdout).toBe('0\nend\n');
  });

  it.each([
    ['time', 'sleep 30', { timeoutMs: 1_500 }, /longer than 1500 ms/],
    ['memory', 'head -c 400M /dev/zero | tail -c 300M | wc -c', { memoryMaxBytes: 64 * MiB }, /memory|^$/],
  ])('is bounded in %s', async (_what, source, bounds, message) => {
    const ended = await run(source, {}, bounds).catch((error: Error) => error.message);
    if (typeof ended === 'string') expect(ended).toMatch(message);
    else expect([ended.exitCode === 0, ended.stdout.trim()]).not.toEqual([true, '314572800']);
  });

  it('is bounded in processes, files and output', async () => {
    const { stdout, stderr } = await run(
      'for i in $(seq 70); do sleep 0.2 & done; wait; head -c 200M /dev/zero >big; ls -l big | wc -l; echo end',
    );
    expect(`${stdout}${stderr}`).toMatch(/fork|File size|Resource temporarily|too large/i);
    expect((await run('yes | head -c 3000000')).stdout.length).toBeLessThan(101_000);
    const { notes } = await run('truncate -s 6M six; ln -s /usr/bin/env link; mkfifo pipe');
    expect(notes.join()).toMatch(/six.*larger|link.*not a plain file/);
  });
});
