import type { StorePassage } from '../../../entities/knowledge/vector-store.ts';
import type { Database } from '../../ground/database.ts';
import type { RowMatches } from './rows.ts';

/** Texts are read in portions of so many, until a page has its bytes. */
const portionSize = 500;

/** The passages of an item from a place on, in order; none before it is indexed. */
export async function readPassages(
  { prisma, pageMaxBytes }: Database,
  itemId: string,
  from: number,
  limit: number,
): Promise<RowMatches<StorePassage>> {
  const item = await prisma.knowledgeItem.findUnique({ where: { id: itemId }, select: { liveGeneration: true } });
  const generation = item?.liveGeneration ?? null;
  if (generation === null) return { rows: [], foundCount: 0 };
  const chunks = await prisma.chunk.findMany({
    where: { itemId, generation, ordinal: { gte: from } },
    orderBy: { ordinal: 'asc' },
    take: limit,
    select: { id: true, ordinal: true },
  });
  const rows: StorePassage[] = [];
  let bytes = 0;
  for (let begin = 0; begin < chunks.length && bytes < pageMaxBytes; begin += portionSize) {
    const portion = chunks.slice(begin, begin + portionSize);
    const texts = await prisma.chunkText.findMany({
      where: { chunkId: { in: portion.map(({ id }) => id) } },
      select: { chunkId: true, text: true, gapBefore: true, charStart: true, charEnd: true },
    });
    const byChunk = new Map(texts.map(({ chunkId, ...text }) => [chunkId, text]));
    for (const { id, ordinal } of portion) {
      const text = byChunk.get(id);
      if (text === undefined || bytes >= pageMaxBytes) continue;
      rows.push({ ordinal, ...text });
      bytes += Buffer.byteLength(text.text);
    }
  }
  return { rows, foundCount: chunks.length };
}
