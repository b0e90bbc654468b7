import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReaderShell } from '../../../scripts/support/reader-shell.ts';
import { readmeBlocks } from '../../../scripts/support/readme.ts';
import { withService } from '../../support/service.ts';

const recipes = readmeBlocks().filter(({ run }) => run === 'recipe');

const { service, make } = await withService();

describe("the README's recipes", () => {
  let shell: ReaderShell;
  beforeAll(async () => {
    const agentId = (await make.agent({ owner: service.client() })).id;
    shell = new ReaderShell('.', { ...process.env, PARLEY: service.url, PARLEY_KEY: service.adminKey, AI: agentId });
  });
  afterAll(() => shell.close());

  it('are found', () => expect(recipes.length).toBeGreaterThan(1));
  it.each(recipes.map(({ title, text }) => [title, text] as const))('%s', async (_title, text) => {
    const { code, output } = await shell.paste(text);
    expect([code, output]).toEqual([0, expect.stringMatching(/\S/)]);
    expect(output).not.toContain('{"error":');
  });
});
