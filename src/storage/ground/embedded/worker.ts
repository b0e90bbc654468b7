import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { DurableFiles } from './durable-files.ts';
import { prepareDatabaseFolder } from './new-database.ts';
import { compileProgram } from './program.ts';
import { ReserveFile } from './reserve-file.ts';
import { startParams } from './start-params.ts';
import { Upkeep } from './upkeep.ts';
import { WireServer } from './wire-server.ts';
import { WriteGuard } from './write-guard.ts';

/** The embedded database's thread: a long query here leaves every stream of the main thread running. */
export interface WorkerOptions {
  readonly databaseFolder: string;
  readonly isShared: boolean;
  readonly reservePath: string;
  readonly socketPath: string;
  readonly transactionIdleMsMax: number;
  readonly freeMinBytes: number;
  readonly reserveBytes: number;
}
/** `full` and `roomy` say that the database stopped writing, and writes again. */
export type WorkerMessage = 'ready' | 'closed' | 'full' | 'roomy';

const { databaseFolder, isShared, reservePath, socketPath, transactionIdleMsMax, freeMinBytes, reserveBytes } =
  workerData as WorkerOptions;
const lookEveryMs = 1_000;

const program = compileProgram();
const newDatabase = await prepareDatabaseFolder(databaseFolder);
const reserveFile = new ReserveFile(reservePath, reserveBytes);
const guard = new WriteGuard({
  ...{ folder: databaseFolder, freeMinBytes, reserveBytes, reserveFile },
  onChange: (isReadOnly) => tell(isReadOnly ? 'full' : 'roomy'),
});
const files = new DurableFiles({
  ...{ folder: databaseFolder, flushedPaths: newDatabase?.flushedPaths ?? [], reserveFile, onFull: () => guard.noteFull() },
  // PostgreSQL gave up in the middle of a change. The thread ends at once, so that nothing of it is acknowledged; the next start repairs it.
  onAbort: () => process.exit(1),
});
const db = await PGlite.create({
  fs: files,
  pgliteWasmModule: await program,
  extensions: { vector },
  startParams: startParams({ isShared }),
});
if (newDatabase?.isPrepared === false) await dropTemplates();
// As if the migrations had just been applied.
if (newDatabase?.isPrepared === true) await db.exec('UPDATE parley_migrations SET applied_at = now()');
const upkeep = new Upkeep({ db, log: files, guard });
// Before the first statement: on a full disk a first start would make its account, and refuse everything a second later.
guard.check();
await upkeep.run(true);
const server = new WireServer(db, { transactionIdleMsMax, log: files, upkeep });
await server.listen(socketPath);
const looking = setInterval(() => server.look(), lookEveryMs).unref();
tell('ready');

parentPort?.once('message', async () => {
  clearInterval(looking);
  guard.close();
  await server.close();
  await db.close();
  files.sync();
  tell('closed');
});

/** Parley makes no further database in this server. Without the templates of databases its folder has a third fewer files, which backups copy. */
async function dropTemplates(): Promise<void> {
  await db.exec("UPDATE pg_database SET datistemplate = false WHERE datname IN ('template0', 'template1')");
  for (const name of ['template0', 'template1']) await db.exec(`DROP DATABASE ${name}`);
}

function tell(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}
