import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Makes the Prisma client from prisma/schema.prisma: `npm run db:generate`. The JavaScript is committed, so that an installation without development
 * packages starts; the types of the models, which only the type checker reads, are not. Exits in milliseconds when nothing changed.
 */
const schemaPath = 'prisma/schema.prisma';
const stampPath = 'src/storage/generated/.stamp';
const clientPath = 'src/storage/generated/internal/class.ts';
const namespacePath = 'src/storage/generated/internal/prismaNamespace.ts';
const stamp = [schemaPath, 'package-lock.json', import.meta.filename]
  .reduce((hash, path) => hash.update(readFileSync(path)), createHash('sha256'))
  .digest('hex');

if (!existsSync(stampPath) || readFileSync(stampPath, 'utf8') !== stamp) {
  await generate();
  writeFileSync(stampPath, stamp);
}

/** Does the work of `prisma generate` without Prisma's command line, which downloads an engine and has 190 MB of packages. */
async function generate(): Promise<void> {
  // As CommonJS: the ES modules of these packages do not load in Node.
  const require = createRequire(import.meta.url);
  const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts') as typeof import('@prisma/client-generator-ts');
  const { enginesVersion } = require('@prisma/engines-version') as typeof import('@prisma/engines-version');
  const { getGenerators } = require('@prisma/internals') as typeof import('@prisma/internals');
  const registry = { 'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() } } as const;
  const generators = await getGenerators({ schemaPath, registry, version: enginesVersion, cliCommand: 'npm run db:generate' });
  for (const generator of generators) {
    await generator.generate();
    generator.stop();
  }
  lighten();
}

/**
 * Rewrites what would take memory for as long as the process runs:
 *
 * - The client imports its query compiler as a module of four megabytes of text, which stays as the text of the module, as its string and in the compile
 *   cache. The rewritten client reads the same file, and keeps nothing of it but the compiled program.
 * - Its texts have characters outside Latin-1, for which V8 keeps the whole text of the module with two bytes a character: they become escapes.
 */
function lighten(): void {
  for (const path of [clientPath, namespacePath]) {
    const text = readFileSync(path, 'utf8');
    const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    writeFileSync(path, text.replaceAll(/[\u0100-\uffff]/g, toEscape));
  }
  const client = readFileSync(clientPath, 'utf8');
  const imported =
    /const \{ wasm \} = await import\("(@prisma\/client\/runtime\/[\w.-]+\.wasm-base64\.mjs)"\)\s+return await decodeBase64AsWasm\(wasm\)/;
  if (!imported.test(client)) throw new Error(`${clientPath} does not import its query compiler as expected`);
  const read =
    'const { readQueryCompiler } = await import("../../ground/wasm-programs.ts")\n    return await readQueryCompiler("$1")';
  writeFileSync(clientPath, client.replace(imported, read).replace(/async function decodeBase64AsWasm[\s\S]+?\n\}\n\n/, ''));
}
