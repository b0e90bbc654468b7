import { describe, expect, it } from 'vitest';
import { findBox } from '../../../src/engine/tools/python/box.ts';
import { createPythonTool } from '../../../src/engine/tools/python/python.ts';
import { freePass } from '../../support/runs/runs.ts';
import { testPools } from '../../support/sharing/pools.ts';

const limits = { programs: testPools().queue('python', 2), timeoutMs: 60_000, memoryMaxBytes: 512 * 1024 * 1024 };
const never = new AbortController().signal;
const box = await findBox();
const run = (code: string, own = limits, signal = never) =>
  createPythonTool(own, async () => box).run(JSON.stringify({ code }), {}, signal, () => undefined, freePass);
const attempt = (what: string) => `
try:
  ${what}
except BaseException as e:
  print('refused', type(e).__name__)
`;

describe.runIf(box !== undefined)('python in its box', () => {
  it('answers what a program prints, and its errors', async () => {
    expect(await run('print(sum(range(10)))')).toBe('45\n');
    expect(await run('1/0')).toMatch(/ZeroDivisionError[\s\S]*exit code 1/);
  });

  it.each([
    ['files of the machine', 'print(open("/etc/passwd").read())'],
    ['other processes', 'import subprocess; print(subprocess.run(["id"], capture_output=True))'],
    ['the network', 'import socket; socket.create_connection(("127.0.0.1", 80), 2); print("connected")'],
    ['JavaScript', 'import js; print(js.process)'],
    ['native code', 'import ctypes; print(ctypes.CDLL(None).getpid())'],
  ])('has no way to %s', async (_what, code) => {
    expect(await run(attempt(code))).toMatch(/^refused/);
  });

  it('sees nothing of our environment', async () => {
    process.env.PARLEY_CANARY = 'canary-in-the-environment';
    expect(await run('import os; print(dict(os.environ))')).not.toMatch(/canary|PARLEY/);
    delete process.env.PARLEY_CANARY;
  });

  it.each([
    ['time', 'while True: pass', { ...limits, timeoutMs: 3_000 }],
    [
      'memory',
      'x = [bytearray(50_000_000) for _ in range(100)]\nprint(len(x))',
      { ...limits, memoryMaxBytes: 300 * 1024 * 1024 },
    ],
  ])('is stopped when it takes too much %s', async (_what, code, own) => {
    await expect(run(code, own)).rejects.toThrow(/stopped/);
  });

  it('is stopped with its run', async () => {
    const controller = new AbortController();
    const running = run('while True: pass', limits, controller.signal);
    controller.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
  });
});

it('without a box nothing is run', async () => {
  const tool = createPythonTool(limits, async () => undefined);
  await expect(tool.run('{"code":"print(1)"}', {}, never, () => undefined, freePass)).rejects.toThrow(/not available/);
});

it('a machine that was too busy to try its boxes is asked again', async () => {
  const answers = [undefined, { command: '/bin/echo', args: ['{"stdout":"42","stderr":"","exitCode":0}'] }];
  const tool = createPythonTool(limits, async () => answers.shift());
  const call = () => tool.run('{"code":"print(42)"}', {}, never, () => undefined, freePass);
  await expect(call()).rejects.toThrow(/not available/);
  expect(await call()).toBe('42');
});

it('a run that was stopped meanwhile does not wait for a place', async () => {
  const stop = new AbortController();
  const tool = createPythonTool({ ...limits, programs: testPools().queue('python', 1) }, async () => ({
    command: '/bin/sleep',
    args: ['600'],
  }));
  const call = (signal: AbortSignal) => tool.run('{"code":"print(42)"}', {}, signal, () => undefined, freePass);
  const first = call(stop.signal);
  await expect(call(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  stop.abort(new Error('and this one'));
  await expect(first).rejects.toThrow('and this one');
});

it.each(['', '[]', '{}', '{"code":1}', `{"code":"${'x'.repeat(100_001)}"}`])('refuses the arguments %.20s', async (args) => {
  await expect(
    createPythonTool(limits, async () => undefined).run(args, {}, never, () => undefined, freePass),
  ).rejects.toMatchObject({
    name: 'DomainError',
  });
});
