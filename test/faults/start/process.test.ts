import { rmSync, writeFileSync } from 'node:fs';
import { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { TestClient } from '../../support/client.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { copyOf, emptyPlace, newFolder, type Place, testServerUrl } from '../../support/storage/databases.ts';

const madeKey = /pk_[0-9A-Za-z]{33}/g;

describe('the process', () => {
  let place: Place;
  beforeEach(async () => {
    place = await copyOf(inject('template'));
  });
  afterEach(async () => {
    await killProcesses();
    await place.remove();
  });

  it('makes a key at the first start, prints it once, and never again; stops on SIGTERM and lets go of its data', async () => {
    const empty = await emptyPlace();
    const first = startProcess(empty.env);
    const url = await first.url();
    // Once as the key, and in the command to try next.
    const [key, ...more] = new Set(first.output().match(madeKey));
    expect(more).toEqual([]);
    expect(first.output()).toContain('Try next');
    expect((await new TestClient(() => url, key).graphql('{ viewer { user { name } } }')).data).toEqual({
      viewer: { user: { name: 'Administrator' } },
    });
    expect(await first.kill('SIGTERM')).toBe(0);
    expect(first.output()).toContain('stopped');

    const second = startProcess(empty.env);
    const secondUrl = await second.url();
    expect(second.output().match(madeKey)).toBeNull();
    expect((await new TestClient(() => secondUrl, key).graphql('{ viewer { keyId: __typename } }')).status).toBe(200);
    await second.kill('SIGTERM');
    await empty.remove();
  });

  it('takes the first key from PARLEY_ADMIN_KEY and prints none; loads no package that its settings do not ask for', async () => {
    const key = 'chosen-by-the-operator-40-characters-long';
    const watched = { NODE_OPTIONS: `--import=${new URL('../../support/processes/loaded-packages.mjs', import.meta.url)}` };
    const parley = startProcess({ ...place.env, ...watched, PARLEY_ADMIN_KEY: key });
    const url = await parley.url();
    expect(parley.output()).not.toContain(key);
    expect((await new TestClient(() => url, key).graphql('{ __typename }')).status).toBe(200);
    const loaded = [...parley.output().matchAll(/^loads (.+)$/gm)].map(([, name]) => name);
    expect(loaded).toContain('graphql');
    const ofClouds = ['@ai-sdk/amazon-bedrock', '@ai-sdk/google-vertex', 'google-auth-library'];
    const unasked = ['pino-pretty', '@ai-sdk/google', '@ai-sdk/anthropic', 'ajv', ...ofClouds];
    expect(loaded.filter((name) => unasked.includes(name ?? ''))).toEqual([]);
  });

  it('names every bad setting at once and starts nothing', async () => {
    const parley = startProcess({ ...place.env, PORT: 'http', LOG_LEVEL: 'loud', PARLEY_ADMIN_KEY: 'short' });
    expect(await parley.ended()).toBe(1);
    for (const name of ['PORT', 'LOG_LEVEL', 'PARLEY_ADMIN_KEY']) expect(parley.output()).toContain(`  ${name} must be `);
    expect(parley.output()).not.toContain('    at ');
  });

  it('reads .env of the folder it is started in; the environment wins', async () => {
    const folder = newFolder();
    writeFileSync(`${folder}/.env`, 'LOG_LEVEL=loud\nPORT=http\n');
    const parley = startProcess({ ...place.env, PORT: '0' }, folder);
    expect(await parley.ended()).toBe(1);
    expect(parley.output()).toContain('LOG_LEVEL must be ');
    expect(parley.output()).not.toContain('PORT must be ');
    rmSync(folder, { recursive: true });
  });

  it('keeps every acknowledged write through kill -9, starts again by itself, and shares its folder with nobody', async () => {
    const key = 'chosen-by-the-operator-40-characters-long';
    const env = { ...place.env, PARLEY_ADMIN_KEY: key };
    const parley = startProcess(env);
    const url = await parley.url();
    const client = new TestClient(() => url, key);
    const acknowledged: string[] = [];
    const writing = (async () => {
      for (let index = 0; ; index += 1) {
        const reply = await client.post('/api/v1/groups', { name: `Group ${index}`, availability: 'EVERYONE', memberEmails: '' });
        expect(reply).toMatchObject({ status: 200 });
        acknowledged.push(reply.body.id);
        if (acknowledged.length === 30) void parley.kill('SIGKILL');
      }
    })();
    await expect(writing).rejects.toThrow('fetch failed');

    const next = startProcess(env);
    const nextUrl = await next.url();
    if (testServerUrl === undefined) {
      const other = startProcess(env);
      expect(await other.ended()).toBe(1);
      expect(other.output()).toContain(`${place.env.DATA_DIR} is in use by another Parley process (pid ${next.pid})`);
      expect(other.output()).toContain('DATA_DIR');
    }
    const kept = await new TestClient(() => nextUrl, key).get('/api/v1/groups');
    const keptIds = new Set(kept.body.map(({ id }: { id: string }) => id));
    expect(acknowledged.length).toBeGreaterThanOrEqual(30);
    expect(acknowledged.filter((id) => !keptIds.has(id))).toEqual([]);
  });

  if (testServerUrl !== undefined) {
    it('shares a server with others: two processes, one first key, both serve', async () => {
      const empty = await emptyPlace();
      const both = [startProcess(empty.env), startProcess(empty.env)];
      const urls = await Promise.all(both.map((parley) => parley.url()));
      const keys = [...new Set(both.flatMap((parley) => parley.output().match(madeKey) ?? []))];
      expect(keys.length).toBe(1);
      for (const url of urls) expect((await new TestClient(() => url, keys[0]).graphql('{ __typename }')).status).toBe(200);
      await Promise.all(both.map((parley) => parley.kill('SIGTERM')));
      const pool = new Pool({ connectionString: empty.env.DATABASE_URL });
      expect((await pool.query('SELECT count(*)::int AS count FROM tenants')).rows).toEqual([{ count: 1 }]);
      await pool.end();
      await empty.remove();
    });
  }
});
