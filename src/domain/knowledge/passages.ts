import type { LinkedPassage } from '../../engine/knowledge/content-links.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import type { KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { ChunkInDocument } from '../../storage/knowledge/passages/chunk-details.ts';
import type { Deps } from '../deps.ts';
import { citedDataSources, visibleDataSources } from '../ground/access/access.ts';
import { keepOpenItems } from './permissions/open-items.ts';

/** A cited passage within the text around it. */
export interface PassageText extends TextAround {
  /** What its document is; null where nobody knows. */
  readonly mimeType: string | null;
}

/** A place of a document within the text around it. */
export interface TextAround {
  /** The headings above the passage; empty when there are none. */
  readonly headingPath: string;
  readonly page: number | null;
  readonly before: string;
  readonly text: string;
  readonly after: string;
  /** Where `text` starts and ends in the text of the document, in UTF-16 code units. */
  readonly charStart: number;
  readonly charEnd: number;
  /** Whether the document has more text before and after. */
  readonly isCutBefore: boolean;
  readonly isCutAfter: boolean;
  /** False when the document was read again since, so that the place may hold another text. */
  readonly isCurrent: boolean;
}

/** What names a passage in an answer. */
export type CitedPassage = Pick<Citation, 'id' | 'knowledgeItemId' | 'dataSourceId' | 'charStart' | 'charEnd'>;

/** Characters on each side of a passage, and the most of a passage. */
const aroundChars = 800;
const passageChars = 8_000;
const span = { before: 3, after: 8 };

/**
 * The texts of cited passages as they stand in their documents now, in the order of the citations: of those whose documents the caller may open, because it
 * sees their source, or may use an agent whose answers cite it. Undefined for others, for pages of the web, and for documents that are gone.
 *
 * Cost: two or three statements, whatever the number of citations.
 */
export async function readPassages(
  deps: Deps,
  caller: Caller,
  citations: readonly CitedPassage[],
): Promise<readonly (PassageText | undefined)[]> {
  const { chunks } = deps.storage.knowledge;
  const items = await findOpenItems(deps, caller, citations);
  if (items.size === 0) return citations.map(() => undefined);
  const open = citations.filter(({ knowledgeItemId, dataSourceId }) => items.get(knowledgeItemId)?.dataSourceId === dataSourceId);
  const found = await chunks.details.around(
    open.map(({ knowledgeItemId: itemId, id: chunkId, charStart }) => ({ itemId, chunkId, charStart })),
    span,
  );
  const texts = new Map(
    open.map((citation, index) => {
      const { id: chunkId, charStart, charEnd, knowledgeItemId } = citation;
      const item = items.get(knowledgeItemId);
      const bounds = { aroundChars, passageChars, documentCount: item?.documentCount ?? 0 };
      const near = found[index] ?? [];
      if (near.length === 0) return [citation, undefined] as const;
      const mimeType = item?.mimeType ?? null;
      return [citation, { ...passageIn(near, { chunkId, charStart, charEnd }, bounds), mimeType }] as const;
    }),
  );
  return citations.map((citation) => texts.get(citation));
}

/**
 * The documents of citations that the caller may open, by id: those whose source it sees, and those that an agent it may use cites.
 * Cost: one or two statements; none without such a document.
 */
export async function findOpenItems(
  deps: Deps,
  caller: Caller,
  citations: readonly Pick<Citation, 'knowledgeItemId'>[],
): Promise<ReadonlyMap<string, KnowledgeItem>> {
  const knowledgeItems = deps.storage.knowledge.items;
  const ids = [...new Set(citations.map(({ knowledgeItemId }) => knowledgeItemId).filter((id) => isId('knowledgeItem', id)))];
  if (ids.length === 0) return new Map();
  const visibleItems = await knowledgeItems.findMany(ids, visibleDataSources(caller));
  const rest = ids.filter((id) => !visibleItems.some((item) => item.id === id));
  const citedItems = rest.length === 0 ? [] : await knowledgeItems.findMany(rest, citedDataSources(caller));
  const openItems = await keepOpenItems(deps, caller, [...visibleItems, ...citedItems.filter(({ cite }) => cite)]);
  const items = new Map(openItems.map((item) => [item.id, item]));
  for (const id of new Set([...items.values()].map(({ dataSourceId }) => dataSourceId)))
    deps.audit.read(caller, 'dataSource', [{ id }]);
  return items;
}

export interface PassageBounds {
  readonly aroundChars: number;
  readonly passageChars: number;
  /** How many chunks the document has. */
  readonly documentCount: number;
}

/** A place of a document within the text of the chunks about it. */
export function passageIn(
  chunks: readonly ChunkInDocument[],
  place: LinkedPassage,
  { aroundChars: around, passageChars: most, documentCount }: PassageBounds,
): TextAround {
  const citedChunk = chunks.find(({ chunkId }) => chunkId === place.chunkId);
  const near = citedChunk ?? chunks.find(({ charEnd }) => charEnd > place.charStart);
  const { before, text, after } = splitTexts(chunks, place);
  const last = chunks.at(-1)?.ordinal ?? 0;
  const excerpt = text.slice(0, most);
  return {
    headingPath: near?.headingPath ?? '',
    page: near?.page ?? null,
    before: before.slice(-around),
    text: excerpt,
    after: text.length > most ? '' : after.slice(0, around),
    charStart: place.charStart,
    charEnd: place.charStart + excerpt.length,
    isCutBefore: before.length > around || (chunks[0]?.ordinal ?? 0) > 0,
    isCutAfter: text.length > most || after.length > around || last + 1 < documentCount,
    isCurrent: citedChunk !== undefined,
  };
}

/** The text of neighbouring chunks, which may overlap, in three parts: before, within and after a place of the document. */
function splitTexts(chunks: readonly ChunkInDocument[], { charStart, charEnd }: LinkedPassage) {
  const parts = { before: '', text: '', after: '' };
  let end: number | undefined;
  const add = (start: number, text: string) => {
    const cut = (from: number, to: number) => text.slice(Math.max(0, from - start), Math.max(0, to - start));
    parts.before += cut(0, charStart);
    parts.text += cut(charStart, charEnd);
    parts.after += cut(Math.max(charStart, charEnd), Number.POSITIVE_INFINITY);
  };
  for (const chunk of chunks) {
    const overlap = end === undefined ? 0 : Math.max(0, end - chunk.charStart);
    if (end !== undefined && overlap === 0) add(end, chunk.gapBefore);
    add(chunk.charStart + overlap, chunk.text.slice(overlap));
    end = Math.max(end ?? 0, chunk.charEnd);
  }
  return parts;
}
