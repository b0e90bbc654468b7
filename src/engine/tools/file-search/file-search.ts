import { everything } from '../../../entities/ground/filter.ts';
import type { Knowledge } from '../../knowledge/knowledge.ts';
import { searchName } from '../../models/prompts/passages.ts';
import type { RightsOfAgent } from '../agents/agent-rights.ts';
import type { ToolKind } from '../tool-kind.ts';
import { checkOptions, readOptions } from './options.ts';
import { createFileSearchTool } from './search-tool.ts';
import type { StoreFinder } from './searched-places.ts';

export interface FileSearchDeps {
  readonly knowledge: Pick<Knowledge, 'search'>;
  readonly stores: StoreFinder;
  readonly rightsOfAgent: RightsOfAgent;
  /** Most tokens of the passages of one search. */
  readonly tokensMax: number;
  readonly resultCharsMax: number;
  /** Whether any of some sources is MIRRORED. */
  areAnyMirrored(dataSourceIds: readonly string[]): Promise<boolean>;
  now(): Date;
}

/** `file_search`: searches the agent's knowledge, and vector stores of the caller. What the run retrieves by itself stays as it is. */
export function createFileSearchKind(deps: FileSearchDeps): ToolKind {
  return {
    type: 'file_search',
    isReadOnly: true,
    description: 'Searches the knowledge of the agent, and vector stores of the caller; answers cite what was found.',
    check: checkOptions,
    functionNames: () => [searchName],
    async open({ options: givenOptions, ofAgent }, { plan, cite }) {
      const options = readOptions(givenOptions);
      const mustAsk = ofAgent !== undefined && options.vectorStoreIds.length > 0;
      // Of a request, the rights of the caller were checked when it was read.
      const readableSources = mustAsk ? (await deps.rightsOfAgent(plan, ofAgent)).readableSources : everything;
      return { functions: [createFileSearchTool({ ...deps, options, plan, cite, readableSources })] };
    },
  };
}
