import { DomainError } from '../../../entities/ground/errors.ts';
import type { Transaction } from '../../ground/database.ts';
import type { NewSecret } from './secrets.ts';
import { partCountsMax } from './shapes.ts';

/**
 * Writes the secrets that were found in a tool's data, and removes those that no tool refers to any more, of an agent that publishes at once. The agent must be
 * locked.
 *
 * @throws DomainError CONFLICT when another call gave the key to another row meanwhile: the value is sealed for the earlier row.
 */
export async function putDerivedSecrets(tx: Transaction, agentId: string, secrets: readonly NewSecret[]): Promise<void> {
  const { agentSecret } = tx.prisma;
  for (const { origins, ...secret } of secrets) {
    const { id, key, sealed, givenByUserId } = secret;
    const former = await agentSecret.findFirst({ where: { agentId, key }, select: { id: true } });
    if (former === null) {
      await agentSecret.create({
        data: { ...secret, agentId, origins: [...origins], updatedAt: secret.createdAt, isDerived: true },
      });
    } else if (former.id !== id) {
      throw new DomainError('CONFLICT', 'The secrets of this agent were changed by another call; try again');
    } else {
      // A value that is absent keeps the one that is stored, and what it is bound to.
      const data = sealed === null ? { updatedAt: new Date() } : { sealed, origins: [...origins], givenByUserId };
      await agentSecret.update({ where: { id }, data });
    }
  }
  if (!(await hasOtherVersions(tx, agentId))) await deleteUnused(tx, agentId);
  if ((await tx.prisma.agentSecret.count({ where: { agentId } })) > partCountsMax.secrets) {
    throw new DomainError('CONFLICT', `This agent would have more than ${partCountsMax.secrets} secrets`);
  }
}

/** Whether people get, or may get again by a roll back, tools that the draft does not have: their secrets stay. */
async function hasOtherVersions({ prisma }: Transaction, id: string): Promise<boolean> {
  const others = [{ publishing: 'ON_REQUEST' }, { isDraftChanged: true }, { canaryVersion: { not: null } }];
  return (await prisma.agent.count({ where: { id, OR: others } })) > 0;
}

async function deleteUnused({ prisma: { agentSecret, agentTool } }: Transaction, agentId: string): Promise<void> {
  const tools = (await agentTool.findMany({ where: { agentId }, select: { data: true } })).map(({ data }) =>
    JSON.stringify(data),
  );
  const derivedRows = await agentSecret.findMany({ where: { agentId, isDerived: true }, select: { id: true, key: true } });
  const unusedIds = derivedRows
    .filter(({ key }) => !tools.some((text) => text.includes(`{{secret:${key}}}`)))
    .map(({ id }) => id);
  if (unusedIds.length > 0) await agentSecret.deleteMany({ where: { id: { in: unusedIds } } });
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
