import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const quote = '"'.charCodeAt(0);

/**
 * Compiles a WebAssembly program, which copies its bytes, and gives up their memory at once. A thread that does little afterwards would keep several
 * megabytes of garbage for minutes.
 *
 * @param bytes  with a memory of their own; empty afterwards.
 */
export function compileAndRelease(bytes: Buffer<ArrayBuffer>): Promise<WebAssembly.Module> {
  const compiling = WebAssembly.compile(bytes);
  bytes.buffer.transfer(0);
  return compiling;
}

/**
 * Compiles the query compiler of Prisma's client from the file of its package: a module that exports one string, the program as base64. Read as a file and
 * not imported, because a module keeps its text, its string and both of them in the compile cache in memory for as long as the process runs.
 *
 * @param specifier  of the file: `@prisma/client/runtime/….wasm-base64.mjs`.
 * @throws Error when there is no string in it.
 */
export async function readQueryCompiler(specifier: string): Promise<WebAssembly.Module> {
  const text: Buffer<ArrayBuffer> = await readFile(createRequire(import.meta.url).resolve(specifier));
  const start = text.indexOf(quote) + 1;
  const end = text.indexOf(quote, start);
  if (start === 0 || end === -1) throw new Error(`${specifier} has no program`);
  const bytes = Buffer.from(text.toString('latin1', start, end), 'base64');
  text.buffer.transfer(0);
  return compileAndRelease(bytes);
}
