import { oneLine } from '../../../lib/text/text.ts';
import type { ToolKind } from '../tool-kind.ts';
import { AddressMemory } from './address-memory.ts';
import { checkOptions, readOptions } from './options.ts';
import { createPageTool, type PageReading } from './page-tool.ts';
import type { UserLocation } from './providers/provider.ts';
import type { SearchClient } from './search-client.ts';
import { createSearchTool } from './search-tool.ts';
import { WebSources } from './web-passage.ts';

export interface WebSearchDeps {
  /** Undefined while SEARCH_URL is not set. */
  readonly web: SearchClient | undefined;
  /** Undefined while X_SEARCH_URL is not set. */
  readonly x: SearchClient | undefined;
  readonly pages: PageReading;
  readonly resultCharsMax: number;
}

/** `web_search`: searches the web, and reads pages. */
export function createWebSearchKind({ web, x, pages, resultCharsMax }: WebSearchDeps): ToolKind {
  return {
    type: 'web_search',
    isReadOnly: true,
    description: 'Searches the web and reads pages of it; answers cite them.',
    ...(web === undefined ? { unavailable: { setting: 'SEARCH_URL', reason: 'no search service is set up' } } : {}),
    check: (options, at, faults) => checkOptions(options, at, x !== undefined, faults),
    functionNames: () => ['web_search', 'open_page'],
    open({ options: givenOptions }, { plan, cite }) {
      if (web === undefined) return { functions: [] };
      const options = readOptions(givenOptions);
      const knownAddresses = new AddressMemory(plan.messages);
      const sources = new WebSources(cite);
      const { charge: owner, generateCitations: isCiting } = plan;
      const sharedContext = { options, known: knownAddresses, sources, owner, resultCharsMax, isCiting };
      const instructions = writePlace(options.location);
      return {
        functions: [
          createSearchTool({ ...sharedContext, web, x: options.includesX ? x : undefined }),
          createPageTool({ ...sharedContext, ...pages }),
        ],
        ...(instructions === undefined ? {} : { instructions }),
      };
    },
  };
}

function writePlace({ city, region, country, timezone }: UserLocation = {}): string | undefined {
  const place = [city, region, country].filter((name) => name !== undefined).join(', ');
  const zone = timezone === undefined ? '' : ` (time zone ${timezone})`;
  if (place === '' && zone === '') return undefined;
  return oneLine(`The user is roughly in: ${place}${zone}. Search with it where the place matters.`);
}
