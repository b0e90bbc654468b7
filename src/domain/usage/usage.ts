import type { Caller } from '../../entities/accounts/caller.ts';
import { DomainError } from '../../entities/errors.ts';
import { everything } from '../../entities/filter.ts';
import type { UsageDay, UsageReport } from '../../entities/usage.ts';
import { isAdministrator, usableAgents, viewerOf } from '../access/access.ts';
import { callerOrganization } from '../accounts/accounts.ts';
import type { Deps } from '../deps.ts';

export interface UsagePeriodInput {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}
export interface UsageDaysInput extends UsagePeriodInput {
  readonly agentId?: string | null | undefined;
}

const dayMs = 86_400_000;
const agentsMax = 1_000;
const daysDefault = 30;
const daysMax = 366;

/**
 * What the caller's organization used: the sum of the ledger, in total or for a period. Administrators see every agent; others see
 * the totals and the agents that they may use.
 *
 * @throws DomainError INVALID_VALUE for a period that ends before it begins.
 *
 * Cost: three statements; a period of whole UTC days reads the daily sums, any other the ledger itself.
 */
export async function getUsage(deps: Deps, caller: Caller, input: UsagePeriodInput): Promise<UsageReport> {
  const period = readPeriod(input);
  const { orgId } = caller;
  const filter = isAdministrator(caller, orgId) ? everything : usableAgents(caller);
  const [organization, total, agents] = await Promise.all([
    callerOrganization(deps, caller),
    deps.storage.usage.total(orgId, period),
    deps.storage.usage.byAgent(orgId, period, filter, agentsMax),
  ]);
  const { dataUsageTokenLimit, apiUsageTokenLimit } = organization;
  return { orgId, ...total, dataUsageTokenLimit, apiUsageTokenLimit, agents };
}

/**
 * The use on each UTC day of a period, including days without use. Default: the last 30 days.
 *
 * @throws DomainError INVALID_VALUE for a period that ends before it begins or has more than 366 days; NOT_FOUND for an agent that
 * the caller may not see.
 */
export async function getUsageDays(deps: Deps, caller: Caller, input: UsageDaysInput): Promise<readonly UsageDay[]> {
  const { from, to } = readPeriod(input);
  const lastMs = floorDay(to === undefined ? deps.now().getTime() : to.getTime() - 1);
  const firstMs = from === undefined ? lastMs - (daysDefault - 1) * dayMs : floorDay(from.getTime());
  const count = (lastMs - firstMs) / dayMs + 1;
  if (count > daysMax) throw new DomainError('INVALID_VALUE', `At most ${daysMax} days at a time`, { param: 'from' });
  if (count < 1) throw new DomainError('INVALID_VALUE', 'from must not be in the future', { param: 'from' });
  const agentId = input.agentId ?? undefined;
  if (agentId !== undefined) await requireVisible(deps, caller, agentId);
  const found = await deps.storage.usage.byDay(caller.orgId, dayOf(firstMs), dayOf(lastMs), agentId);
  const byDay = new Map(found.map((day) => [day.day, day]));
  return Array.from({ length: count }, (_, index) => {
    const day = dayOf(firstMs + index * dayMs);
    return byDay.get(day) ?? { day, dataTokensUsed: 0, apiTokensUsed: 0 };
  });
}

async function requireVisible(deps: Deps, caller: Caller, agentId: string): Promise<void> {
  const seen = await deps.storage.agents.find(agentId, usableAgents(caller), viewerOf(caller));
  if (seen === undefined) throw new DomainError('NOT_FOUND', 'There is no such AI', { param: 'agentId' });
  deps.audit.read(caller, 'agent', [seen]);
}

function readPeriod({ from, to }: UsagePeriodInput): { readonly from: Date | undefined; readonly to: Date | undefined } {
  const period = { from: from ?? undefined, to: to ?? undefined };
  if (period.from !== undefined && period.to !== undefined && period.from >= period.to) {
    throw new DomainError('INVALID_VALUE', 'to must be later than from', { param: 'to' });
  }
  return period;
}

function floorDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
