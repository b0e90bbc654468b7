import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const migrationsFolder = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));
/** The migrations for which the first one of `migrationsFolder` stands. */
export const earlierMigrationsFolder = join(migrationsFolder, 'earlier');

/** The name of the newest migration of this program, without reading any. */
export function newestMigration(): string {
  return readdirSync(migrationsFolder).reduce((newest, name) => (parseNumber(name) > parseNumber(newest) ? name : newest), '');
}

function parseNumber(name: string): number {
  const number = Number.parseInt(name, 10);
  return Number.isNaN(number) ? 0 : number;
}
