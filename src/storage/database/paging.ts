import type { PageRequest } from '../../entities/page.ts';

/** Prisma's arguments for a page of a list, newest first, and one row more; the page's cursor is `timeKey`'s. */
export function newestFirst<Where extends object>(where: Where, { after, limit }: PageRequest) {
  const newest = 'desc' as const;
  return {
    where: { AND: [where, afterTime(after)] },
    orderBy: [{ createdAt: newest }, { id: newest }],
    take: limit + 1,
  };
}

function afterTime(after: PageRequest['after']): object {
  const [time, id] = after ?? [];
  if (typeof time !== 'string' || typeof id !== 'string') return {};
  const createdAt = new Date(time);
  return { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }] };
}
