import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSecret, keyPrefix, makeKeySecret } from '../../src/entities/people/api-key.ts';
import { scopes } from '../../src/entities/people/caller.ts';
import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';

/** A service with two tenants, of one person and thirty agents each. Sends its address, the two keys and, when asked, its processor time and its memory. */
const agentCount = 30;
const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'));
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
const { DATABASE_URL } = process.env;
const settings = loadSettings({
  PORT: '0',
  DATA_DIR: dataDir,
  DEMO: 'off',
  PARLEY_ADMIN_KEY: 'pk-bench-administrator-key-of-40-characters',
  PARLEY_MASTER_KEY: 'a master key for measurements only',
  ...(DATABASE_URL === undefined ? {} : { DATABASE_URL }),
});
const service = await startService(settings, createLogger({ ...settings, LOG_LEVEL: 'silent' }), (error) => {
  throw error;
});
const noisyKey = await makeTenant('noisy');
const quietKey = await makeTenant('quiet');
process.send?.({ url: service.url, noisyKey, quietKey });
process.on('message', (message) => {
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system });
  }
  if (message === 'memory') {
    global.gc?.();
    process.send?.({ heapBytes: process.memoryUsage().heapUsed });
  }
  if (message === 'stop') void service.close(1_000).then(() => process.exit(0));
});
process.on('disconnect', () => process.exit());

/** @returns the secret of its person's key. */
async function makeTenant(name: string): Promise<string> {
  const { storage, newId, now } = service.deps;
  const [tenantId, orgId, userId, createdAt] = [newId('tenant'), newId('organization'), newId('user'), now()];
  await storage.people.tenancy.createTenant({ id: tenantId, name, createdAt });
  await storage.people.tenancy.createOrganization({ id: orgId, tenantId, name, createdAt });
  await storage.people.tenancy.createUser({ id: userId, tenantId, email: `${name}@example.com`, name, createdAt });
  await storage.people.tenancy.addMember({ id: newId('membership'), orgId, userId, role: 'MEMBER', createdAt });
  const secret = makeKeySecret();
  const secrets = { prefix: keyPrefix(secret), hash: hashSecret(secret) };
  const key = { id: newId('apiKey'), createdAt, orgId, userId, name, scopes, level: 'ORGANIZATION', expiresAt: null } as const;
  await storage.people.apiKeys.create({ ...key, ...secrets });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  for (let index = 0; index < agentCount; index += 1) {
    const body = JSON.stringify({
      src: '',
      name: `Store ${index}`,
      description: 'Answers questions.',
      instructions: 'Be brief.',
    });
    const reply = await fetch(`${service.url}/api/v1/ais`, { method: 'POST', headers, body });
    if (!reply.ok) throw new Error(`an agent was not made: ${reply.status} ${await reply.text()}`);
  }
  return secret;
}
