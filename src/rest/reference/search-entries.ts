import type { SearchEntry } from '../../http/page/search-entry.ts';
import type { Route } from '../compile.ts';

/** Every operation of REST, each with its place in the reference. */
export function restSearchEntries(routes: readonly Route[]): readonly SearchEntry[] {
  return routes.map(({ row: { method, path, summary, description = '', tag, operationId } }) => ({
    kind: 'rest',
    title: `${method.toUpperCase()} ${path}`,
    detail: summary,
    address: `/docs#/${encodeURIComponent(tag)}/${operationId}`,
    text: `${operationId} ${tag} ${description}`,
  }));
}
