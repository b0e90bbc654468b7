import type { PoolClient } from 'pg';
import type { AgentPart, AgentSecret, SecretType } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/errors.ts';
import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
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
  readonly origins: readonly string[];
  readonly givenByUserId: string | null;
}
export type NewSecret = NewPart<SecretRow>;
export type SecretChanges = Partial<PartValues<SecretRow>>;
export interface SealedSecret {
  readonly id: string;
  readonly key: string;
  /** Null for a secret that was not given for the origin. */
  readonly sealed: string | null;
  /** What it was given for. */
  readonly origins: readonly string[];
}

/** Secrets of agents. Sealed texts come out by `sealedFor` alone. */
export interface AgentSecretStore {
  ofAgent(agentId: string): Promise<readonly AgentSecret[]>;
  find(agentId: string, id: string): Promise<AgentSecret | undefined>;
  create(secret: NewSecret): Promise<AgentSecret>;
  update(agentId: string, id: string, changes: SecretChanges): Promise<AgentSecret>;
  delete(agentId: string, id: string): Promise<boolean>;
  /** Those of the keys that have a value, sealed texts only of those that may be sent to the origin. */
  sealedFor(agentId: string, keys: readonly string[], origin: string): Promise<readonly SealedSecret[]>;
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
    async sealedFor(agentId, keys, origin) {
      const { rows } = await db.pool.query<SealedSecret>(
        `select id, key, origins, case when $3 = any(origins) then sealed end as sealed
         from agent_secrets where "agentId" = $1 and key = any($2::text[]) and sealed is not null`,
        [agentId, keys, origin],
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
  for (const { id, createdAt, key, description, secretType, sealed, origins, givenByUserId } of secrets) {
    const { rowCount } = await client.query(
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

/** Secrets that their giver sends somewhere for the first time. */
export interface FirstUse {
  readonly keys: readonly string[];
  readonly origin: string;
  readonly userId: string;
}

/** Binds secrets without an origin to the origin of the tool that their giver writes. The agent must be locked. */
export async function bindSecrets(client: PoolClient, agentId: string, { keys, origin, userId }: FirstUse): Promise<void> {
  if (keys.length === 0) return;
  await client.query(
    `update agent_secrets set origins = array[$3], "updatedAt" = now()
     where "agentId" = $1 and key = any($2::text[]) and cardinality(origins) = 0 and "givenByUserId" = $4`,
    [agentId, keys, origin, userId],
  );
}
