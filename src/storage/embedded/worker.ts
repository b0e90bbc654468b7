import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { embeddedExtensions as extensions } from './extensions.ts';
import { compileProgram } from './program.ts';
import { prepareDatabaseFolder } from './template.ts';
import { WireServer } from './wire-server.ts';

/** The embedded database's thread: a long query here leaves every stream of the main thread running. */
export interface WorkerOptions {
  readonly databaseFolder: string;
  readonly socketPath: string;
  readonly transactionIdleMsMax: number;
}
export type WorkerMessage = 'ready' | 'closed';

const options = workerData as WorkerOptions;
const program = compileProgram();
await prepareDatabaseFolder(options.databaseFolder, async (folder) => (await PGlite.create(folder)).close());
const db = await PGlite.create(options.databaseFolder, { extensions, pgliteWasmModule: await program });
const server = new WireServer(db, options.transactionIdleMsMax);
await server.listen(options.socketPath);
tell('ready');

parentPort?.once('message', async () => {
  await server.close();
  await db.close();
  tell('closed');
});

function tell(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}
