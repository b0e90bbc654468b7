import type { AgentPart, AgentSecret, SecretType } from '../../../entities/agents/part.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { createPartTable, type NewPart, type PartValues } from './part-table.ts';
import { secretShape } from './shapes.ts';

/** `table` of a secret's place in the vault. */
export const secretTable = secretShape.table;

export interface SecretRow extends AgentPart {
  readonly key: string;
  readonly description: string;
  readonly secretType: SecretType;
  /** Sealed by the vault for this row; null while the secret has no value. */
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
  /** Null when the secret was not given for the origin. */
  readonly sealed: string | null;
  /** The origins that the secret was given for. */
  readonly origins: readonly string[];
}

/** Secrets of agents. Only `sealedFor` returns sealed values. */
export interface AgentSecretStore {
  ofAgent(agentId: string): Promise<readonly AgentSecret[]>;
  /** In the order of their agents' ids, then by key. */
  ofAgents(agentIds: readonly string[]): Promise<readonly AgentSecret[]>;
  /** @param agentId  undefined: of any agent. */
  find(agentId: string | undefined, id: string): Promise<AgentSecret | undefined>;
  /** In any order; without those that do not exist. */
  findMany(ids: readonly string[]): Promise<readonly AgentSecret[]>;
  create(secret: NewSecret): Promise<AgentSecret>;
  update(agentId: string, id: string, changes: SecretChanges): Promise<AgentSecret>;
  delete(agentId: string, id: string): Promise<boolean>;
  /** The secrets with one of the keys that have a value. A sealed value is included only if it may be sent to the origin. */
  sealedFor(agentId: string, keys: readonly string[], origin: string): Promise<readonly SealedSecret[]>;
}

export function createSecretStore(db: Database, signals: Signals): AgentSecretStore {
  const table = createPartTable<SecretRow>(db, signals, secretShape);
  return {
    ofAgent: async (agentId) => (await table.ofAgents([agentId])).map(shown),
    ofAgents: async (agentIds) => (await table.ofAgents(agentIds)).map(shown),
    async find(agentId, id) {
      const row = await table.find(agentId, id);
      return row === undefined ? undefined : shown(row);
    },
    findMany: async (ids) => (await table.findMany(ids)).map(shown),
    create: async (secret) => shown(await table.create(secret)),
    update: async (agentId, id, changes) => shown(await table.update(agentId, id, changes)),
    delete: (agentId, id) => table.delete(agentId, id),
    async sealedFor(agentId, keys, origin) {
      const found = await db.prisma.agentSecret.findMany({
        where: { agentId, key: { in: [...keys] }, sealed: { not: null } },
        select: { id: true, key: true, origins: true, sealed: true },
      });
      return found.map((secret) => (secret.origins.includes(origin) ? secret : { ...secret, sealed: null }));
    },
  };
}

/** A secret without its value. */
export function shown({ sealed, ...secret }: SecretRow): AgentSecret {
  return { ...secret, hasValue: sealed !== null };
}
