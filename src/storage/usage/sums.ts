import { noTokensUsed, type UsagePeriod, type UsageSubject, type UsageSums } from '../../entities/usage.ts';
import type { Database } from '../database/database.ts';
import { partsOf } from './subjects.ts';

/** The daily sums that are the fewest, and that every call is in: there are few models. */
export const ofEveryCall = { dimension: 'model' } as const;

export async function totalOf({ prisma }: Database, orgId: string, period: UsagePeriod): Promise<UsageSums> {
  const { days, rest } = partsOf(period);
  const sums = await joined([
    ...days.map(async (part) => {
      const where = { orgId, day: boundsOf(part), ...ofEveryCall };
      const { _sum } = await prisma.usageSum.aggregate({ where, _sum: tokensOfDays });
      return new Map([['', sumsOf(_sum)]]);
    }),
    ...rest.map(async (part) => {
      const where = { orgId, createdAt: boundsOf(part) };
      const entries = await prisma.usageEntry.groupBy({ by: ['purpose'], where, _sum: tokensOfCalls });
      return sumsByValue(entries.map((entry) => ({ value: '', ...entry })));
    }),
  ]);
  return sums.get('') ?? noTokensUsed;
}

const tokensOfDays = { dataTokens: true, apiTokens: true } as const;
const tokensOfCalls = { inputTokens: true, outputTokens: true } as const;

/** The sums of a period, '' for calls without an agent: of the daily sums for whole days, of the ledger itself for what is left at the ends of a period. */
export async function sumsByAgent(
  { prisma }: Database,
  orgId: string,
  period: UsagePeriod,
  agentIds?: readonly string[],
): Promise<ReadonlyMap<string, UsageSums>> {
  const agents = agentIds === undefined ? {} : { agentId: { in: [...agentIds] } };
  const { days, rest } = partsOf(period);
  return joined([
    ...days.map(async (part) => {
      const where = { orgId, day: boundsOf(part), ...agents };
      const sums = await prisma.usageDay.groupBy({ by: ['agentId'], where, _sum: tokensOfDays });
      return new Map(sums.map(({ agentId, _sum }) => [agentId, sumsOf(_sum)]));
    }),
    ...rest.map(async (part) => {
      const where = { orgId, createdAt: boundsOf(part), ...agents };
      const entries = await prisma.usageEntry.groupBy({ by: ['agentId', 'purpose'], where, _sum: tokensOfCalls });
      return sumsByValue(entries.map((entry) => ({ value: entry.agentId ?? '', ...entry })));
    }),
  ]);
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
  const { days, rest } = partsOf(period);
  return joined([
    ...days.map(async (part) => {
      const where = { orgId, dimension: subject, day: boundsOf(part), value };
      const sums = await prisma.usageSum.groupBy({ by: ['value'], where, _sum: tokensOfDays });
      return new Map(sums.map((sum) => [sum.value, sumsOf(sum._sum)]));
    }),
    ...rest.map(async (part) => {
      const where = { orgId, createdAt: boundsOf(part), [column]: value };
      const entries = await prisma.usageEntry.groupBy({ by: [column, 'purpose'], where, _sum: tokensOfCalls });
      return sumsByValue(entries.map((entry) => ({ value: entry[column] ?? '', ...entry })));
    }),
  ]);
}

/** Adds up the sums of the parts of a period. */
async function joined(parts: readonly Promise<ReadonlyMap<string, UsageSums>>[]): Promise<ReadonlyMap<string, UsageSums>> {
  const sums = new Map<string, UsageSums>();
  for (const part of await Promise.all(parts))
    for (const [value, used] of part) sums.set(value, plus(sums.get(value) ?? noTokensUsed, used));
  return sums;
}

interface SummedEntries {
  readonly value: string;
  readonly purpose: string;
  readonly _sum: { readonly inputTokens: number | null; readonly outputTokens: number | null };
}

function sumsByValue(entries: readonly SummedEntries[]): ReadonlyMap<string, UsageSums> {
  const byValue = new Map<string, UsageSums>();
  for (const { value, purpose, _sum } of entries) {
    const tokens = (_sum.inputTokens ?? 0) + (_sum.outputTokens ?? 0);
    const sums = purpose === 'run' ? { ...noTokensUsed, apiTokensUsed: tokens } : { ...noTokensUsed, dataTokensUsed: tokens };
    byValue.set(value, plus(byValue.get(value) ?? noTokensUsed, sums));
  }
  return byValue;
}

function boundsOf({ from, to }: UsagePeriod) {
  return { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lt: to }) };
}

function plus(a: UsageSums, b: UsageSums): UsageSums {
  return { dataTokensUsed: a.dataTokensUsed + b.dataTokensUsed, apiTokensUsed: a.apiTokensUsed + b.apiTokensUsed };
}

export function sumsOf(sums: { readonly dataTokens: bigint | null; readonly apiTokens: bigint | null }): UsageSums {
  return { dataTokensUsed: Number(sums.dataTokens ?? 0), apiTokensUsed: Number(sums.apiTokens ?? 0) };
}
