import { DomainError } from '../../entities/ground/errors.ts';
import type { Transaction } from '../ground/database.ts';

/**
 * Marks a signed link as used, in the transaction of what it allows, so that the link works once. Also deletes the marks of expired links.
 *
 * @throws DomainError CONFLICT when the link was used before.
 */
export async function useTicket({ prisma }: Transaction, id: string, expiresAt: Date): Promise<void> {
  await prisma.usedTicket.deleteMany({ where: { expiresAt: { lt: new Date() } } });
  const { count } = await prisma.usedTicket.createMany({ data: [{ id, expiresAt }], skipDuplicates: true });
  if (count !== 1) throw new DomainError('CONFLICT', 'This link has been used; ask for another one', { param: 'ticket' });
}
