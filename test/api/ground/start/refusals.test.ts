import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { findRefusal } from '../../../../src/start/refusal.ts';
import { parley } from '../../../support/processes/command-line.ts';
import { startService } from '../../../support/service.ts';
import { copyOf, newFolder, type Place } from '../../../support/storage/databases.ts';
import { startStore } from '../../../support/storage/s3.ts';
import { startUpstream } from '../../../support/upstream.ts';

const masterKey = 'a master key for tests only';
const canary = 'canary-5f3a9c';

describe('a start with settings that cannot be used', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** What a start says that is refused. */
  async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
    const error: unknown = await startService({ env: { LOG_LEVEL: 'fatal', ...env } }).catch((refused: unknown) => refused);
    return (await findRefusal(error, { DATA_DIR: folder, ...env })) ?? '';
  }

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    [
      'an address of another machine',
      { HOST: '203.0.113.9' },
      /HOST must be an address or a name of this machine, not 203\.0\.113\.9\./,
    ],
    ['a name that nobody knows', { HOST: 'no-such-host.invalid' }, /HOST must be an address or a name of this machine/],
    [
      'a model that is not there',
      { DEFAULT_MODEL: 'parley/none' },
      /DEFAULT_MODEL must be .*, not parley\/none\. There are parley\/offline\./,
    ],
    [
      'a database that does not answer',
      { DATABASE_URL: `postgres://ann:${canary}@127.0.0.1:9/db`, PARLEY_MASTER_KEY: masterKey },
      /postgres:\/\/\*\*\*@127\.0\.0\.1:9\/db cannot be used: nothing listens there/,
    ],
    [
      'a store that does not answer',
      { BLOB_URL: 's3://files?endpoint=http://127.0.0.1:9', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: canary },
      /bucket files \(BLOB_URL\) cannot be used: nothing listens at its endpoint/,
    ],
    ['a models file that is not there', { MODELS_FILE: '/no/such/file' }, /MODELS_FILE \/no\/such\/file cannot be read/],
  ])('says in words what is wrong: %s', async (_what, env, words) => {
    const output = await refusal(env);
    expect(output).toMatch(words);
    expect(output).not.toContain(canary);
  });

  it('names the port that is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await refusal({ PORT: String(port) })).toContain(`PORT ${port} of 127.0.0.1 is taken`);
    expect(await refusal({ METRICS_PORT: String(port) })).toContain(
      `METRICS_PORT ${port} of 127.0.0.1 is taken: another process listens there. Stop that process, or set another METRICS_PORT.`,
    );
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('parley doctor', () => {
  let place: Place;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
  });
  afterEach(() => place.remove());
  const run = (env: Readonly<Record<string, string>>, line = 'doctor --json') =>
    parley(line, { ...place.env, PORT: '0', ...env });
  const findings = async (env: Readonly<Record<string, string>>) => {
    const { code, out } = await run(env);
    return { code, found: JSON.parse(out).findings as { check: string; level: string; message: string; advice?: string }[] };
  };

  it('finds nothing wrong with what works, and ends with 0', async () => {
    const [upstream, store] = [await startUpstream(), await startStore()];
    const { code, found } = await findings({ ...store.env, OPENAI_BASE_URL: upstream.url, DEFAULT_MODEL: 'openai/test-model' });
    expect(found.filter(({ level }) => level === 'wrong')).toEqual([]);
    expect(code).toBe(0);
    for (const check of ['settings', 'folder', 'disk', 'database', 'files', 'port', 'models', 'egress']) {
      expect(found.map((finding) => finding.check)).toContain(check);
    }
    expect(await store.keys()).toEqual([]);
    await upstream.close();
    await store.close();
  });

  it.each<[string, Readonly<Record<string, string>>, string, RegExp]>([
    ['a setting', { PORT: 'abc' }, 'settings', /PORT must be a whole number/],
    ['a folder', { DATA_DIR: '/dev/null/data' }, 'folder', /a file stands where a folder is needed/],
    ['the disk', { DISK_FREE_MIN_BYTES: '9007199254740991' }, 'disk', /is full: it has \d+ MiB left/],
    [
      'the database',
      { DATABASE_URL: `postgres://ann:${canary}@127.0.0.1:9/db`, PARLEY_MASTER_KEY: masterKey },
      'database',
      /nothing listens there/,
    ],
    [
      'the files',
      { BLOB_URL: 's3://files?endpoint=http://127.0.0.1:9', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: canary },
      'files',
      /nothing listens/,
    ],
    ['a provider', { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, 'models', /openai cannot be reached \(ECONNREFUSED\)/],
    ['the default model', { DEFAULT_MODEL: 'parley/none' }, 'models', /DEFAULT_MODEL must be/],
    ['the name servers', { EGRESS_DNS_SERVERS: '127.0.0.1:9' }, 'egress', /do not answer/],
  ])('says what is wrong, what to do, and ends with 1: %s', async (_what, env, check, words) => {
    const { code, found } = await findings(env);
    expect(code).toBe(1);
    const wrong = found.filter((finding) => finding.level === 'wrong');
    expect(
      wrong
        .filter((finding) => finding.check === check)
        .map(({ message }) => message)
        .join(),
    ).toMatch(words);
    expect(JSON.stringify(found)).not.toContain(canary);
  });

  it('finds a key that the provider refuses, and prints for people', async () => {
    const server = createServer((_req, res) => void res.writeHead(401).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const { code, out } = await run({ OPENAI_BASE_URL: url, OPENAI_API_KEY: canary }, 'doctor');
    expect(code).toBe(1);
    expect(out).toMatch(/^WRONG models +openai refuses the key \(401\)\.\n +Correct its key/m);
    expect(out).not.toContain(canary);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('tells of variables that were meant as a setting, as something to look at', async () => {
    const { code, found } = await findings({ OPENAI_APIKEY: canary, HOSTNAME: 'here' });
    const mistyped = found.filter(({ message }) => message.includes('no setting'));
    expect(mistyped).toEqual([
      { check: 'settings', level: 'warning', message: 'OPENAI_APIKEY is no setting.', advice: 'Did you mean OPENAI_API_KEY?' },
    ]);
    expect(code).toBe(0);
  });

  it('makes no folder that is not there', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'above'));
    await findings({ DATA_DIR: join(folder, 'above', 'data') });
    expect(readdirSync(join(folder, 'above'))).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});
