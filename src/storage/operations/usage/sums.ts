import { noTokensUsed, type UsagePeriod, type UsageSubject, type UsageSums } from '../../../entities/operations/usage.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { listDays, listMonths, listSpans, type UsageSpan } from './spans.ts';

/** The daily sums that are the fewest, and that every call is in: there are few models. */
export const ofEveryCall = { dimension: 'model' } as const;

export async function loadTotal({ prisma }: Database, orgId: string, period: UsagePeriod): Promise<UsageSums> {
  const sums = await added(listDays(period), async (span) => {
    if (span.grain === 'call') {
      const where = { orgId, createdAt: toBounds(span) };
      const entries = await prisma.usageEntry.groupBy({ by: ['purpose'], where, _sum: tokensOfCalls });
      return sumsByValue(entries.map((entry) => ({ value: '', ...entry })));
    }
    const where = { orgId, day: toBounds(span), ...ofEveryCall };
    const { _sum } = await prisma.usageSum.aggregate({ where, _sum: tokensOfDays });
    return new Map([['', toSums(_sum)]]);
  });
  return sums.get('') ?? noTokensUsed;
}

const tokensOfDays = { dataTokens: true, apiTokens: true, cost: true } as const;
const tokensOfCalls = { inputTokens: true, outputTokens: true, cost: true } as const;

/** Of the few things of a list, the days of two months are few too. */
const daysOfFew = 62;

/** The sums of a period, '' for calls without an agent. */
export async function sumsByAgent(
  { prisma }: Database,
  orgId: string,
  period: UsagePeriod,
  agentIds?: readonly string[],
): Promise<ReadonlyMap<string, UsageSums>> {
  const value = agentIds === undefined ? {} : { in: [...agentIds] };
  return added(listMonths(period, new Date(), agentIds === undefined ? 0 : daysOfFew), async (span) => {
    if (span.grain === 'month') return ofMonths(prisma, { orgId, dimension: 'agent', month: toBounds(span), value });
    if (span.grain === 'day') {
      const where = { orgId, day: toBounds(span), agentId: value };
      const sums = await prisma.usageDay.groupBy({ by: ['agentId'], where, _sum: tokensOfDays });
      return new Map(sums.map(({ agentId, _sum }) => [agentId, toSums(_sum)]));
    }
    const where = { orgId, createdAt: toBounds(span), agentId: value };
    const entries = await prisma.usageEntry.groupBy({ by: ['agentId', 'purpose'], where, _sum: tokensOfCalls });
    return sumsByValue(entries.map((entry) => ({ value: entry.agentId ?? '', ...entry })));
  });
}

export async function sumsBySubject(
  { prisma }: Database,
  orgId: string,
  subject: UsageSubject,
  ids: readonly string[],
  period: UsagePeriod,
): Promise<ReadonlyMap<string, UsageSums>> {
  const value = { in: [...ids] };
  const column = ({ user: 'userId', key: 'keyId', model: 'modelId' } as const)[subject];
  return added(listSpans(subject, period, daysOfFew), async (span) => {
    const place = { orgId, dimension: subject, value };
    if (span.grain === 'month') return ofMonths(prisma, { ...place, month: toBounds(span) });
    if (span.grain === 'day') {
      const where = { ...place, day: toBounds(span) };
      const sums = await prisma.usageSum.groupBy({ by: ['value'], where, _sum: tokensOfDays });
      return new Map(sums.map((sum) => [sum.value, toSums(sum._sum)]));
    }
    const where = { orgId, createdAt: toBounds(span), [column]: value };
    const entries = await prisma.usageEntry.groupBy({ by: [column, 'purpose'], where, _sum: tokensOfCalls });
    return sumsByValue(entries.map((entry) => ({ value: entry[column] ?? '', ...entry })));
  });
}

async function ofMonths(prisma: Database['prisma'], where: Prisma.UsageMonthWhereInput): Promise<ReadonlyMap<string, UsageSums>> {
  const sums = await prisma.usageMonth.groupBy({ by: ['value'], where, _sum: tokensOfDays });
  return new Map(sums.map((sum) => [sum.value, toSums(sum._sum)]));
}

/** Adds up the sums of spans, which are read side by side. What used nothing in all of them is left out. */
async function added(
  spans: readonly UsageSpan[],
  read: (span: UsageSpan) => Promise<ReadonlyMap<string, UsageSums>>,
): Promise<ReadonlyMap<string, UsageSums>> {
  const sums = new Map<string, UsageSums>();
  const parts = await Promise.all(spans.map(async (span) => ({ sign: span.sign, used: await read(span) })));
  for (const { sign, used: usageSums } of parts)
    for (const [value, tokens] of usageSums) sums.set(value, plus(sums.get(value) ?? noTokensUsed, tokens, sign));
  for (const [value, { dataTokensUsed, apiTokensUsed, costBillionths }] of sums)
    if (dataTokensUsed === 0 && apiTokensUsed === 0 && costBillionths === 0) sums.delete(value);
  return sums;
}

interface SummedEntries {
  readonly value: string;
  readonly purpose: string;
  readonly _sum: { readonly inputTokens: number | null; readonly outputTokens: number | null; readonly cost: bigint | null };
}

function sumsByValue(entries: readonly SummedEntries[]): ReadonlyMap<string, UsageSums> {
  const byValue = new Map<string, UsageSums>();
  for (const { value, purpose, _sum } of entries) {
    const tokens = (_sum.inputTokens ?? 0) + (_sum.outputTokens ?? 0);
    const used = { ...noTokensUsed, costBillionths: Number(_sum.cost ?? 0) };
    const sums = purpose === 'run' ? { ...used, apiTokensUsed: tokens } : { ...used, dataTokensUsed: tokens };
    byValue.set(value, plus(byValue.get(value) ?? noTokensUsed, sums));
  }
  return byValue;
}

function toBounds({ from, to }: UsagePeriod) {
  return { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lt: to }) };
}

function plus(a: UsageSums, b: UsageSums, sign: 1 | -1 = 1): UsageSums {
  return {
    dataTokensUsed: a.dataTokensUsed + sign * b.dataTokensUsed,
    apiTokensUsed: a.apiTokensUsed + sign * b.apiTokensUsed,
    costBillionths: a.costBillionths + sign * b.costBillionths,
  };
}

interface SummedDays {
  readonly dataTokens: bigint | null;
  readonly apiTokens: bigint | null;
  readonly cost: bigint | null;
}

export function toSums({ dataTokens, apiTokens, cost }: SummedDays): UsageSums {
  return { dataTokensUsed: Number(dataTokens ?? 0), apiTokensUsed: Number(apiTokens ?? 0), costBillionths: Number(cost ?? 0) };
}
