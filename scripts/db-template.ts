import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';
import { pino } from 'pino';
import { createPgBossJobs } from '../src/engine/jobs/pg-boss.ts';
import { loadSettings } from '../src/settings.ts';
import { templatePath } from '../src/storage/ground/embedded/template.ts';
import { openDatabase } from '../src/storage/ground/opening/open.ts';

/**
 * Makes the prepared empty database: `npm run db:template`, before a release and after each change of PGlite's version. It contains the extensions,
 * the tables of the migrations so far, and the tables of the job queue. A start applies later migrations as usual; a migration in the template must
 * not be edited any more.
 */
const folder = mkdtempSync(join(tmpdir(), 'parley-template-'));
rmSync(templatePath, { force: true });
const fail = (error: Error) => {
  throw error;
};
const database = await openDatabase(loadSettings({ DATA_DIR: folder }), { onError: fail });
const jobs = createPgBossJobs({ db: database, isWorker: false, logger: pino({ level: 'silent' }) });
await jobs.start();
await jobs.stop(0);
await database.close();

const db = await PGlite.create(join(folder, 'database'));
// Parley makes no further database in this server; without these two databases the folder has a third of the files.
await db.exec("UPDATE pg_database SET datistemplate = false WHERE datname IN ('template0', 'template1')");
for (const name of ['template0', 'template1']) await db.exec(`DROP DATABASE ${name}`);
for (const step of ['VACUUM FULL', 'CHECKPOINT']) await db.exec(step);
const archive = Buffer.from(await (await db.dumpDataDir('none')).arrayBuffer());
await db.close();
rmSync(folder, { recursive: true });
writeFileSync(templatePath, zstdCompressSync(archive, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }));
console.log(`Wrote ${templatePath}.`);
