import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFor } from '../../support/make.ts';
import { startService, type TestService } from '../../support/service.ts';

/** The first words of each recipe of the README, and what a reader pastes. */
const recipes = [
  ...readFileSync('README.md', 'utf8').matchAll(/\*\*([^*]+)\*\*[^`]*?<!-- recipe -->\n```sh\n([\s\S]*?)```/g),
].map(([, title = '', block = '']) => [title, block] as const);

describe("the README's recipes", () => {
  let service: TestService;
  let agentId: string;
  beforeAll(async () => {
    service = await startService();
    agentId = (await makeFor(service).agent({ owner: service.client() })).id;
  });
  afterAll(() => service.close());

  it('are found', () => expect(recipes.length).toBeGreaterThan(1));
  it.each(recipes)('%s', async (_title, block) => {
    const output = await paste(block, { PARLEY: service.url, PARLEY_KEY: service.adminKey, AI: agentId });
    expect(output).not.toBe('');
    expect(output).not.toContain('{"error":');
  });
});

function paste(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const shell = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], { env: { ...process.env, ...env }, timeout: 100_000 });
    let output = '';
    shell.stdout.on('data', (chunk) => {
      output += chunk;
    });
    shell.stderr.on('data', (chunk) => {
      output += chunk;
    });
    shell.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`the recipe ended with ${code}\n${output}`))));
  });
}
