import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadMasterKeys } from '../../../../src/storage/vault/master-keys.ts';
import { Vault } from '../../../../src/storage/vault/vault.ts';
import { startService, type TestService } from '../../../support/service.ts';

describe('the vault', () => {
  let service: TestService;
  let orgId: string;
  beforeAll(async () => {
    service = await startService();
    const { rows } = await service.deps.storage.db.pool.query<{ id: string }>('SELECT id FROM organizations');
    orgId = rows[0]?.id ?? '';
  });
  afterAll(() => service.close());

  const keys = (...materials: string[]) =>
    loadMasterKeys({ PARLEY_MASTER_KEY: materials.join(','), DATABASE_URL: undefined, DATA_DIR: '/nowhere' });
  const place = (rowId: string, table = 'tools') => ({ orgId, table, rowId });

  it('gives back what it sealed, never twice in the same form', async () => {
    const { vault } = service.deps.storage;
    const sealed = await vault.seal(place('one'), 'sk-secret-ö');
    expect(sealed).not.toContain('secret');
    expect(await vault.seal(place('one'), 'sk-secret-ö')).not.toBe(sealed);
    expect(await vault.open(place('one'), sealed)).toBe('sk-secret-ö');
  });

  it.each([
    ['another row', { rowId: 'two' }],
    ['another table', { table: 'tokens' }],
  ])('does not open a sealed text that was moved to %s', async (_case, elsewhere) => {
    const { vault } = service.deps.storage;
    const sealed = await vault.seal(place('one'), 'secret');
    await expect(vault.open({ ...place('one'), ...elsewhere }, sealed)).rejects.toThrow('belongs elsewhere');
  });

  it('does not open a changed text', async () => {
    const { vault } = service.deps.storage;
    const sealed = await vault.seal(place('one'), 'secret');
    const flipped = sealed.slice(0, -4) + (sealed.at(-4) === 'A' ? 'B' : 'A') + sealed.slice(-3);
    await expect(vault.open(place('one'), flipped)).rejects.toThrow();
  });

  it('opens old secrets under a new master key after a rotation, and no longer needs the old one', async () => {
    const { db } = service.deps.storage;
    await db.pool.query('DELETE FROM organization_keys');
    const sealed = await new Vault(db, keys('the first master key')).seal(place('one'), 'kept');
    const both = new Vault(db, keys('the second master key', 'the first master key'));
    expect(await both.open(place('one'), sealed)).toBe('kept');
    expect(await both.rotate()).toEqual({ changed: 1, total: 1, needOlder: 0 });
    expect(await both.rotate()).toEqual({ changed: 0, total: 1, needOlder: 0 });
    const first = new Vault(db, keys('the first master key'));
    const second = new Vault(db, keys('the second master key'));
    // An instance that has not restarted yet still works.
    expect(await first.open(place('one'), sealed)).toBe('kept');
    expect(await second.open(place('one'), sealed)).toBe('kept');
    expect(await second.rotate()).toEqual({ changed: 1, total: 1, needOlder: 0 });
    await expect(new Vault(db, keys('the first master key')).open(place('one'), sealed)).rejects.toThrow('not among those given');
  });
});

describe('master keys', () => {
  it('are made once in the data folder, readable by the owner only', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-keys-'));
    const settings = { PARLEY_MASTER_KEY: undefined, DATABASE_URL: undefined, DATA_DIR: folder };
    const made = loadMasterKeys(settings);
    expect(existsSync(join(folder, 'master.key'))).toBe(false);
    made.keep();
    expect(loadMasterKeys(settings).sealing).toEqual(made.sealing);
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600);
    rmSync(folder, { recursive: true });
  });
  it.each([
    ['too short', { PARLEY_MASTER_KEY: 'short', DATABASE_URL: undefined }],
    ['missing beside a server', { PARLEY_MASTER_KEY: undefined, DATABASE_URL: 'postgres://localhost/x' }],
  ])('are refused when %s, by name', (_case, settings) => {
    expect(() => loadMasterKeys({ ...settings, DATA_DIR: '/nowhere' })).toThrow('PARLEY_MASTER_KEY');
  });
});
