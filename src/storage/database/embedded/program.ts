import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { leaveMemoryUntouched } from './untouched-memory.ts';

/**
 * How much a function of WebAssembly works before the slow, good compiler takes it: ten times what it is otherwise. What a start passes once
 * is then no longer among it, which is a third of a second of both processors of a small machine; what is busy still is, a moment later.
 */
const tieringBudget = 130_000_000;

/**
 * Compiles PostgreSQL: nine megabytes of code are most of what a start of the embedded database costs. In the thread of the database, since
 * the other one has all of Parley to load meanwhile, and would only look up now and then.
 */
export async function compileProgram(): Promise<WebAssembly.Module> {
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudget}`);
  const folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
  return WebAssembly.compile(leaveMemoryUntouched(await readFile(join(folder, 'pglite.wasm'))));
}
