import type { PageRequest } from '../../../entities/ground/page.ts';
import type { ItemPassages } from '../../../entities/knowledge/passage.ts';
import type { Database } from '../../ground/database.ts';
import { requireShortList } from '../../ground/lists/paging.ts';

/**
 * A page of the passages of each item, in their order; an item that is not indexed has none. The places of passages are consecutive numbers, so a
 * page is a range of them. The passage before the page comes too: the first one of the page may overlap with it.
 *
 * Cost: three statements for any number of items.
 */
export async function readPassages(
  db: Database,
  itemIds: readonly string[],
  page: PageRequest,
): Promise<ReadonlyMap<string, ItemPassages>> {
  const { prisma } = db;
  const items = await prisma.knowledgeItem.findMany({
    where: { id: { in: [...itemIds] }, liveGeneration: { not: null } },
    select: { id: true, liveGeneration: true, documentCount: true },
  });
  const spans = items.map(({ id, liveGeneration, documentCount }) => {
    return { itemId: id, generation: liveGeneration ?? 0, count: documentCount, ...toRange(documentCount, page) };
  });
  const chunks = await prisma.chunk.findMany({
    where: { OR: spans.map(({ itemId, generation, from, to }) => ({ itemId, generation, ordinal: { gte: from - 1, lt: to } })) },
    orderBy: { ordinal: 'asc' },
    select: { id: true, itemId: true, ordinal: true },
  });
  const texts = await prisma.chunkText.findMany({
    where: { chunkId: { in: chunks.map(({ id }) => id) } },
    select: { chunkId: true, text: true, gapBefore: true, charStart: true, charEnd: true, page: true, headingPath: true },
  });
  requireShortList(
    db,
    texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  );
  const byChunk = new Map(texts.map(({ chunkId, ...text }) => [chunkId, text]));
  const byItem = Map.groupBy(chunks, ({ itemId }) => itemId);
  return new Map(
    spans.map(({ itemId, count, from, to }) => {
      const rows = (byItem.get(itemId) ?? []).flatMap(({ id, ordinal }) => {
        const text = byChunk.get(id);
        return text === undefined ? [] : [{ ordinal, ...text }];
      });
      return [itemId, { rows, count, from, to }];
    }),
  );
}

/** The places of a page: from the first to that behind the last. */
function toRange(count: number, { after, limit, isBackward }: PageRequest): { readonly from: number; readonly to: number } {
  const [place] = after ?? [];
  if (isBackward === true) {
    const to = Math.min(count, Math.max(0, Number(place ?? count)));
    return { from: Math.max(0, to - limit), to };
  }
  const from = Math.min(count, Math.max(0, Number(place ?? -1) + 1));
  return { from, to: Math.min(count, from + limit) };
}
