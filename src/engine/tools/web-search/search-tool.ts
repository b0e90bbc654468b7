import type { CallForm } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { printableArgument, textArgument } from '../arguments.ts';
import { foreignNote, markForeign } from '../foreign/foreign-text.ts';
import type { ServerTool, ToolResult } from '../server-tool.ts';
import type { AddressMemory } from './address-memory.ts';
import { mayVisit } from './domains.ts';
import type { WebSearchOptions } from './options.ts';
import type { WebQuery, WebResult } from './providers/provider.ts';
import type { SearchClient } from './search-client.ts';
import type { WebSources } from './web-passage.ts';

const queryMax = 400;
/** Of the note and of the tags of one result. */
const noteChars = 600;
const tagChars = 60;
const snippetCharsMax = 1_500;

export interface SearchToolContext {
  readonly web: SearchClient;
  /** Searches posts; undefined where the request does not ask for it. */
  readonly x: SearchClient | undefined;
  readonly options: WebSearchOptions;
  readonly known: AddressMemory;
  readonly sources: WebSources;
  readonly owner: ShareOwner;
  readonly resultCharsMax: number;
  /** Whether the answer cites. */
  readonly isCiting: boolean;
}

interface Found extends WebResult {
  readonly from: 'web' | 'x';
}
interface Findings {
  readonly results: readonly Found[];
  readonly notes: readonly string[];
}

/** Makes `web_search` for one run. A question that was asked before in the run is answered from memory. */
export function createSearchTool(context: SearchToolContext): ServerTool {
  const askedQueries = new Map<string, Promise<Findings>>();
  return {
    definition: {
      name: 'web_search',
      description: 'Searches the web. Answers titles, addresses and short texts of pages; open_page reads one of them.',
      parameters: {
        type: 'object',
        properties: { query: { type: 'string', description: `What to search for, at most ${queryMax} characters.` } },
        required: ['query'],
        additionalProperties: false,
      },
    },
    hint: 'Searching the web',
    ifLost: 'repeat',
    form: (args) => makeForm(printableArgument(args, 'query', queryMax)),
    async run(args, _secrets, signal) {
      const query = textArgument(args, 'query', queryMax);
      const key = query.toLowerCase();
      const finding = askedQueries.get(key) ?? find(context, query, signal);
      askedQueries.set(key, finding);
      try {
        return writeResult(context, query, await finding);
      } catch (error) {
        // A failure may pass: it is not kept.
        askedQueries.delete(key);
        throw error;
      }
    },
  };
}

function makeForm(query: string, results?: readonly Found[]): CallForm {
  const sources = results?.map(({ url, title }) => ({ url, title }));
  return { type: 'web_search', action: { type: 'search', query, ...(sources === undefined ? {} : { sources }) } };
}

/** Asks both services at once. @throws DomainError when every one of them failed. */
async function find({ web, x, options, owner }: SearchToolContext, query: string, signal: AbortSignal): Promise<Findings> {
  const { filter, location, size } = options;
  const webQuery: WebQuery = {
    ...{ query, location, resultsMax: size.resultsMax },
    ...{ allowedDomains: filter.allowed, blockedDomains: filter.blocked },
  };
  const ask = async (client: SearchClient, from: Found['from']): Promise<Findings> => {
    const results = await client.search(webQuery, owner, signal);
    const visible = results.filter(({ url }) => mayVisit(filter, new URL(url).hostname));
    return { results: visible.slice(0, size.resultsMax).map((result) => ({ ...result, from })), notes: [] };
  };
  if (x === undefined) return ask(web, 'web');
  const asks = [ask(web, 'web'), ask(x, 'x')];
  const settledAsks = await Promise.allSettled(asks);
  signal.throwIfAborted();
  const failures = settledAsks.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (failures.length === asks.length) throw failures[0];
  const parts = settledAsks.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const notes = failures.map(
    (failure) => `One of two searches failed: ${failure instanceof DomainError ? failure.message : 'no answer'}`,
  );
  return { results: parts.flatMap(({ results }) => results), notes };
}

/** A standing tool of an agent may ask for what this instance cannot search. */
const noPosts = 'Posts could not be searched: this instance has no service for them.';

function writeResult(
  { sources, known: knownAddresses, resultCharsMax, isCiting, options, x }: SearchToolContext,
  query: string,
  { results, notes: foundNotes }: Findings,
): ToolResult {
  const form = makeForm(query, results);
  const notes = options.includesX && x === undefined ? [...foundNotes, noPosts] : foundNotes;
  if (results.length === 0) return { text: ['The search found nothing.', ...notes].join('\n'), form };
  let remainingChars = resultCharsMax - noteChars;
  const texts: string[] = [];
  for (const { url, title, snippet, date, from } of results) {
    const around = url.length + title.length + tagChars;
    if (remainingChars < around) break;
    const n = sources.numberOf({ url, title, text: snippet });
    knownAddresses.add(url);
    const attributes = { n, url, title, date, from: from === 'x' ? 'a post' : null };
    const text = markForeign('result', attributes, snippet, Math.min(snippetCharsMax, remainingChars - around));
    remainingChars -= text.length;
    texts.push(text);
  }
  const how = isCiting ? 'Cite a result as its number in square brackets, like [3].' : '';
  const rest = results.length - texts.length;
  const more = rest === 0 ? [] : [`[cut: ${rest} more results]`];
  return { text: [foreignNote, how, ...texts, ...more, ...notes].filter((part) => part !== '').join('\n'), form };
}
