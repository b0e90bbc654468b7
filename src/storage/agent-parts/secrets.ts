import type { PoolClient } from 'pg';
import type { AgentPart, AgentSecret, SecretType } from '../../entities/agent-part.ts';
import { DomainError } from '../../entities/errors.ts';
import type { Database } from '../database.ts';
import type { Signals } from '../signals.ts';
import { createPartTable, type NewPart, type PartValues } from './part-table.ts';
import { partCountsMax, secretShape } from './shapes.ts';

/** `table` of a secret's place in the vault. */
export const secretTable = secretShape.table;

interface SecretRow extends AgentPart {
  readonly key: string;
  readonly description: string;
  readonly secretType: SecretType;
  /** By the vault, bound to the row; null while there is no value. */
  readonly sealed: string | null;
  readonly isDerived: boolean;
}
export type NewSecret = NewPart<SecretRow>;
export type SecretChanges = Partial<PartValues<SecretRow>>;
export interface SealedSecret {
  readonly id: string;
  readonly key: string;
  readonly sealed: string;
}

/** Secrets of agents. Sealed texts come out by `sealedOf` alone. */
export interface AgentSecretStore {
  ofAgent(agentId: string): Promise<readonly AgentSecret[]>;
  find(agentId: string, id: string): Promise<AgentSecret | undefined>;
  create(secret: NewSecret): Promise<AgentSecret>;
  update(agentId: string, id: string, changes: SecretChanges): Promise<AgentSecret>;
  delete(agentId: string, id: string): Promise<boolean>;
  /** Those of the keys that have a value. */
  sealedOf(agentId: string, keys: readonly string[]): Promise<readonly SealedSecret[]>;
}

export function createSecretStore(db: Database, signals: Signals): AgentSecretStore {
  const table = createPartTable<SecretRow>(db, signals, secretShape);
  return {
    ofAgent: async (agentId) => (await table.ofAgents([agentId])).map(shown),
    async find(agentId, id) {
      const row = await table.find(agentId, id);
      return row === undefined ? undefined : shown(row);
    },
    create: async (secret) => shown(await table.create(secret)),
    update: async (agentId, id, changes) => shown(await table.update(agentId, id, changes)),
    delete: (agentId, id) => table.delete(agentId, id),
    async sealedOf(agentId, keys) {
      const { rows } = await db.pool.query<SealedSecret>(
        'select id, key, sealed from agent_secrets where "agentId" = $1 and key = any($2::text[]) and sealed is not null',
        [agentId, keys],
      );
      return rows;
    },
  };
}

function shown({ sealed, ...secret }: SecretRow): AgentSecret {
  return { ...secret, hasValue: sealed !== null };
}

/**
 * Writes the secrets that were found in a tool's data, and removes those that no tool refers to any more. The agent must be locked.
 *
 * @throws DomainError CONFLICT when another call gave a key to another row: the value was sealed for the row that was there before.
 */
export async function putDerivedSecrets(client: PoolClient, agentId: string, secrets: readonly NewSecret[]): Promise<void> {
  for (const { id, createdAt, key, description, secretType, sealed } of secrets) {
    const { rowCount } = await client.query(
      `insert into agent_secrets (id, "createdAt", "updatedAt", "agentId", key, description, "secretType", sealed, "isDerived")
       values ($1, $2, now(), $3, $4, $5, $6, $7, true)
       on conflict ("agentId", key) do update set sealed = coalesce(excluded.sealed, agent_secrets.sealed), "updatedAt" = now()
       where agent_secrets.id = excluded.id`,
      [id, createdAt, agentId, key, description, secretType, sealed],
    );
    if (rowCount === 0) throw new DomainError('CONFLICT', 'The secrets of this agent were changed by another call; try again');
  }
  await client.query(
    `delete from agent_secrets s where s."agentId" = $1 and s."isDerived" and not exists (
       select 1 from agent_tools t where t."agentId" = $1 and position('{{secret:' || s.key || '}}' in t.data::text) > 0)`,
    [agentId],
  );
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from agent_secrets where "agentId" = $1',
    [agentId],
  );
  if ((rows[0]?.count ?? 0) > partCountsMax.secrets) {
    throw new DomainError('CONFLICT', `This agent would have more than ${partCountsMax.secrets} secrets`);
  }
}
