import type { SearchEntry } from '../../http/page/search-entry.ts';
import type { Route } from '../compile.ts';
import { runSavedDocument } from '../saved-documents/openapi.ts';

/** Every operation of REST, each with its place in the reference. */
export function restSearchEntries(routes: readonly Route[]): readonly SearchEntry[] {
  const { path: runPath, operation } = runSavedDocument;
  const run = { ...operation, method: 'POST', path: runPath, tag: operation.tags[0] ?? '' };
  return [...routes.map(({ row }) => row), run].map(({ method, path, summary, description = '', tag, operationId }) => ({
    kind: 'rest',
    title: `${method.toUpperCase()} ${path}`,
    detail: summary,
    address: `/docs#/${encodeURIComponent(tag)}/${operationId}`,
    text: `${operationId} ${tag} ${description}`,
  }));
}
