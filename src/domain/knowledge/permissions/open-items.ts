import type { RunItem } from '../../../entities/conversations/runs/event.ts';
import type { FoundPassage } from '../../../entities/conversations/runs/step.ts';
import { type Citation, closeCitation, hiddenTitle } from '../../../entities/knowledge/citation.ts';
import type { AccessGate } from '../../../storage/knowledge/permissions/gate.ts';
import type { Reader } from '../../../storage/knowledge/permissions/open-rules.ts';
import type { Deps } from '../../deps.ts';

/** A document, as answers and records of runs name it. */
export interface NamedItem {
  readonly knowledgeItemId: string | null;
  /** Null or absent: of a record that is older than permissions, and does not say. '': a page of the web. */
  readonly dataSourceId?: string | null;
}

/**
 * Which documents a person may open now, in the order given. Whatever shows what a document says, besides a search, asks this: docs/permissions.md has the
 * list. A page of the web, and a document of a source that is LENT, is open; one that is gone from a MIRRORED source is not, and neither is one whose source
 * is not known, while any source is MIRRORED.
 *
 * Cost: none where no source is MIRRORED; else one statement, and three while what the person may open is not remembered.
 */
export async function findOpenItems(
  { storage: { knowledge } }: Pick<Deps, 'storage'>,
  reader: Reader,
  items: readonly NamedItem[],
): Promise<readonly boolean[]> {
  const gate = await knowledge.permissions.gates.open(
    reader,
    items.flatMap(({ dataSourceId }) => dataSourceId ?? []),
  );
  const mayBeMirrored = items.some(isOfUnknownSource) && (await knowledge.permissions.gates.findMirrored()).size > 0;
  if (gate === undefined) return items.map((item) => !(mayBeMirrored && isOfUnknownSource(item)));
  const mirroredIds = new Set(gate.mirroredIds);
  const isMirrored = ({ dataSourceId }: NamedItem) => typeof dataSourceId === 'string' && mirroredIds.has(dataSourceId);
  const ids = items.flatMap((item) => (isMirrored(item) && item.knowledgeItemId !== null ? [item.knowledgeItemId] : []));
  const openIds = new Set(await knowledge.items.openAmong([...new Set(ids)], gate));
  return items.map((item) => {
    if (isOfUnknownSource(item)) return !mayBeMirrored;
    return !isMirrored(item) || (item.knowledgeItemId !== null && openIds.has(item.knowledgeItemId));
  });
}

/** A page of the web has no item. */
function isOfUnknownSource({ knowledgeItemId, dataSourceId }: NamedItem): boolean {
  return typeof dataSourceId !== 'string' && knowledgeItemId !== '';
}

/** The documents among some that a person may open. */
export async function keepOpenItems<Item extends { readonly id: string; readonly dataSourceId: string }>(
  deps: Pick<Deps, 'storage'>,
  reader: Reader,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const isOpen = await findOpenItems(
    deps,
    reader,
    items.map(({ id: knowledgeItemId, dataSourceId }) => ({ knowledgeItemId, dataSourceId })),
  );
  return items.filter((_item, index) => isOpen[index] === true);
}

/** What a person may find in sources; undefined where none of them is MIRRORED. For lists that end their pages in the database. */
export function openGate(
  { storage }: Pick<Deps, 'storage'>,
  reader: Reader,
  dataSourceIds: readonly string[],
): Promise<AccessGate | undefined> {
  return storage.knowledge.permissions.gates.open(reader, dataSourceIds);
}

/** Citations as a reader may see them: of a document that the reader may not open, only the number and the place in the answer. */
export async function closeCitations(
  deps: Pick<Deps, 'storage'>,
  reader: Reader,
  citations: readonly Citation[],
): Promise<readonly Citation[]> {
  const isOpen = await findOpenItems(deps, reader, citations);
  return citations.map((citation, index) => (isOpen[index] === true ? citation : closeCitation(citation)));
}

/** The same of messages of chats. */
export async function closeMessages<Message extends { readonly citations: readonly Citation[] | null }>(
  deps: Pick<Deps, 'storage'>,
  reader: Reader,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  const citations = messages.flatMap((message) => message.citations ?? []);
  if (citations.length === 0) return messages;
  const closed = await closeCitations(deps, reader, citations);
  const byCitation = new Map(citations.map((citation, index) => [citation, closed[index] ?? citation]));
  return messages.map((message) =>
    message.citations === null ? message : { ...message, citations: message.citations.map((one) => byCitation.get(one) ?? one) },
  );
}

/** The same of passages that searches of a run found. */
export async function closePassages(
  deps: Pick<Deps, 'storage'>,
  reader: Reader,
  passages: readonly FoundPassage[],
): Promise<readonly FoundPassage[]> {
  const isOpen = await findOpenItems(deps, reader, passages);
  return passages.map((passage, index) => (isOpen[index] === true ? passage : { ...passage, title: hiddenTitle }));
}

/** Items of an answer as a reader may see them: its citations, and what `file_search` found. */
export async function closeRunItems(
  deps: Pick<Deps, 'storage'>,
  reader: Reader,
  items: readonly RunItem[],
): Promise<readonly RunItem[]> {
  const citations = items.flatMap((item) => (item.type === 'message' ? item.citations : []));
  if (citations.length === 0) return items;
  const closed = await closeCitations(deps, reader, citations);
  const byCitation = new Map(citations.map((citation, index) => [citation, closed[index] ?? citation]));
  return items.map((item) =>
    item.type === 'message' ? { ...item, citations: item.citations.map((one) => byCitation.get(one) ?? one) } : item,
  );
}
