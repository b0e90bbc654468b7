import { readFileSync } from 'node:fs';

/** The version of this service. */
export const productVersion: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

/** The `user-agent` of every call to a service of others: several of them, such as GitHub, refuse calls without one. */
export const userAgent = `Parley/${productVersion}`;

/** Headers of a call to a service of others; a `user-agent` that the operator set stays. */
export function withUserAgent(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'user-agent');
  return isGiven ? headers : { 'user-agent': userAgent, ...headers };
}
