import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PermissionReader } from '../../../src/engine/knowledge/connectors/permissions.ts';
import { PermissionReaders } from '../../../src/engine/knowledge/connectors/registry.ts';
import { syncPermissions } from '../../../src/engine/knowledge/sync/sync-permissions.ts';
import type { AccessEntry, ItemAccess } from '../../../src/entities/knowledge/permissions.ts';
import { createLogger } from '../../../src/http/log/logging.ts';
import { loadSettings } from '../../../src/settings.ts';
import { startService } from '../../../src/start/service.ts';
import { watchStatements } from '../../support/statements.ts';

/**
 * What it costs to read the permissions of a source of which nothing changed: the reading of everything, which feeds of changes make rare. Prints the
 * processor time of the process, which is that of the embedded database too, the statements, and how many rows were written. A reader of permissions
 * has no means to read a document; the service that would be asked for them is a port where nothing listens.
 *
 *     node bench/growth/permissions/sync.ts [items, default 100000]
 */
const itemCount = Number(process.argv[2] ?? 100_000);
const listCount = 5_000;
const [sourceId, orgId] = ['ds_permission_sync', 'org_permission_sync'];
const secondsWanted = 60;

const reader: PermissionReader = {
  async *read(task) {
    for await (const items of task.items()) {
      const told = items.map(({ uniqueId }): ItemAccess => {
        const id = String(Number(uniqueId) % listCount);
        const list: AccessEntry[] = [
          { kind: 'group', id },
          { kind: 'user', email: `${id}@example.org` },
        ];
        return { uniqueId, permissions: { lists: [list] } };
      });
      yield { items: told, place: { after: items.at(-1)?.uniqueId } };
    }
    return { isFull: true, state: {} };
  },
};

const folder = mkdtempSync(join(tmpdir(), 'parley-permission-sync-'));
const settings = loadSettings({
  DATA_DIR: folder,
  PORT: '0',
  LOG_LEVEL: 'error',
  GITHUB_API_URL: 'http://127.0.0.1:1',
  DATABASE_STATEMENT_TIMEOUT_MS: '600000',
});
const service = await startService(settings, createLogger({ ...settings, LOG_LEVEL: 'error' }), (error) => {
  throw error;
});
try {
  const { storage, logger } = service.deps;
  const { db } = storage;
  await db.execute(`insert into tenants (id, "updatedAt", name) values ('ten_permission_sync', now(), 'Measured')`);
  await db.execute(
    `insert into organizations (id, "updatedAt", "tenantId", name) values ($1, now(), 'ten_permission_sync', 'Measured')`,
    [orgId],
  );
  await db.execute(
    `insert into data_sources (id, "updatedAt", "orgId", "ownerUserId", name, type, access, data)
     values ($1, now(), $2, 'user_0', 'Measured', 'REPO_HOST', 'MIRRORED', '{}')`,
    [sourceId, orgId],
  );
  await db.execute(
    `insert into knowledge_items (id, "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, "indexStatus")
     select 'ki_' || n, now(), $1, $2, 'Document ' || n, n, 'FILE', 'INDEXED' from generate_series(1, $3::int) as n`,
    [orgId, sourceId, itemCount],
  );
  await db.execute('analyze knowledge_items');
  const context = {
    settings,
    storage,
    logger,
    permissionReaders: new PermissionReaders(new Map([['REPO_HOST', reader]])),
    owner: 'measurement',
  };
  const read = async (what: string) => {
    await db.execute(`update permission_readings set "fullAt" = null where "dataSourceId" = $1`, [sourceId]);
    const versions = () =>
      db.query<{ sum: string }>('select sum(xmin::text::bigint)::text as sum from knowledge_items where "dataSourceId" = $1', [
        sourceId,
      ]);
    const [before] = await versions();
    const [cpuBefore, startMs] = [process.cpuUsage(), performance.now()];
    const statements = await watchStatements(service, async () => {
      await syncPermissions(context, sourceId, AbortSignal.timeout(540_000));
    });
    const { user, system } = process.cpuUsage(cpuBefore);
    const seconds = (user + system) / 1e6;
    const [after] = await versions();
    const [reading] = await db.query<{ readAt: Date | null; errorCode: string | null }>(
      'select "readAt", "errorCode" from permission_readings where "dataSourceId" = $1',
      [sourceId],
    );
    if (reading?.readAt === null || reading?.errorCode !== null) throw new Error(`the reading failed: ${reading?.errorCode}`);
    console.log(
      `${what}: ${itemCount} items, ${seconds.toFixed(1)} s of CPU, ${((performance.now() - startMs) / 1000).toFixed(1)} s, ${statements.length} statements, items ${before?.sum === after?.sum ? 'not written' : 'written'}`,
    );
    return { seconds, isUntouched: before?.sum === after?.sum };
  };
  await read('the first reading');
  const { seconds, isUntouched } = await read('the same once more');
  process.exitCode = seconds <= secondsWanted && isUntouched ? 0 : 1;
} finally {
  await service.close(0);
  rmSync(folder, { recursive: true, force: true });
}
