import { DomainError } from '../../entities/errors.ts';
import type { Transaction } from '../database/prisma.ts';

/**
 * Uses a signed link up, in the transaction of what it allows: whatever happens, it happens once. What has expired is forgotten on the way.
 *
 * @throws DomainError CONFLICT when it has been used.
 */
export async function useTicket({ prisma }: Transaction, id: string, expiresAt: Date): Promise<void> {
  await prisma.usedTicket.deleteMany({ where: { expiresAt: { lt: new Date() } } });
  const { count } = await prisma.usedTicket.createMany({ data: [{ id, expiresAt }], skipDuplicates: true });
  if (count !== 1) throw new DomainError('CONFLICT', 'This link has been used; ask for another one', { param: 'ticket' });
}
