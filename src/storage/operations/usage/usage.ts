// Raw SQL: counters and ledger. One statement changes the ledger, its sums and the counters.

import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import {
  type AgentUsage,
  type SubjectUsage,
  type UsageDay,
  type UsageKind,
  type UsagePeriod,
  type UsageSubject,
  type UsageSums,
  usageKinds,
} from '../../../entities/operations/usage.ts';
import type { AgentFilter } from '../../../entities/people/access.ts';
import { inParts } from '../../../lib/in-parts.ts';
import { agentCondition } from '../../agents/conditions.ts';
import { addMessageCounts } from '../../agents/counters.ts';
import { addUsage, type UsageBatch } from '../../ground/ledger/ledger.ts';
import { Parameters } from '../../ground/sql/where.ts';
import { PublishingStore } from '../../ground/store.ts';
import { pageOfSubjects, type SubjectPlace } from './subjects.ts';
import { loadTotal, ofEveryCall, sumsByAgent, sumsBySubject, toSums } from './sums.ts';

/** Fits a payload. */
const idsPerSignal = 100;
/** Agents that one statement looks up. After so many statements, the next one looks up the others. */
const agentsPerLook = 500;
const looksMax = 4;

/** Whose days are read; at most one of the two. */
export interface DayPlace {
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
}

export class UsageStore extends PublishingStore {
  /**
   * Writes a batch in one statement, with the daily sums and the counters, and subtracts them from the reservations of `owner`. An existing row
   * stays as it is, so a repeated write charges nothing twice. Rows of a deleted organization are left out. Afterwards, the messages that turns noted are
   * added to the counts of their agents. Runs that are not stored and have ended get their rows in the same statement.
   */
  async add(batch: UsageBatch, owner: string): Promise<void> {
    await this.db.runForAll(async () => {
      await addUsage(this.db, batch, owner);
      await addMessageCounts(this.db);
    });
    if (batch.rows.count > 0) for (const orgId of batch.orgIds) this.signals.publish('usage-changed', orgId);
    for (const runIds of inParts(batch.runIds, idsPerSignal)) this.signals.publish('runs-recorded', runIds.join(','));
  }

  /** What became of a run that was worked on under this lease. `lost`: it is another process's, or gone. */
  async stateUnder({ runId, fence }: { readonly runId: string; readonly fence: number }): Promise<'open' | 'ended' | 'lost'> {
    const run = await this.db.prisma.run.findUnique({ where: { id: runId }, select: { fence: true, status: true } });
    if (run?.fence !== fence) return 'lost';
    return run.status === 'in_progress' ? 'open' : 'ended';
  }

  total(orgId: string, period: UsagePeriod): Promise<UsageSums> {
    return loadTotal(this.db, orgId, period);
  }

  /** Agents that match, most tokens first. */
  async byAgent(orgId: string, period: UsagePeriod, filter: AgentFilter, limit: number): Promise<readonly AgentUsage[]> {
    const countTokens = (sums: UsageSums) => sums.dataTokensUsed + sums.apiTokensUsed;
    const agentSums = [...(await sumsByAgent(this.db, orgId, period))].map(([agentId, sums]) => ({ agentId, ...sums }));
    agentSums.sort((a, b) => countTokens(b) - countTokens(a) || (a.agentId < b.agentId ? -1 : 1));
    const matching: AgentUsage[] = [];
    // Those with most tokens first, so that the agents of a large organization are not all looked up.
    for (let start = 0, looks = 1; start < agentSums.length && matching.length < limit; looks += 1) {
      const looked = agentSums.slice(start, looks > looksMax ? undefined : start + agentsPerLook);
      start += looked.length;
      const parameters = new Parameters();
      // One array in one statement: Prisma asks several for a list of more values than a statement takes.
      const isAmong = `id = any(${parameters.add(looked.map(({ agentId }) => agentId))}::text[])`;
      const rows = await this.db.queryPlanned<{ readonly id: string }>(
        `select id from agents where ${isAmong} and ${agentCondition(filter, parameters)}`,
        parameters.values,
      );
      const matches = new Set(rows.map(({ id }) => id));
      matching.push(...looked.filter(({ agentId }) => matches.has(agentId)));
    }
    return matching.slice(0, limit);
  }

  /** Days with use, in order: of all, of one agent, or of one user. `from` and `to` are days: `2026-01-31`, both included. */
  async byDay(orgId: string, from: string, to: string, { agentId, userId }: DayPlace): Promise<readonly UsageDay[]> {
    const { usageDay, usageSum } = this.db.prisma;
    const day = { gte: new Date(from), lte: new Date(to) };
    const sumQuery = {
      by: ['day' as const],
      _sum: { dataTokens: true, apiTokens: true, cost: true } as const,
      orderBy: { day: 'asc' as const },
    };
    const days =
      agentId === undefined
        ? await usageSum.groupBy({ ...sumQuery, where: { orgId, day, ...ofUser(userId) } })
        : await usageDay.groupBy({ ...sumQuery, where: { orgId, day, agentId } });
    return days.map(({ day: time, _sum }) => ({ day: toDay(time), ...toSums(_sum) }));
  }

  /** Users, keys or models, most tokens first. The sort key is `[tokens, id]`. */
  bySubject(place: SubjectPlace, period: UsagePeriod, page: PageRequest): Promise<Page<SubjectUsage>> {
    return pageOfSubjects(this.db, place, period, page);
  }

  /** What these agents used in an organization; those without use are left out. */
  ofAgents(orgId: string, agentIds: readonly string[], period: UsagePeriod): Promise<ReadonlyMap<string, UsageSums>> {
    return sumsByAgent(this.db, orgId, period, agentIds);
  }

  /** What these users, keys or models used in an organization. */
  ofSubjects(
    orgId: string,
    subject: UsageSubject,
    ids: readonly string[],
    period: UsagePeriod,
  ): Promise<ReadonlyMap<string, UsageSums>> {
    return sumsBySubject(this.db, orgId, subject, ids, period);
  }

  /** The tokens of each kind that an organization ever used: its limits apply to them. */
  async counted(orgId: string): Promise<Readonly<Record<UsageKind, number>>> {
    const counters = await this.db.prisma.usageCounter.findMany({ where: { orgId, kind: { in: [...usageKinds] } } });
    const usedByKind = new Map(counters.map((counter) => [counter.kind, Number(counter.used)]));
    return { api: usedByKind.get('api') ?? 0, data: usedByKind.get('data') ?? 0 };
  }
}

function ofUser(userId: string | undefined) {
  return userId === undefined ? ofEveryCall : ({ dimension: 'user', value: userId } as const);
}

function toDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}
