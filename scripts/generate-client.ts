import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Makes the Prisma client from prisma/schema.prisma: `npm run db:generate`. The JavaScript is committed, so that an installation without development
 * packages starts; the types of the models, which only the type checker reads, are not. Exits in milliseconds when nothing changed.
 */
const schemaPath = 'prisma/schema.prisma';
const stampPath = 'src/storage/generated/.stamp';
const stamp = [schemaPath, 'package-lock.json']
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
}
