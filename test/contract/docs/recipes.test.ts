import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

/** The first words of each recipe of the README, and what a reader pastes. */
const recipes = [
  ...readFileSync('README.md', 'utf8').matchAll(/\*\*([^*]+)\*\*[^`]*?<!-- recipe -->\n```sh\n([\s\S]*?)```/g),
].map(([, title = '', block = '']) => [title, block] as const);

const { service, make } = await withService();

describe("the README's recipes", () => {
  let agentId: string;
  beforeAll(async () => {
    agentId = (await make.agent({ owner: service.client() })).id;
  });

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
