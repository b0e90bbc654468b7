import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkMasterKeys } from '../../../../src/storage/vault/check-keys.ts';
import { loadMasterKeys } from '../../../../src/storage/vault/master-keys.ts';
import { Vault } from '../../../../src/storage/vault/vault.ts';
import { makeFor } from '../../../support/make.ts';
import { startService, type TestService } from '../../../support/service.ts';

const [oldKey, newKey] = ['the old master key of this test', 'the new master key of this test'];
const both = `${newKey},${oldKey}`;
const swapped = `${oldKey},${newKey}`;

describe('a change of the master key', () => {
  let service: TestService;
  let orgIds: readonly string[];
  beforeAll(async () => {
    service = await startService();
    const make = makeFor(service);
    orgIds = [(await make.person()).orgId, (await make.person()).orgId];
  });
  beforeEach(async () => {
    await service.deps.storage.db.pool.query('DELETE FROM organization_keys');
  });
  afterAll(() => service.close());

  /** Starts with these keys on the stored data. @throws StartRefusal */
  async function start(keys: string): Promise<Vault> {
    const { db } = service.deps.storage;
    const settings = { PARLEY_MASTER_KEY: keys, DATABASE_URL: undefined, DATA_DIR: service.deps.settings.DATA_DIR };
    const masterKeys = loadMasterKeys(settings);
    await checkMasterKeys(db, masterKeys, settings);
    return new Vault(db, masterKeys);
  }
  const place = (index: number) => ({ orgId: orgIds[index] ?? '', table: 'tools', rowId: 'one' });
  const sealed = async (keys: string, index = 0) => (await start(keys)).seal(place(index), 'kept');
  const opens = async (keys: string, text: string, index = 0) =>
    expect(await (await start(keys)).open(place(index), text)).toBe('kept');
  const rotation = async (keys: string) => (await start(keys)).rotate();
  const refused = (keys: string) => expect(start(keys)).rejects.toThrow('PARLEY_MASTER_KEY is not the key that opens');

  it('needs both keys for one start, and then the new one alone', async () => {
    const text = await sealed(oldKey);
    await refused(newKey);
    expect(await rotation(both)).toEqual({ changed: 1, total: 1, needOlder: 0 });
    await opens(newKey, text);
  });

  it('is done once, by whatever process comes first', async () => {
    await sealed(oldKey, 0);
    await sealed(oldKey, 1);
    const [one, two] = await Promise.all([rotation(both), rotation(both)]);
    expect(one.changed + two.changed).toBe(2);
    expect(await rotation(both)).toEqual({ changed: 0, total: 2, needOlder: 0 });
  });

  it('keeps instances with only the old key working until the new key is alone', async () => {
    const text = await sealed(oldKey);
    await rotation(both);
    await opens(oldKey, text);
    expect(await rotation(newKey)).toEqual({ changed: 1, total: 1, needOlder: 0 });
    await refused(oldKey);
    await opens(newKey, text);
  });

  it('takes both keys in either order', async () => {
    const text = await sealed(oldKey);
    await rotation(swapped);
    await opens(newKey, text);
    await rotation(both);
    await opens(oldKey, text);
  });

  it('is incomplete after an interruption, and may be repeated', async () => {
    const text = await sealed(oldKey, 0);
    await sealed(oldKey, 1);
    const { pool } = service.deps.storage.db;
    const { rows } = await pool.query('SELECT wrapped FROM organization_keys WHERE "orgId" = $1', [orgIds[0]]);
    await rotation(both);
    await pool.query('UPDATE organization_keys SET wrapped = $2 WHERE "orgId" = $1', [orgIds[0], rows[0].wrapped]);
    await refused(newKey);
    expect(await rotation(both)).toEqual({ changed: 1, total: 2, needOlder: 0 });
    await opens(newKey, text);
  });

  it('says that an older key is needed for what an instance with that one alone added', async () => {
    await sealed(oldKey, 0);
    await rotation(both);
    const text = await sealed(oldKey, 1);
    await refused(newKey);
    await opens(both, text, 1);
    expect(await rotation(both)).toEqual({ changed: 1, total: 2, needOlder: 0 });
    await opens(newKey, text, 1);
  });

  it('happens at a start, before requests are answered', async () => {
    const vault = await start(oldKey);
    await vault.seal(place(0), 'kept');
    await service.restart({ PARLEY_MASTER_KEY: both });
    await service.restart({ PARLEY_MASTER_KEY: newKey });
    await refused(oldKey);
  });
});
