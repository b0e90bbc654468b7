import type { PageRequest } from '../../../entities/page.ts';

/** The where clause of a page of a list ordered by `createdAt desc, id desc`; its cursor is `timeKey`'s. */
export function afterTime({ after }: PageRequest): object {
  const [time, id] = after ?? [];
  if (typeof time !== 'string' || typeof id !== 'string') return {};
  const createdAt = new Date(time);
  return { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }] };
}
