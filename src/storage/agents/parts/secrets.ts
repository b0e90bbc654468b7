import type { AgentPart, AgentSecret, SecretType } from '../../../entities/agents/part.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { Store } from '../../ground/store.ts';
import { type NewPart, PartTable, type PartValues } from './part-table.ts';
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
export class AgentSecretStore extends Store {
  readonly #table: PartTable<SecretRow>;

  constructor(db: Database, signals: Signals) {
    super(db);
    this.#table = new PartTable<SecretRow>(db, signals, secretShape);
  }

  async ofAgent(agentId: string): Promise<readonly AgentSecret[]> {
    return (await this.#table.ofAgents([agentId])).map(shown);
  }

  /** In the order of their agents' ids, then by key. */
  async ofAgents(agentIds: readonly string[]): Promise<readonly AgentSecret[]> {
    return (await this.#table.ofAgents(agentIds)).map(shown);
  }

  /** @param agentId  undefined: of any agent. */
  async find(agentId: string | undefined, id: string): Promise<AgentSecret | undefined> {
    const row = await this.#table.find(agentId, id);
    return row === undefined ? undefined : shown(row);
  }

  /** In any order; without those that do not exist. */
  async findMany(ids: readonly string[]): Promise<readonly AgentSecret[]> {
    return (await this.#table.findMany(ids)).map(shown);
  }

  async create(secret: NewSecret): Promise<AgentSecret> {
    return shown(await this.#table.create(secret));
  }

  async update(agentId: string, id: string, changes: SecretChanges): Promise<AgentSecret> {
    return shown(await this.#table.update(agentId, id, changes));
  }

  delete(agentId: string, id: string): Promise<boolean> {
    return this.#table.delete(agentId, id);
  }

  /** The secrets with one of the keys that have a value. A sealed value is included only if it may be sent to the origin. */
  async sealedFor(agentId: string, keys: readonly string[], origin: string): Promise<readonly SealedSecret[]> {
    const found = await this.db.prisma.agentSecret.findMany({
      where: { agentId, key: { in: [...keys] }, sealed: { not: null } },
      select: { id: true, key: true, origins: true, sealed: true },
    });
    return found.map((secret) => (secret.origins.includes(origin) ? secret : { ...secret, sealed: null }));
  }
}

/** A secret without its value. */
export function shown({ sealed, ...secret }: SecretRow): AgentSecret {
  return { ...secret, hasValue: sealed !== null };
}
