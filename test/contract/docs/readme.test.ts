import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

const readme = readFileSync('README.md', 'utf8');
/** The blocks of the README's quick tour, in order, as a reader pastes them. */
const tourBlocks = [...readme.matchAll(/<!-- tour -->\n```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '');
const divider = '=====';

const { service } = await withService();

describe("the README's quick tour", () => {
  let printed: readonly string[];
  beforeAll(async () => {
    const script = tourBlocks.join(`\necho; echo ${divider}\n`);
    printed = (await paste(script, { PARLEY: service.url, PARLEY_KEY: service.adminKey })).split(`${divider}\n`);
  });

  it('prints what each step promises', () => {
    expect(tourBlocks).toHaveLength(7);
    const [agent, added, watched, chat, completion, line, sdk] = printed;
    expect(agent).toMatch(/agent: ai_\w+/);
    expect(added?.match(/"id":"ds_/g)).toHaveLength(3);
    const lastLook = watched?.trim().split('\n').slice(-3).sort();
    expect(lastLook).toEqual(
      ['Prices', 'handbook.md', 'warranty.pdf'].map((name) => `"indexStatus":"INDEXED","indexPercentage":"100","name":"${name}"`),
    );
    expect(chat).toContain('event: message.delta');
    expect(chat).toContain('event: citation');
    expect(chat).toMatch(/"citation":\{[^}]*"name":"[^"]*warranty/);
    expect(answerOf(chat ?? '')).toMatch(/two years/);
    expect(completion).toMatch(/"content":"[^"]*89/);
    expect(completion).toContain('"annotations":[{"type":"url_citation"');
    expect(completion).toContain('data: [DONE]');
    expect(line).toMatch(/2 of 2 indexed for "Workshop help"\.[\s\S]*15 euros \[1\]\.[\s\S]*Sources\n {2}\[1\] \S/);
    expect(sdk).toMatch(/100 euros/);
  });

  it('streams the subscription that it shows', async () => {
    const query = /```graphql\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const agentId = /agent: (ai_\w+)/.exec(printed[0] ?? '')?.[1] ?? '';
    const results = await Array.fromAsync(service.client().subscribe(query.replace('ai_…', agentId)));
    const text = results.map(({ data }) => data.completionEvents.delta ?? '').join('');
    expect(text).toMatch(/14 days/);
  });
});

function answerOf(stream: string): string {
  const frames = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(
    ([, json]) => JSON.parse(json ?? '') as { type: string; delta?: string },
  );
  return frames.flatMap((frame) => (frame.type === 'message.delta' ? [frame.delta ?? ''] : [])).join('');
}

function paste(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const shell = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], { env: { ...process.env, ...env }, timeout: 100_000 });
    let output = '';
    let complaints = '';
    shell.stdout.on('data', (chunk) => {
      output += chunk;
    });
    shell.stderr.on('data', (chunk) => {
      complaints += chunk;
    });
    shell.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`the tour ended with ${code}\n${output}\n${complaints}`)),
    );
  });
}
