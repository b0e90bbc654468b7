import type { Knowledge } from '../../knowledge/knowledge.ts';
import type { ToolKind } from '../tool-kind.ts';
import { checkOptions, readOptions } from './options.ts';
import { createFileSearchTool } from './search-tool.ts';
import type { StoreFinder } from './searched-places.ts';

export interface FileSearchDeps {
  readonly knowledge: Pick<Knowledge, 'search'>;
  readonly stores: StoreFinder;
  /** Most tokens of the passages of one search. */
  readonly tokensMax: number;
  readonly resultCharsMax: number;
  now(): Date;
}

/** `file_search`: searches the agent's knowledge, and vector stores of the caller. What the run retrieves by itself stays as it is. */
export function createFileSearchKind(deps: FileSearchDeps): ToolKind {
  return {
    type: 'file_search',
    isReadOnly: true,
    description: 'Searches the knowledge of the agent, and vector stores of the caller; answers cite what was found.',
    check: checkOptions,
    functionNames: () => ['search_knowledge'],
    open: ({ options }, { plan, cite }) => ({
      functions: [createFileSearchTool({ ...deps, options: readOptions(options), plan, cite })],
    }),
  };
}
