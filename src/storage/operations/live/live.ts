import type { LiveKind, LiveRow } from '../../../entities/operations/live.ts';
import type { AgentFilter, ChatFilter, DataSourceFilter } from '../../../entities/people/access.ts';
import { inParts } from '../../../lib/in-parts.ts';
import { agentWhere } from '../../agents/filter.ts';
import { alternatives } from '../../agents/queries.ts';
import { chatWhere } from '../../conversations/chats/filter.ts';
import type { MemoryOwner } from '../../conversations/memories/owner.ts';
import type { RunReach } from '../../conversations/runs/history-conditions.ts';
import type { Database } from '../../ground/database.ts';
import type { ConnectionScope } from '../../knowledge/connections/connections.ts';
import { dataSourceWhere } from '../../knowledge/sources/filter.ts';
import { PlaceStore } from './places.ts';

/** Which things of a kind a list has. */
export type LiveRule =
  | { readonly kind: 'agent'; readonly filter: AgentFilter }
  | { readonly kind: 'dataSource'; readonly filter: DataSourceFilter }
  | { readonly kind: 'chat'; readonly filter: ChatFilter; readonly agentId: string | undefined }
  | { readonly kind: 'run'; readonly reach: RunReach }
  | { readonly kind: 'memory' | 'chatImport'; readonly owner: MemoryOwner }
  | { readonly kind: 'connection'; readonly scope: ConnectionScope }
  | { readonly kind: 'apiKey'; readonly orgId: string; readonly userId: string | undefined }
  | { readonly kind: 'membership' | 'invitation' | 'group'; readonly orgId: string };

const columns = { id: true, createdAt: true, updatedAt: true } as const;

/** What streams of changes read. No statement reads a long column. */
export class LiveStore extends PlaceStore {
  readonly #db: Database;

  constructor(db: Database) {
    super(db);
    this.#db = db;
  }

  /** The rows with one of the ids that match the rule, in no order. A statement for each branch of the rule. */
  find(rule: LiveRule, ids: readonly string[]): Promise<readonly LiveRow[]> {
    return readBranches(listRunBranches(rule), (branch) =>
      findTable(this.#db, rule.kind).findMany({
        where: { AND: [{ id: { in: [...ids] } }, ...present(branch)] },
        select: columns,
      }),
    );
  }

  /** The newest rows that match the rule, in no order. A statement for each branch of the rule, and for each alternative of a filter of agents. */
  newest(rule: LiveRule, limit: number): Promise<readonly LiveRow[]> {
    const orderBy = [{ createdAt: 'desc' }, { id: 'desc' }] as const;
    return readBranches(listBranches(rule), (branch) =>
      findTable(this.#db, rule.kind).findMany({ where: { AND: present(branch) }, select: columns, orderBy, take: limit }),
    );
  }

  /** The rows that match the rule and changed since a time, the first changed first. */
  async changedSince(rule: LiveRule, since: Date, limit: number): Promise<readonly LiveRow[]> {
    const branches = listRunBranches(rule);
    const rows = await readBranches(branches, (branch) =>
      changed(this.#db, rule, [...present(branch), ...bounded(rule, since)], since, limit),
    );
    return branches.length === 1 ? rows : [...rows].sort(byChange).slice(0, limit);
  }

  /** Agents and chats that were deleted since a time and match the rule, and keys that were revoked; of other kinds no trace is kept. */
  async deletedSince(rule: LiveRule, since: Date, limit: number): Promise<readonly LiveRow[]> {
    const deletionWhere = findTrace(rule);
    return deletionWhere === undefined ? [] : changed(this.#db, rule, [deletionWhere, toWhere(rule)], since, limit);
  }

  /** The newest messages of a chat that people read, on the active branch, with the time of their last change or of their feedback. */
  async messages(chatId: string, limit: number): Promise<readonly LiveRow[]> {
    const rows = await this.#db.prisma.message.findMany({
      where: { chatId, isHidden: false, isActive: true },
      select: { ...columns, feedback: { select: { updatedAt: true } } },
      orderBy: { ordinal: 'desc' },
      take: limit,
    });
    return rows.map(({ feedback, ...row }) => {
      const updatedAt = feedback !== null && feedback.updatedAt > row.updatedAt ? feedback.updatedAt : row.updatedAt;
      return { ...row, updatedAt };
    });
  }
}

interface Table {
  findMany(query: {
    readonly where: object;
    readonly select: typeof columns;
    readonly orderBy?: readonly object[];
    readonly take?: number;
  }): Promise<readonly LiveRow[]>;
}

function findTable({ prisma }: Database, kind: LiveKind): Table {
  if (kind === 'membership') return withoutUpdates(prisma.membership as unknown as TimelessTable);
  if (kind === 'invitation') return withoutUpdates(prisma.invitation as unknown as TimelessTable);
  return prisma[kind] as unknown as Table;
}

/** A table that does not keep when a row has changed: only new rows are found by a time. */
interface TimelessTable {
  findMany(query: object): Promise<readonly Pick<LiveRow, 'id' | 'createdAt'>[]>;
}

function withoutUpdates(table: TimelessTable): Table {
  return {
    async findMany(query) {
      const rows = await table.findMany({ ...query, select: { id: true, createdAt: true } });
      return rows.map((row) => ({ ...row, updatedAt: row.createdAt }));
    },
  };
}

function changed(
  db: Database,
  rule: LiveRule,
  where: readonly object[],
  since: Date,
  limit: number,
): Promise<readonly LiveRow[]> {
  const time = rule.kind === 'membership' || rule.kind === 'invitation' ? 'createdAt' : 'updatedAt';
  return findTable(db, rule.kind).findMany({
    where: { AND: [...where, { [time]: { gte: since } }] },
    select: columns,
    orderBy: [{ [time]: 'asc' }, { id: 'asc' }],
    take: limit,
  });
}

/** The rows of a rule that are not deleted. */
function present(rule: LiveRule): readonly object[] {
  const isThere = {
    ...{ agent: { isDeleted: false }, dataSource: { deletingAt: null }, chat: { deletedAt: null } },
    apiKey: { revokedAt: null },
  };
  return [toWhere(rule), ...(rule.kind in isThere ? [isThere[rule.kind as keyof typeof isThere]] : [])];
}

/** How a deleted row is known; undefined where its kind leaves none. */
function findTrace({ kind }: LiveRule): object | undefined {
  if (kind === 'agent') return { isDeleted: true };
  if (kind === 'apiKey') return { revokedAt: { not: null } };
  return kind === 'chat' ? { deletedAt: { not: null } } : undefined;
}

const dayMs = 86_400_000;

/** Runs are found by the time of their beginning: none is at work for longer than a day. */
function bounded({ kind }: LiveRule, since: Date): readonly object[] {
  return kind === 'run' ? [{ createdAt: { gte: new Date(since.getTime() - dayMs) } }] : [];
}

function toWhere(rule: LiveRule): object {
  switch (rule.kind) {
    case 'agent':
      return agentWhere(rule.filter);
    case 'dataSource':
      return dataSourceWhere(rule.filter);
    case 'chat':
      return { AND: [chatWhere(rule.filter), rule.agentId === undefined ? {} : { agentId: rule.agentId }] };
    case 'run':
      return runWhere(rule.reach);
    case 'memory':
    case 'chatImport': {
      const { orgId, userId } = rule.owner;
      return { orgId, userId };
    }
    case 'connection':
      return { ...rule.scope };
    case 'apiKey':
      return { orgId: rule.orgId, ...(rule.userId === undefined ? {} : { userId: rule.userId }) };
    case 'membership':
    case 'invitation':
    case 'group':
      return { orgId: rule.orgId };
  }
}

function runWhere(reach: RunReach): object {
  const { orgId, userId } = reach;
  return userId === undefined ? { orgId } : { orgId, OR: [{ userId }, { agentId: { in: [...reach.agentIds] } }] };
}

/** The alternatives of a rule about agents, so that each reads its own index. */
function listBranches(rule: LiveRule): readonly LiveRule[] {
  if (rule.kind === 'agent') return alternatives(rule.filter).map((filter) => ({ kind: 'agent', filter }));
  return listRunBranches(rule);
}

/** Prisma refuses an ordered query with more than 32,767 parameters. */
const agentsPerStatement = 20_000;

/** A rule about runs of more agents than fit into one statement, in parts. */
function listRunBranches(rule: LiveRule): readonly LiveRule[] {
  if (rule.kind !== 'run' || rule.reach.userId === undefined || rule.reach.agentIds.length <= agentsPerStatement) return [rule];
  const { reach } = rule;
  return [...inParts(reach.agentIds, agentsPerStatement)].map((agentIds) => ({ kind: 'run', reach: { ...reach, agentIds } }));
}

/** What the branches of a rule find, each row once. */
async function readBranches(
  branches: readonly LiveRule[],
  read: (branch: LiveRule) => Promise<readonly LiveRow[]>,
): Promise<readonly LiveRow[]> {
  const lists = await Promise.all(branches.map(read));
  return [...new Map(lists.flat().map((row) => [row.id, row])).values()];
}

function byChange(a: LiveRow, b: LiveRow): number {
  return a.updatedAt.getTime() - b.updatedAt.getTime() || (a.id < b.id ? -1 : 1);
}
