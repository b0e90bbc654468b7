import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';
import { embeddedExtensions } from '../src/storage/embedded/extensions.ts';
import { templatePath } from '../src/storage/embedded/template.ts';

/**
 * Makes the prepared empty database of the installed PGlite: `npm run db:template`, after each change of its version. It holds the
 * extensions and none of our tables, so migrations do not concern it.
 */
const folder = mkdtempSync(join(tmpdir(), 'parley-template-'));
const db = await PGlite.create(join(folder, 'database'), { extensions: embeddedExtensions });
for (const name of Object.keys(embeddedExtensions)) await db.exec(`CREATE EXTENSION ${name}`);
// Parley makes no further database in this server; without these two the folder has a third of the files.
await db.exec("UPDATE pg_database SET datistemplate = false WHERE datname IN ('template0', 'template1')");
for (const name of ['template0', 'template1']) await db.exec(`DROP DATABASE ${name}`);
for (const step of ['VACUUM FULL', 'CHECKPOINT']) await db.exec(step);
const archive = Buffer.from(await (await db.dumpDataDir('none')).arrayBuffer());
await db.close();
rmSync(folder, { recursive: true });
writeFileSync(templatePath, zstdCompressSync(archive, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }));
console.log(`Wrote ${templatePath}.`);
