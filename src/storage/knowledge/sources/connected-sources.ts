import type { ConnectedType } from '../../../entities/knowledge/data-source.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { addDataSource, type NewSource } from './new-source.ts';

/** A source that a connector reads: it has no items until the connector lists them. */
export type NewConnectedSource = NewSource & { readonly type: ConnectedType };

export interface ConnectedSourceStore {
  /** Writes the sources and attaches them to the agent, all or none. `also` runs in the same transaction. */
  create(agentId: string, sources: readonly NewConnectedSource[], also: (tx: Transaction) => Promise<void>): Promise<void>;
  /** Stores the reason why a whole source cannot be read. */
  fail(id: string, reason: { readonly code: string; readonly message: string }): Promise<void>;
}

export function createConnectedSourceStore(db: Database, signals: Signals): ConnectedSourceStore {
  return {
    async create(agentId, sources, also) {
      await db.transaction(async (tx) => {
        for (const source of sources) await addDataSource(tx, agentId, source);
        await also(tx);
      });
      for (const { id } of sources) signals.publish('data-source-changed', id);
      signals.publish('agent-changed', agentId);
    },
    async fail(id, { code, message }) {
      const data = { errorCode: code, errorMessage: message, updatedAt: new Date() };
      await db.prisma.dataSource.updateMany({ where: { id, deletingAt: null }, data });
      signals.publish('data-source-changed', id);
    },
  };
}
