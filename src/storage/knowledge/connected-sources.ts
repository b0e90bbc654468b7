import type { PoolClient } from 'pg';
import type { ConnectedType, RefreshPeriod } from '../../entities/knowledge/data-source.ts';
import type { Database } from '../database/database.ts';
import type { Signals } from '../database/signals/signals.ts';

/** A source that is read from elsewhere: it has no item until its connector lists them. */
export interface NewConnectedSource {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly name: string;
  readonly type: ConnectedType;
  readonly refreshPeriod: RefreshPeriod;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ConnectedSourceStore {
  /** Writes the sources and attaches them to the agent, all or none, together with whatever `also` does. */
  create(agentId: string, sources: readonly NewConnectedSource[], also: (client: PoolClient) => Promise<void>): Promise<void>;
  /** Notes why a source as a whole cannot be read. */
  fail(id: string, reason: { readonly code: string; readonly message: string }): Promise<void>;
}

export function createConnectedSourceStore(db: Database, signals: Signals): ConnectedSourceStore {
  return {
    async create(agentId, sources, also) {
      await db.transaction(async (client) => {
        for (const source of sources) {
          const { id, createdAt, orgId, ownerUserId, name, type, refreshPeriod, data } = source;
          await client.query(
            `insert into data_sources (id, "createdAt", "updatedAt", "orgId", "ownerUserId", name, type, "refreshPeriod", data)
             values ($1, $2, $2, $3, $4, $5, $6, $7, $8)`,
            [id, createdAt, orgId, ownerUserId, name, type, refreshPeriod, JSON.stringify(data)],
          );
          await client.query('insert into agent_data_sources ("agentId", "dataSourceId", "createdAt") values ($1, $2, $3)', [
            agentId,
            id,
            createdAt,
          ]);
        }
        await also(client);
      });
      for (const { id } of sources) signals.publish('data-source-changed', id);
      signals.publish('agent-changed', agentId);
    },
    async fail(id, { code, message }) {
      await db.pool.query(
        'update data_sources set "errorCode" = $2, "errorMessage" = $3, "updatedAt" = now() where id = $1 and "deletingAt" is null',
        [id, code, message],
      );
      signals.publish('data-source-changed', id);
    },
  };
}
