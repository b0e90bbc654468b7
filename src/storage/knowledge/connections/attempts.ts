import type { ConnectionProvider } from '../../../entities/knowledge/connection.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import { Store } from '../../ground/store.ts';

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

export function attemptPlace({ id, orgId }: Pick<ConnectionAttempt, 'id' | 'orgId'>) {
  return { orgId, table: 'connection_attempts', rowId: id };
}

export class ConnectionAttemptStore extends Store {
  /** Also removes those that have expired. */
  async create(attempt: ConnectionAttempt): Promise<void> {
    await this.db.prisma.connectionAttempt.deleteMany({ where: { expiresAt: { lt: new Date() } } });
    await this.db.prisma.connectionAttempt.create({ data: attempt });
  }

  /** One that waits for the service's answer. Found once: a second answer with its state finds nothing. */
  take(id: string): Promise<ConnectionAttempt | undefined> {
    return this.#remove(id, null);
  }

  /** Keeps it until the person confirms. */
  async keep(attempt: ConnectionAttempt, confirmHash: string): Promise<void> {
    await this.db.prisma.connectionAttempt.create({ data: { ...attempt, confirmHash } });
  }

  /** The one that the person confirms with this word; found once. */
  async confirm(confirmHash: string): Promise<ConnectionAttempt | undefined> {
    const kept = await this.db.prisma.connectionAttempt.findFirst({ where: { confirmHash }, select: { id: true } });
    return kept === null ? undefined : this.#remove(kept.id, confirmHash);
  }

  /** One statement reads and removes it: of two calls, one finds it. */
  async #remove(id: string, confirmHash: string | null): Promise<ConnectionAttempt | undefined> {
    const where = { id, confirmHash, expiresAt: { gt: new Date() } };
    const omit = { createdAt: true, confirmHash: true };
    return (await unlessMissing(this.db.prisma.connectionAttempt.delete({ where, omit }))) as ConnectionAttempt | undefined;
  }
}
