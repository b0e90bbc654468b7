// Raw SQL: counters and ledger. One statement changes the ledger, its sums and the counters.

import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type {
  AgentUsage,
  SubjectUsage,
  UsageDay,
  UsageKind,
  UsagePeriod,
  UsageSubject,
  UsageSums,
} from '../../../entities/operations/usage.ts';
import type { AgentFilter } from '../../../entities/people/access.ts';
import { addMessageCounts } from '../../agents/counters.ts';
import { agentWhere } from '../../agents/filter.ts';
import type { Database } from '../../ground/database.ts';
import { addUsage, type UsageRow } from '../../ground/ledger/ledger.ts';
import type { UnstoredRun } from '../../ground/ledger/unstored.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { pageOfSubjects, type SubjectPlace } from './subjects.ts';
import { ofEveryCall, sumsByAgent, sumsBySubject, sumsOf, totalOf } from './sums.ts';

export interface UsageStore {
  /**
   * Writes all rows in one statement, with the daily sums and the counters, and subtracts them from the reservations of `owner`. An existing row
   * stays as it is, so a repeated write charges nothing twice. Rows of a deleted organization are left out. Afterwards, the messages that turns noted are
   * added to the counts of their agents.
   *
   * @param runs  that are not stored and have ended: they get their rows in the same statement.
   */
  add(rows: readonly UsageRow[], owner: string, runs?: readonly UnstoredRun[]): Promise<void>;
  total(orgId: string, period: UsagePeriod): Promise<UsageSums>;
  /** Agents that match, most tokens first. */
  byAgent(orgId: string, period: UsagePeriod, filter: AgentFilter, limit: number): Promise<readonly AgentUsage[]>;
  /** Days with use, in order. `from` and `to` are days: `2026-01-31`, both included. */
  byDay(orgId: string, from: string, to: string, agentId: string | undefined): Promise<readonly UsageDay[]>;
  /** Users, keys or models, most tokens first. The sort key is `[tokens, id]`. */
  bySubject(place: SubjectPlace, period: UsagePeriod, page: PageRequest): Promise<Page<SubjectUsage>>;
  /** What these agents used in an organization; those without use are left out. */
  ofAgents(orgId: string, agentIds: readonly string[], period: UsagePeriod): Promise<ReadonlyMap<string, UsageSums>>;
  /** What these users, keys or models used in an organization. */
  ofSubjects(
    orgId: string,
    subject: UsageSubject,
    ids: readonly string[],
    period: UsagePeriod,
  ): Promise<ReadonlyMap<string, UsageSums>>;
  /** The tokens of each kind that an organization ever used: its limits apply to them. */
  counted(orgId: string): Promise<Readonly<Record<UsageKind, number>>>;
}

/** Fits a payload. */
const idsPerSignal = 100;

export function createUsageStore(db: Database, signals: Signals): UsageStore {
  return {
    async add(rows, owner, runs = []) {
      await db.runForAll(async () => {
        await addUsage(db, rows, owner, runs);
        await addMessageCounts(db);
      });
      for (const orgId of new Set(rows.map((row) => row.orgId))) signals.publish('usage-changed', orgId);
      for (let start = 0; start < runs.length; start += idsPerSignal) {
        const ids = runs.slice(start, start + idsPerSignal).map(({ id }) => id);
        signals.publish('runs-recorded', ids.join(','));
      }
    },
    total: (orgId, period) => totalOf(db, orgId, period),
    async byAgent(orgId, period, filter, limit) {
      const used = await sumsByAgent(db, orgId, period);
      const where = { AND: [{ id: { in: [...used.keys()] } }, agentWhere(filter)] };
      const matches = new Set((await db.prisma.agent.findMany({ where, select: { id: true } })).map(({ id }) => id));
      const tokensOf = (sums: UsageSums) => sums.dataTokensUsed + sums.apiTokensUsed;
      const listed = [...used].flatMap(([agentId, sums]) => (matches.has(agentId) ? [{ agentId, ...sums }] : []));
      listed.sort((a, b) => tokensOf(b) - tokensOf(a) || (a.agentId < b.agentId ? -1 : 1));
      return listed.slice(0, limit);
    },
    async byDay(orgId, from, to, agentId) {
      const { usageDay, usageSum } = db.prisma;
      const day = { gte: new Date(from), lte: new Date(to) };
      const summed = {
        by: ['day' as const],
        _sum: { dataTokens: true, apiTokens: true } as const,
        orderBy: { day: 'asc' as const },
      };
      const days =
        agentId === undefined
          ? await usageSum.groupBy({ ...summed, where: { orgId, day, ...ofEveryCall } })
          : await usageDay.groupBy({ ...summed, where: { orgId, day, agentId } });
      return days.map(({ day: time, _sum }) => ({ day: dayOf(time), ...sumsOf(_sum) }));
    },
    bySubject: (place, period, page) => pageOfSubjects(db, place, period, page),
    ofAgents: (orgId, agentIds, period) => sumsByAgent(db, orgId, period, agentIds),
    ofSubjects: (orgId, subject, ids, period) => sumsBySubject(db, orgId, subject, ids, period),
    async counted(orgId) {
      const counters = await db.prisma.usageCounter.findMany({ where: { orgId } });
      const used = new Map(counters.map((counter) => [counter.kind, Number(counter.used)]));
      return { api: used.get('api') ?? 0, data: used.get('data') ?? 0 };
    },
  };
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
