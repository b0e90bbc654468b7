import type { DeclaredRoute } from './route.ts';

/** What a stock client of the common format may have as its base address, besides `/api/v2` for responses. */
export const clientBases = ['/v1', '/api/v1'] as const;

/** A base address at the beginning of a path. */
const anyBase = /^\/api\/v\d+(?=\/)/;

/** Every path of a route: its own first, then the same below each base of stock clients. */
export function listPaths({ path, forClients }: Pick<DeclaredRoute, 'path' | 'forClients'>): readonly string[] {
  if (forClients !== true) return [path];
  return [...new Set([path, ...clientBases.map((base) => path.replace(anyBase, base))])];
}

/** Whether a request for the route came by another path than the route's own, as stock clients send it. */
export function isAlias({ path, forClients }: DeclaredRoute, url: string): boolean {
  return forClients === true && !url.startsWith(`${anyBase.exec(path)?.[0]}/`);
}
