import type { AgentPart } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { settled } from '../../ground/conflicts.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockAgent } from '../../ground/sql/locks.ts';
import { readPartLists } from './lists.ts';
import type { PartShape } from './shapes.ts';

/** The members that only this kind of part has. */
export type PartValues<Part extends AgentPart> = Omit<Part, keyof AgentPart>;
export type NewPart<Part extends AgentPart> = PartValues<Part> & Omit<AgentPart, 'updatedAt'>;
type Also = (tx: Transaction) => Promise<void>;

/** The methods that Prisma offers for the tables of all kinds. */
interface PartModel<Part extends AgentPart> {
  findFirst(args: { where: Partial<Pick<AgentPart, 'id' | 'agentId'>> }): Promise<Part | null>;
  count(args: { where: Pick<AgentPart, 'agentId'> }): Promise<number>;
  create(args: { data: object }): Promise<Part>;
  createMany(args: { data: readonly object[] }): Promise<object>;
  update(args: { where: Pick<AgentPart, 'id' | 'agentId'>; data: object }): Promise<Part>;
  deleteMany(args: { where: Pick<AgentPart, 'id' | 'agentId'> }): Promise<{ count: number }>;
}

/** Rows of one kind that belong to agents. The domain has decided that the caller may see or change the agent. */
export class PartTable<Part extends AgentPart> {
  readonly #db: Database;
  readonly #signals: Signals;
  readonly #shape: PartShape;
  readonly #taken;

  constructor(db: Database, signals: Signals, shape: PartShape) {
    this.#db = db;
    this.#signals = signals;
    this.#shape = shape;
    this.#taken = { param: shape.unique, message: `Another ${shape.noun} of this agent has this ${shape.unique}` };
  }

  /** The parts of many agents, each agent's parts in their order. @throws DomainError REPLY_TOO_LARGE. */
  ofAgents(agentIds: readonly string[]): Promise<readonly Part[]> {
    return this.#readParts('agentId', agentIds);
  }

  /** In any order; without those that do not exist. @throws DomainError REPLY_TOO_LARGE. */
  findMany(ids: readonly string[]): Promise<readonly Part[]> {
    return this.#readParts('id', ids);
  }

  /** @param agentId  undefined: of any agent. */
  async find(agentId: string | undefined, id: string): Promise<Part | undefined> {
    const where = agentId === undefined ? { id } : { id, agentId };
    return (await findModel<Part>(this.#db, this.#shape).findFirst({ where })) ?? undefined;
  }

  /**
   * `also` runs in the same transaction, after the write. @throws DomainError CONFLICT for a taken name or too many parts, NOT_FOUND for a deleted
   * agent.
   */
  create(part: NewPart<Part>, also?: Also): Promise<Part> {
    return this.#written(
      part.agentId,
      async (parts) => {
        if ((await parts.count({ where: { agentId: part.agentId } })) >= this.#shape.countMax) {
          throw new DomainError(
            'CONFLICT',
            `This agent has ${this.#shape.countMax} parts of this kind (${this.#shape.noun}), which is the most`,
          );
        }
        return parts.create({ data: toData(part) });
      },
      also,
    );
  }

  /** @throws DomainError CONFLICT, NOT_FOUND. */
  update(agentId: string, id: string, changes: Partial<PartValues<Part>>, also?: Also): Promise<Part> {
    return this.#written(agentId, (parts) => parts.update({ where: { id, agentId }, data: changes }), also);
  }

  /** @returns false when the part was deleted before. */
  delete(agentId: string, id: string, also?: Also): Promise<boolean> {
    return this.#written(agentId, async (parts) => (await parts.deleteMany({ where: { id, agentId } })).count > 0, also);
  }

  /** Changes of one agent's parts run one after the other, so that counts and names are still true at the write. */
  async #written<T>(agentId: string, work: (parts: PartModel<Part>) => Promise<T>, also: Also | undefined): Promise<T> {
    const change = this.#db.transaction(async (tx) => {
      if (!(await lockAgent(tx, agentId))) throw new DomainError('NOT_FOUND', 'There is no such agent', { param: 'aiId' });
      const result = await work(findModel(tx, this.#shape));
      await also?.(tx);
      return result;
    });
    const result = await settled(change, this.#shape.noun, this.#taken);
    this.#signals.publish('agent-changed', agentId);
    return result;
  }

  async #readParts(by: 'agentId' | 'id', ids: readonly string[]): Promise<readonly Part[]> {
    const lists = await readPartLists(this.#db, [{ shape: this.#shape, by, ids }]);
    return (lists.get(this.#shape.kind) ?? []) as readonly Part[];
  }
}

/** Adds the parts of an imported agent. */
export async function addParts<Part extends AgentPart>(
  tx: Transaction,
  shape: PartShape,
  parts: readonly NewPart<Part>[],
): Promise<void> {
  if (parts.length > 0) await findModel<Part>(tx, shape).createMany({ data: parts.map(toData) });
}

function findModel<Part extends AgentPart>({ prisma }: Pick<Transaction, 'prisma'>, { model }: PartShape): PartModel<Part> {
  return prisma[model] as unknown as PartModel<Part>;
}

function toData(part: NewPart<AgentPart>): object {
  return { ...part, updatedAt: part.createdAt };
}
