import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { eventually } from '../support/processes/eventually.ts';
import { installExample } from '../support/processes/example.ts';
import { withService } from '../support/service.ts';

const { service, make } = await withService();
const { key } = await make.person();
const example = await installExample('hundred-lines');
await example.run('build');

it('has at most a hundred lines', () => {
  const source = readFileSync(join(import.meta.dirname, '../../examples/hundred-lines/chat.ts'), 'utf8');
  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(100);
});

it('sends a file, answers from it with citations, gives another answer, and plots what was used', async () => {
  const file = join(example.folder, 'handbook.md');
  writeFileSync(file, '# Handbook\n\nThe store opens at nine and closes at six.\n');
  const child = spawn(process.execPath, ['chat.ts', file], {
    cwd: example.folder,
    env: { ...process.env, PARLEY_URL: service.url, PARLEY_KEY: key },
    stdio: 'pipe',
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += stripVTControlCharacters(chunk.toString());
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const says = (pattern: RegExp) => eventually(() => expect(output).toMatch(pattern), 30_000);
  await says(/sending {2}█+/);
  await says(/Ask Reader/);
  child.stdin.write('When does the store open?\n');
  await says(/\[1\] Handbook http/);
  child.stdin.write('\n');
  await says(/answer 2 of 2/);
  // What was used is written half a second later: asked at once, the plot may still be empty.
  await eventually(async () => {
    const before = output.length;
    child.stdin.write('/usage\n');
    await eventually(() => expect(output.slice(before)).toMatch(/tokens\n> $/));
    expect(output.slice(before)).toMatch(/\d{4}-\d\d-\d\d █+·* \d+ tokens/);
  }, 30_000);
  child.stdin.write('/end\n');
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code, output).toBe(0);
});
