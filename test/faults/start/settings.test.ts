import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { newFolder } from '../../support/storage/databases.ts';

const canary = 'canary-5f3a9c';

describe('a process with settings that cannot be used', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(async () => {
    await killProcesses();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What a start says that ends at once. */
  async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
    const parley = startProcess({ DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'error', ...env });
    expect(await parley.ended()).toBe(1);
    expect(parley.output()).toMatch(/^Parley cannot start:/);
    expect(parley.output()).not.toMatch(/^\s+at |node:internal|Error:/m);
    return parley.output();
  }

  it('names all of them, also those that other settings would decide', async () => {
    writeFileSync(join(folder, 'file'), '');
    const output = await refusal({
      ...{
        PORT: 'abc',
        HOST: '203.0.113.9',
        ROLE: 'cook',
        PUBLIC_URL: 'parley',
        OPENAI_BASE_URL: 'localhost',
        EGRESS_ALLOW: '10.0.0.0/99',
      },
      ...{ DATABASE_URL: `mysql://ann:${canary}@host/db`, BLOB_URL: `ftp://ann:${canary}@host`, DEFAULT_MODEL: 'nobody/model' },
      ...{ DATA_DIR: join(folder, 'file'), PARLEY_ADMIN_KEY: canary, RUN_TIMEOUT_MS: '99999999999' },
    });
    expect(output).toContain('PORT must be a whole number from 0 to 65535, not abc.');
    expect(output).toContain('ROLE must be one of all, web, worker, not cook.');
    for (const name of ['HOST', 'PUBLIC_URL', 'OPENAI_BASE_URL', 'BLOB_URL', 'DATABASE_URL', 'DEFAULT_MODEL', 'RUN_TIMEOUT_MS']) {
      expect(output).toContain(`  ${name} must be `);
    }
    for (const words of [
      'EGRESS_ALLOW: "10.0.0.0/99"',
      '(DATA_DIR) cannot be used: a file',
      'PARLEY_ADMIN_KEY must be',
      'PARLEY_MASTER_KEY must be',
    ]) {
      expect(output).toContain(words);
    }
    expect(output).toContain('docs/configuration.md');
    expect(output).not.toContain(canary);
  });

  it('tells of a variable that was meant as a setting, refused or not, and of none beside', async () => {
    const usual = {
      HOSTNAME: 'h',
      OPENAI_API_BASE: 'x',
      AWS_PROFILE: 'x',
      LOGLEVEL: 'info',
      GITHUB_TOKEN: 'x',
      PARLEY_PORT: 'tcp://10.0.0.1:4000',
    };
    const env = { ...usual, DATA_DIR: join(folder, 'data'), OPENAI_APIKEY: canary, RUN_TIMEOUT: '5' };
    const parley = startProcess(env);
    await parley.url();
    const told = parley.output().match(/\w+ is no setting; did you mean \w+\?/g);
    expect(told).toEqual([
      'OPENAI_APIKEY is no setting; did you mean OPENAI_API_KEY?',
      'RUN_TIMEOUT is no setting; did you mean RUN_TIMEOUT_MS?',
    ]);
    expect(parley.output()).not.toContain(canary);
    const output = await refusal({ OPENAI_APIKEY: canary, DEFAULT_MODEL: 'openai/some-model', DATA_DIR: join(folder, 'other') });
    expect(output).toMatch(/DEFAULT_MODEL must be/);
    expect(output).toContain('OPENAI_APIKEY is no setting; did you mean OPENAI_API_KEY?');
  });

  it('takes a variable without a text for one that is not set', async () => {
    const parley = startProcess({
      DATA_DIR: join(folder, 'data'),
      LOG_LEVEL: '',
      DATABASE_URL: '',
      OPENAI_BASE_URL: ' ',
      PARLEY_ADMIN_KEY: '',
    });
    expect(await parley.url()).toMatch(/^http/);
  });
});
