// Raw SQL: a secret is replaced only in its own row and only by a value; the database searches the tools for the secret's key.
import { DomainError } from '../../../entities/errors.ts';
import type { Transaction } from '../../database/database.ts';
import type { NewSecret } from './secrets.ts';
import { partCountsMax } from './shapes.ts';

/**
 * Writes the secrets that were found in a tool's data, and removes those that no tool refers to any more. The agent must be locked.
 *
 * @throws DomainError CONFLICT when another call gave the key to another row meanwhile: the value is sealed for the earlier row.
 */
export async function putDerivedSecrets(tx: Transaction, agentId: string, secrets: readonly NewSecret[]): Promise<void> {
  for (const { id, createdAt, key, description, secretType, sealed, origins, givenByUserId } of secrets) {
    const rowCount = await tx.execute(
      `insert into agent_secrets as known (id, "createdAt", "updatedAt", "agentId", key, description, "secretType", sealed, "isDerived",
         origins, "givenByUserId")
       values ($1, $2, now(), $3, $4, $5, $6, $7, true, $8, $9)
       on conflict ("agentId", key) do update set "updatedAt" = now(), sealed = coalesce(excluded.sealed, known.sealed),
         origins = case when excluded.sealed is null then known.origins else excluded.origins end,
         "givenByUserId" = case when excluded.sealed is null then known."givenByUserId" else excluded."givenByUserId" end
       where known.id = excluded.id`,
      [id, createdAt, agentId, key, description, secretType, sealed, origins, givenByUserId],
    );
    if (rowCount === 0) throw new DomainError('CONFLICT', 'The secrets of this agent were changed by another call; try again');
  }
  await tx.execute(
    `delete from agent_secrets s where s."agentId" = $1 and s."isDerived" and not exists (
       select 1 from agent_tools t where t."agentId" = $1 and position('{{secret:' || s.key || '}}' in t.data::text) > 0)`,
    [agentId],
  );
  if ((await tx.prisma.agentSecret.count({ where: { agentId } })) > partCountsMax.secrets) {
    throw new DomainError('CONFLICT', `This agent would have more than ${partCountsMax.secrets} secrets`);
  }
}

/** Secrets without an origin, the user who gave them, and the origin of the tool that uses them first. */
export interface FirstUse {
  readonly keys: readonly string[];
  readonly origin: string;
  readonly userId: string;
}

/** Binds the user's secrets that have no origin to the origin of the tool that the user writes. The agent must be locked. */
export async function bindSecrets(tx: Transaction, agentId: string, { keys, origin, userId }: FirstUse): Promise<void> {
  if (keys.length === 0) return;
  const where = { agentId, key: { in: [...keys] }, origins: { isEmpty: true }, givenByUserId: userId };
  await tx.prisma.agentSecret.updateMany({ where, data: { origins: [origin] } });
}
