import type { PoolClient } from 'pg';
import { DomainError } from '../../entities/errors.ts';

/**
 * Uses a signed link up, in the transaction of what it allows: whatever happens, it happens once. What has expired is forgotten on the way.
 *
 * @throws DomainError CONFLICT when it has been used.
 */
export async function useTicket(client: PoolClient, id: string, expiresAt: Date): Promise<void> {
  await client.query('delete from used_tickets where "expiresAt" < now()');
  const { rowCount } = await client.query('insert into used_tickets (id, "expiresAt") values ($1, $2) on conflict do nothing', [
    id,
    expiresAt,
  ]);
  if (rowCount !== 1) throw new DomainError('CONFLICT', 'This link has been used; ask for another one', { param: 'ticket' });
}
