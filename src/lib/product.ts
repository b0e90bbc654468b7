import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The version of this service. */
export const productVersion: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

/** Whether this is what deploy/pack.ts makes, not a clone. */
export const isPackage: boolean = existsSync(new URL('../../parley.js', import.meta.url));
/** How a person types a command of Parley, as it was installed: from a clone, by npx, or by npm. */
export const commandLine: string = commandOf(fileURLToPath(import.meta.url), isPackage, process.cwd());
/** How a person starts the service. */
export const startCommand: string = commandLine.startsWith('npm run') ? 'npm start' : `${commandLine} start`;

/** @param path  of a file of Parley. @param isPacked  made by deploy/pack.ts. @param folder  where the command was typed. */
export function commandOf(path: string, isPacked: boolean, folder: string): string {
  if (!isPacked) return 'npm run -s parley --';
  // The cache of npx: by the name alone it would look for a package of that name at the registry.
  if (/[\\/]_npx[\\/]/.test(path)) return `npx ./parley-${productVersion}.tgz`;
  return path.startsWith(folder) ? 'npx parley' : 'parley';
}

/** The `user-agent` of every call to a service of others: several of them, such as GitHub, refuse calls without one. */
export const userAgent = `Parley/${productVersion}`;

/** Headers of a call to a service of others; a `user-agent` that the operator set stays. */
export function withUserAgent(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'user-agent');
  return isGiven ? headers : { 'user-agent': userAgent, ...headers };
}
