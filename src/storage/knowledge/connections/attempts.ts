import type { ConnectionProvider } from '../../../entities/knowledge/connection.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import type { Database } from '../../ground/database.ts';

/** A person who is on the way to another service. Sealed for `attemptPlace`. */
export interface ConnectionAttempt {
  /** Hash of the state that the service sends back. */
  readonly id: string;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly provider: ConnectionProvider;
  readonly returnTo: string | null;
  readonly sealed: string;
  readonly expiresAt: Date;
}

export interface ConnectionAttemptStore {
  /** Also removes those that have expired. */
  create(attempt: ConnectionAttempt): Promise<void>;
  /** One that waits for the service's answer. Found once: a second answer with its state finds nothing. */
  take(id: string): Promise<ConnectionAttempt | undefined>;
  /** Keeps it until the person confirms. */
  keep(attempt: ConnectionAttempt, confirmHash: string): Promise<void>;
  /** The one that the person confirms with this word; found once. */
  confirm(confirmHash: string): Promise<ConnectionAttempt | undefined>;
}

export function attemptPlace({ id, orgId }: Pick<ConnectionAttempt, 'id' | 'orgId'>) {
  return { orgId, table: 'connection_attempts', rowId: id };
}

export function createConnectionAttemptStore(db: Database): ConnectionAttemptStore {
  /** One statement reads and removes it: of two calls, one finds it. */
  async function remove(id: string, confirmHash: string | null): Promise<ConnectionAttempt | undefined> {
    const where = { id, confirmHash, expiresAt: { gt: new Date() } };
    const omit = { createdAt: true, confirmHash: true };
    return (await unlessMissing(db.prisma.connectionAttempt.delete({ where, omit }))) as ConnectionAttempt | undefined;
  }

  return {
    async create(attempt) {
      await db.prisma.connectionAttempt.deleteMany({ where: { expiresAt: { lt: new Date() } } });
      await db.prisma.connectionAttempt.create({ data: attempt });
    },
    take: (id) => remove(id, null),
    async keep(attempt, confirmHash) {
      await db.prisma.connectionAttempt.create({ data: { ...attempt, confirmHash } });
    },
    async confirm(confirmHash) {
      const kept = await db.prisma.connectionAttempt.findFirst({ where: { confirmHash }, select: { id: true } });
      return kept === null ? undefined : remove(kept.id, confirmHash);
    },
  };
}
