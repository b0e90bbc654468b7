import { describe, expect, inject, it } from 'vitest';
import { parley, parleyProcess } from '../../support/processes/command-line.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { startService } from '../../support/service.ts';
import { copyOf, testServerUrl } from '../../support/storage/databases.ts';

describe('the command line without a service', () => {
  it('makes a key when all keys are lost', async () => {
    const place = await copyOf(inject('template'));
    const env = { ...place.env, PARLEY_ADMIN_KEY: 'the-first-key-that-is-about-to-be-lost-0001' };
    const first = startProcess(env);
    await first.url();
    const recovery = 'keys create --local --name Recovery --scopes all --level INSTANCE --json';
    if (testServerUrl === undefined) {
      const meanwhile = await parley(recovery, place.env);
      expect(meanwhile.code).toBe(1);
      expect(meanwhile.err).toMatch(/^The service is running on this data folder/);
    }
    await first.kill('SIGTERM');
    const made = await parleyProcess(recovery, place.env);
    expect([made.code, made.err]).toEqual([0, '']);
    const { key } = JSON.parse(made.out);
    const second = await startService({ env });
    const admin = second.client(key);
    expect((await admin.get('/api/v1/admin/tenants')).status).toBe(200);
    expect((await admin.get('/api/v1/admin/audit-log')).body.data).toMatchObject([
      { action: 'createApiKey', actorKeyId: 'local', actorEmail: 'admin@localhost' },
    ]);
    await second.close();
    await place.remove();
  });

  it('puts secrets under a new master key, and says when the old one is not needed', async () => {
    const place = await copyOf(inject('template'));
    const both = { ...place.env, PARLEY_MASTER_KEY: 'the new master key,the old master key' };
    const rotated = await parley('secrets rotate', both);
    expect([rotated.code, rotated.err]).toEqual([0, '']);
    expect(rotated.out).toContain('The first key alone opens everything');
    expect(JSON.parse((await parley('secrets rotate --json', both)).out)).toEqual({ changed: 0, total: 0, needOlder: 0 });
    if (testServerUrl === undefined) {
      const running = startProcess(both);
      await running.url();
      const meanwhile = await parley('secrets rotate', both);
      expect([meanwhile.code, meanwhile.err]).toEqual([
        1,
        expect.stringMatching(/^The service is running on this data folder\. It does this itself/),
      ]);
      await killProcesses();
    }
    expect((await parley('secrets paint')).err).toMatch(/^secrets can be rotated/);
    await place.remove();
  });

  it('fills no empty folder', async () => {
    const { code, err } = await parley('users list --local', { DATA_DIR: '/nowhere/at/all' });
    expect([code, err]).toEqual([1, 'There is nothing here yet. Start Parley once: npm start\n']);
  });
});
