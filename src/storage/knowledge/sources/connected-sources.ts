import { type ConnectedType, isConnectedType, toSourceType } from '../../../entities/knowledge/data-source.ts';
import type { Transaction } from '../../ground/database.ts';
import { PublishingStore } from '../../ground/store.ts';
import { addDataSource, type NewSource } from './new-source.ts';

/** A source that a connector reads: it has no items until the connector lists them. */
export type NewConnectedSource = NewSource & { readonly type: ConnectedType };

export class ConnectedSourceStore extends PublishingStore {
  /** Writes the sources and attaches them to the agent, all or none. `also` runs in the same transaction. */
  async create(agentId: string, sources: readonly NewConnectedSource[], also: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.db.transaction(async (tx) => {
      for (const source of sources) await addDataSource(tx, agentId, source);
      await also(tx);
    });
    for (const { id, access } of sources) {
      this.signals.publish('data-source-changed', id);
      if (access === 'MIRRORED') this.signals.publish('permissions-changed', id);
    }
    this.signals.publish('agent-changed', agentId);
  }

  /** A source as its connector reads it; undefined for one that is gone, or that no connector reads. */
  async findSynced(id: string) {
    const select = {
      id: true,
      ownerUserId: true,
      type: true,
      data: true,
      orgId: true,
      organization: { select: { tenantId: true } },
    };
    const row = await this.db.prisma.dataSource.findUnique({ where: { id, deletingAt: null }, select });
    const type = toSourceType(row?.type ?? '');
    if (row === null || !isConnectedType(type)) return undefined;
    const { ownerUserId, orgId, organization, data } = row;
    return { id, ownerUserId, orgId, tenantId: organization.tenantId, type, data: data as Readonly<Record<string, unknown>> };
  }

  /** Stores the reason why a whole source cannot be read. */
  async fail(id: string, { code, message }: { readonly code: string; readonly message: string }): Promise<void> {
    const data = { errorCode: code, errorMessage: message, updatedAt: new Date() };
    await this.db.prisma.dataSource.updateMany({ where: { id, deletingAt: null }, data });
    this.signals.publish('data-source-changed', id);
  }
}
