import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Compiles PostgreSQL: nine megabytes of code are most of what a start of the embedded database costs. In the thread of the database, since
 * the other one has all of Parley to load meanwhile, and would only look up now and then.
 */
export async function compileProgram(): Promise<WebAssembly.Module> {
  const folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
  const bytes: Buffer<ArrayBuffer> = await readFile(join(folder, 'pglite.wasm'));
  const compiling = WebAssembly.compile(bytes);
  // It has copied them. A thread that does little afterwards would keep nine megabytes of garbage for minutes.
  bytes.buffer.transfer(0);
  return compiling;
}
