import type { Memory } from '../../../entities/conversations/memory.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import { unlessMissing } from '../../ground/conflicts.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { readChildPages } from '../../ground/lists/child-pages.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import type { MemoryFilter, MemoryOwner } from './owner.ts';
import { type RankedMemory, rankMemories } from './ranking.ts';

export interface NewMemory extends Omit<Memory, 'updatedAt'> {
  readonly searchText: string;
  /** Of text search. */
  readonly config: string;
  /** The tool call that writes it. */
  readonly callKey: string | null;
}

export type MemoryChanges = Partial<Pick<NewMemory, 'key' | 'text' | 'searchText' | 'config'>>;

export type Remembered =
  | { readonly kind: 'stored' | 'replaced' | 'repeated'; readonly memory: Memory }
  /** The user has as many memories as one may have. */
  | { readonly kind: 'full' };

const shownColumns = {
  ...{ id: true, createdAt: true, updatedAt: true, orgId: true, userId: true, agentId: true, key: true, text: true },
} as const;

export class MemoryStore extends PublishingStore {
  findMany(ids: readonly string[], { orgId, userId }: MemoryOwner): Promise<readonly Memory[]> {
    return this.db.prisma.memory.findMany({ where: { id: { in: [...ids] }, orgId, userId }, select: shownColumns });
  }

  async find(id: string, { orgId, userId }: MemoryOwner): Promise<Memory | undefined> {
    return (await this.db.prisma.memory.findFirst({ where: { id, orgId, userId }, select: shownColumns })) ?? undefined;
  }

  /** Newest first. */
  async list(filter: MemoryFilter, page: PageRequest): Promise<Page<Memory>> {
    const where = toWhere(filter);
    const rows = await this.db.prisma.memory.findMany({ ...newestFirst(where, page), select: shownColumns });
    return toPage(rows, page, timeKey, (take) => this.db.prisma.memory.count({ where, take }));
  }

  /** A page of the memories of a user with each of several agents, newest first. Cost: two statements; one more for counts. */
  pagesOfAgents(
    { orgId, userId }: MemoryOwner,
    agentIds: readonly string[],
    page: PageRequest,
  ): Promise<ReadonlyMap<string, Page<Memory>>> {
    const db = this.db;

    const ofAgents = { in: [...agentIds] };
    return readChildPages<Memory>(this.db, page, {
      async findPlaces() {
        const memories = { ...newestFirst({ orgId, userId }, page), select: { id: true } };
        const agents = await db.prisma.agent.findMany({ where: { id: ofAgents }, select: { id: true, memories } });
        return agents.map(({ id, memories: places }) => ({ id, places }));
      },
      read: (ids) => this.db.prisma.memory.findMany({ where: { id: { in: ids } }, select: shownColumns }),
      keyOf: timeKey,
      async countAll() {
        const groups = await db.prisma.memory.groupBy({
          by: ['agentId'],
          where: { orgId, userId, agentId: ofAgents },
          _count: true,
        });
        return new Map(groups.flatMap(({ agentId, _count }) => (agentId === null ? [] : [[agentId, _count]])));
      },
    });
  }

  /** Stores a memory. One with the same key and agent is replaced; the same call stores nothing twice. */
  async remember(memory: NewMemory, countMax: number): Promise<Remembered> {
    const result = await inTurn(this.db, memory, (tx) => remember(tx, memory, countMax));
    if (result.kind === 'stored' || result.kind === 'replaced') this.#announce(result.memory.id);
    return result;
  }

  /** @returns undefined when it is gone; `conflict` when another memory with the same agent has the key. */
  async update(id: string, owner: MemoryOwner, changes: MemoryChanges): Promise<Memory | 'conflict' | undefined> {
    const result = await inTurn(this.db, owner, async (tx) => {
      const { orgId, userId } = owner;
      const before = await tx.prisma.memory.findFirst({ where: { id, orgId, userId }, select: shownColumns });
      if (before === null) return undefined;
      const { key } = changes;
      if (typeof key === 'string') {
        const other = await tx.prisma.memory.findFirst({
          where: { orgId, userId, agentId: before.agentId, key, id: { not: id } },
          select: { id: true },
        });
        if (other !== null) return 'conflict';
      }
      return unlessMissing(tx.prisma.memory.update({ where: { id }, data: changes, select: shownColumns }));
    });
    if (typeof result === 'object') this.#announce(id);
    return result;
  }

  /** @returns false when there was none. */
  async delete(id: string, filter: MemoryFilter): Promise<boolean> {
    const where = { ...toWhere(filter), id };
    const { count } = await this.db.transaction(({ prisma }) => prisma.memory.deleteMany({ where }));
    if (count > 0) this.#announce(id);
    return count > 0;
  }

  /** @returns how many there were. */
  async deleteAll(filter: MemoryFilter): Promise<number> {
    const where = toWhere(filter);
    const { count, ids } = await this.db.transaction(async ({ prisma: { memory } }) => {
      const memoryRows = await memory.findMany({ where, select: { id: true } });
      return { ids: memoryRows.map(({ id }) => id), ...(await memory.deleteMany({ where })) };
    });
    for (const id of ids) this.#announce(id);
    return count;
  }

  /** The memories closest to a question, by BM25; see ranking.ts. */
  search(filter: Required<MemoryFilter>, question: string, limit: number): Promise<readonly RankedMemory[]> {
    return rankMemories(this.db, filter, question, limit);
  }

  #announce(id: string) {
    return this.signals.publish('memory-changed', id);
  }
}

function toWhere({ orgId, userId, agentId }: MemoryFilter) {
  if (agentId === undefined) return { orgId, userId };
  return { orgId, userId, agentId: agentId === 'any' ? { not: null } : agentId };
}

/** Writes of one user take turns, so that they cannot pass the limit together, nor give a key to two memories. */
function inTurn<T>(db: Database, { userId }: MemoryOwner, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await lockRow(tx, 'users', userId);
    return work(tx);
  });
}

async function remember({ prisma }: Transaction, memory: NewMemory, countMax: number): Promise<Remembered> {
  const { id, createdAt, orgId, userId, agentId, key, callKey, text, searchText, config } = memory;
  if (callKey !== null) {
    const same = await prisma.memory.findFirst({ where: { orgId, userId, callKey }, select: shownColumns });
    if (same !== null) return { kind: 'repeated', memory: same };
  }
  const before =
    key === null ? null : await prisma.memory.findFirst({ where: { orgId, userId, agentId, key }, select: { id: true } });
  if (before !== null) {
    const data = { text, searchText, config, callKey };
    const memory = await unlessMissing(prisma.memory.update({ where: { id: before.id }, data, select: shownColumns }));
    // Deleted meanwhile, it is stored anew.
    if (memory !== undefined) return { kind: 'replaced', memory };
  }
  if ((await prisma.memory.count({ where: { orgId, userId } })) >= countMax) return { kind: 'full' };
  const data = { id, createdAt, orgId, userId, agentId, key, callKey, text, searchText, config };
  return { kind: 'stored', memory: await prisma.memory.create({ data, select: shownColumns }) };
}
