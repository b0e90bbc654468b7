import type { CallForm, FileSearchResult } from '../../../entities/conversations/runs/tool.ts';
import type { Passage } from '../../../entities/knowledge/citation.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import { isContentLink } from '../../knowledge/content-links.ts';
import type { Knowledge } from '../../knowledge/knowledge.ts';
import { displayScore } from '../../knowledge/search/display-score.ts';
import { searchName } from '../../models/prompts/passages.ts';
import type { RunPlan } from '../../plan/plan.ts';
import { printableArgument, textArgument } from '../arguments.ts';
import { foreignNote, markForeign } from '../foreign/foreign-text.ts';
import type { ServerTool, ToolResult } from '../server-tool.ts';
import type { FileSearchOptions } from './options.ts';
import { findPlaces, fittingItems, type StoreFinder } from './searched-places.ts';

const queryMax = 8_000;
const noteChars = 600;
const tagChars = 80;

export interface FileSearchContext {
  readonly knowledge: Pick<Knowledge, 'search'>;
  readonly stores: StoreFinder;
  readonly options: FileSearchOptions;
  readonly plan: RunPlan;
  /** The vector stores that may be searched, among those that the options name. */
  readonly readableSources: DataSourceFilter;
  readonly tokensMax: number;
  readonly resultCharsMax: number;
  areAnyMirrored(dataSourceIds: readonly string[]): Promise<boolean>;
  now(): Date;
  cite(passage: Passage): number;
}

/** A passage with the file it is from. */
interface Hit {
  readonly passage: Passage;
  readonly score: number;
  readonly fileId: string;
  readonly filename: string;
}

/** Makes `search_knowledge` for one run. */
export function createFileSearchTool(context: FileSearchContext): ServerTool {
  return {
    definition: {
      name: searchName,
      description: 'Searches the documents of this assistant and answers the passages that fit best.',
      parameters: {
        type: 'object',
        properties: { query: { type: 'string', description: 'What to search for: a question or words of the text.' } },
        required: ['query'],
        additionalProperties: false,
      },
    },
    hint: 'Searching documents',
    ifLost: 'repeat',
    form: (args) => makeForm(printableArgument(args, 'query', queryMax), []),
    async run(args, _secrets, signal) {
      const query = textArgument(args, 'query', queryMax);
      const hits = await findHits(context, query, signal);
      const isMirrored = await context.areAnyMirrored(hits.map(({ passage }) => passage.dataSourceId));
      return { ...writeResult(context, query, hits), ...(isMirrored ? { isMirrored } : {}) };
    },
  };
}

function makeForm(query: string, results: readonly FileSearchResult[]): CallForm {
  return { type: 'file_search', queries: query === '' ? [] : [query], results };
}

/** The best passages of all places, best first. */
async function findHits(context: FileSearchContext, query: string, signal: AbortSignal): Promise<readonly Hit[]> {
  const { knowledge, stores, options, plan, readableSources, tokensMax, now } = context;
  const foundHits: { readonly passage: Passage; readonly score: number }[] = [];
  for (const place of await findPlaces(options, plan, { stores, readableSources }, now())) {
    const itemIds = await fittingItems(place, options.filter, stores);
    const limits = { passagesMax: options.resultsMax, tokensMax, ...(itemIds === undefined ? {} : { itemIds }) };
    const searchQuestion = { ...place, question: query, charge: plan.charge };
    const { passages, retrieval } = await knowledge.search(searchQuestion, limits, signal);
    foundHits.push(...passages.map((passage) => ({ passage, score: displayScore(passage, retrieval) })));
  }
  const passages = foundHits
    .filter(({ score }) => score >= options.scoreMin)
    .sort((a, b) => b.score - a.score)
    .slice(0, options.resultsMax);
  const isOfStore = ({ dataSourceId }: Passage) => options.vectorStoreIds.includes(dataSourceId);
  const itemIds = passages.flatMap(({ passage }) => (isOfStore(passage) ? [passage.knowledgeItemId] : []));
  const files = new Map((itemIds.length === 0 ? [] : await stores.filesOfItems(itemIds)).map((file) => [file.itemId, file]));
  return passages.map(({ passage, score }) => {
    const file = files.get(passage.knowledgeItemId);
    return { passage, score, fileId: file?.fileId ?? passage.knowledgeItemId, filename: file?.filename ?? passage.title };
  });
}

function writeResult({ resultCharsMax, plan, cite }: FileSearchContext, query: string, hits: readonly Hit[]): ToolResult {
  if (hits.length === 0) return { text: 'The search found nothing.', form: makeForm(query, []) };
  let remainingChars = resultCharsMax - noteChars;
  const texts: string[] = [];
  for (const { passage, fileId } of hits) {
    const { title, headingPath, page, text, url } = passage;
    const around = title.length + headingPath.length + tagChars;
    if (remainingChars < around) break;
    // An upload has no address of its own: the responses format names its file.
    const n = cite(isContentLink(url) ? { ...passage, fileId } : passage);
    const attributes = { n, title, section: headingPath === '' ? null : headingPath, page };
    const markedText = markForeign('passage', attributes, text, remainingChars - around);
    remainingChars -= markedText.length;
    texts.push(markedText);
  }
  const how = plan.generateCitations ? 'Cite a passage as its number in square brackets, like [3].' : '';
  const rest = hits.length - texts.length;
  const more = rest === 0 ? [] : [`[cut: ${rest} more passages]`];
  return {
    text: [foreignNote, how, ...texts, ...more].filter((part) => part !== '').join('\n'),
    // A passage that answers may not cite is not shown to people either.
    form: makeForm(
      query,
      hits.flatMap(({ passage, score, fileId, filename }) =>
        passage.mayCite ? [{ fileId, filename, score, text: passage.text }] : [],
      ),
    ),
  };
}
