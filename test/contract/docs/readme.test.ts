import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { ReaderShell } from '../../../scripts/support/reader-shell.ts';
import { readmeBlocks } from '../../../scripts/support/readme.ts';
import { withService } from '../../support/service.ts';

const readme = readFileSync('README.md', 'utf8');
const tour = readmeBlocks().filter(({ run }) => run === 'tour');

const { service } = await withService();

describe("the README's quick tour", () => {
  const shell = new ReaderShell('.', { ...process.env, PARLEY: service.url, PARLEY_KEY: service.adminKey });
  const printed: string[] = [];
  afterAll(() => shell.close());

  it('is found, with a promise for each step', () => {
    expect(tour).toHaveLength(8);
    expect(tour.filter(({ shows }) => shows.length === 0)).toEqual([]);
  });
  it.each(tour.map((block) => [block.title, block] as const))('%s', async (_title, { text, shows }) => {
    const { code, output } = await shell.paste(text);
    printed.push(output);
    expect([code, output]).toEqual([0, expect.any(String)]);
    for (const pattern of shows) expect(output).toMatch(pattern);
  });
  it('streams the answer with what the documents say', () => expect(answerOf(printed[3] ?? '')).toMatch(/two years/));

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
