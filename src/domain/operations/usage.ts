import { DomainError } from '../../entities/ground/errors.ts';
import { everything } from '../../entities/ground/filter.ts';
import { type Page, type PageRequest, pageOfItems, type SortKey } from '../../entities/ground/page.ts';
import {
  type AgentUsage,
  noTokensUsed,
  type SubjectUsage,
  type TokenLimits,
  type UsageDay,
  type UsagePeriod,
  type UsageReport,
  type UsageSubject,
  type UsageSums,
} from '../../entities/operations/usage.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { addDays, countDays, startOfDay, toLocalDay } from '../../lib/time-zone.ts';
import type { DayPlace } from '../../storage/operations/usage/usage.ts';
import type { Deps } from '../deps.ts';
import { isAdministrator, toViewer, usableAgents } from '../ground/access/access.ts';
import { callerOrganization } from '../people/accounts.ts';
import { administeredOrganization } from '../people/administration.ts';

export interface UsagePeriodInput {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}
export interface UsageInput extends UsagePeriodInput {
  /** Default: the caller's organization. */
  readonly orgId?: string | null | undefined;
}
export interface UsageDaysInput extends UsagePeriodInput {
  readonly agentId?: string | null | undefined;
  readonly userId?: string | null | undefined;
}

/** A report lists so many agents. */
export const usedAgentsMax = 1_000;
const daysDefault = 30;
export const usageDaysMax = 366;

/**
 * What an organization used: the sum of the ledger, in total or for a period. Everybody sees the totals of the own organization; those of another are
 * for who administers it.
 *
 * @throws DomainError INVALID_VALUE for a period that ends before it begins; FORBIDDEN and NOT_FOUND for another organization.
 *
 * Cost: two statements; the daily sums of whole days, and the ledger itself for what is left at the ends of a period.
 */
export async function getUsage(deps: Deps, caller: Caller, input: UsageInput): Promise<UsageReport> {
  const orgId = input.orgId ?? caller.orgId;
  const period = await readPeriod(deps, orgId, input);
  const isOwn = orgId === caller.orgId;
  const [organization, total] = await Promise.all([
    isOwn ? callerOrganization(deps, caller) : administeredOrganization(deps, caller, orgId),
    deps.storage.operations.usage.total(orgId, period),
  ]);
  const { dataUsageTokenLimit, apiUsageTokenLimit } = organization;
  const isAdministered = !isOwn || isAdministrator(caller, orgId);
  return { orgId, period, isAdministered, ...total, dataUsageTokenLimit, apiUsageTokenLimit };
}

/** By agent, most tokens first. Administrators of the organization see every agent; others those that they may use. */
export async function listAgentUsage(
  deps: Deps,
  caller: Caller,
  { orgId, period }: UsageReport,
  page: PageRequest,
): Promise<Page<AgentUsage>> {
  const filter = isAdministrator(caller, orgId) ? everything : usableAgents(caller);
  const agents = await deps.storage.operations.usage.byAgent(orgId, period, filter, usedAgentsMax);
  return pageOfItems(agents, page, (usage) => [sumTokens(usage), usage.agentId], mostFirst);
}

/** By user, key or model, most tokens first. Who does not administer the organization sees itself and its own keys, and all models. */
export function listSubjectUsage(
  deps: Deps,
  caller: Caller,
  { orgId, period, isAdministered }: UsageReport,
  subject: UsageSubject,
  page: PageRequest,
): Promise<Page<SubjectUsage>> {
  const userId = isAdministered ? undefined : caller.userId;
  return deps.storage.operations.usage.bySubject({ orgId, subject, userId }, period, page);
}

/** What the caller's organization used of each agent, in the order of the ids. Default of `from`: 30 days back. */
export async function usageOfAgents(
  deps: Deps,
  caller: Caller,
  agentIds: readonly string[],
  input: UsagePeriodInput,
): Promise<readonly UsageSums[]> {
  const usageByAgent = await deps.storage.operations.usage.ofAgents(
    caller.orgId,
    agentIds,
    await latelyOr(deps, caller.orgId, input),
  );
  return agentIds.map((id) => usageByAgent.get(id) ?? noTokensUsed);
}

/** What users used in the caller's organization, in the order of the ids: see `seesUsageOf`. */
export async function usageOfUsers(
  deps: Deps,
  caller: Caller,
  userIds: readonly string[],
  input: UsagePeriodInput,
): Promise<readonly UsageSums[]> {
  const period = await latelyOr(deps, caller.orgId, input);
  const usageByUser = await deps.storage.operations.usage.ofSubjects(caller.orgId, 'user', userIds, period);
  return userIds.map((id) => usageByUser.get(id) ?? noTokensUsed);
}

/** Whether the caller may read what a user used in the caller's organization. */
export function maySeeUsage(caller: Caller, userId: string): boolean {
  return userId === caller.userId || isAdministrator(caller, caller.orgId);
}

/** What keys of one organization used, in the order of the ids, for a caller who sees the keys. */
export async function usageOfKeys(
  deps: Deps,
  orgId: string,
  keyIds: readonly string[],
  input: UsagePeriodInput,
): Promise<readonly UsageSums[]> {
  const period = await latelyOr(deps, orgId, input);
  const usageByKey = await deps.storage.operations.usage.ofSubjects(orgId, 'key', keyIds, period);
  return keyIds.map((id) => usageByKey.get(id) ?? noTokensUsed);
}

/** The limits of tokens of the caller's organization, and how much of them is used. */
export async function getTokenLimits(deps: Deps, caller: Caller): Promise<TokenLimits> {
  const [{ apiUsageTokenLimit, dataUsageTokenLimit }, usedTokens] = await Promise.all([
    callerOrganization(deps, caller),
    deps.storage.operations.usage.counted(caller.orgId),
  ]);
  return {
    api: { limit: apiUsageTokenLimit, used: usedTokens.api },
    data: { limit: dataUsageTokenLimit, used: usedTokens.data },
  };
}

/**
 * The use of the caller's organization on each day of a period by its clock, including days without use. Default: the last 30 days.
 *
 * @throws DomainError INVALID_VALUE for a period that ends before it begins or has more than 366 days; NOT_FOUND for an agent that
 * the caller may not see; FORBIDDEN for another user, except for administrators; MUTUALLY_EXCLUSIVE_PARAMETERS for an agent and a user.
 */
export async function getUsageDays(deps: Deps, caller: Caller, input: UsageDaysInput): Promise<readonly UsageDay[]> {
  const agentId = input.agentId ?? undefined;
  const userId = input.userId ?? undefined;
  if (agentId !== undefined && userId !== undefined)
    throw new DomainError('MUTUALLY_EXCLUSIVE_PARAMETERS', 'agentId and userId exclude each other', { param: 'userId' });
  if (agentId !== undefined) await requireVisible(deps, caller, agentId);
  if (userId !== undefined && !maySeeUsage(caller, userId))
    throw new DomainError('FORBIDDEN', 'Only administrators see what others used');
  return loadDays(deps, caller.orgId, await readPeriod(deps, caller.orgId, input), { agentId, userId });
}

/** The days of a report, one page, the first day first. @throws DomainError like `getUsageDays`. */
export async function listUsageDays(deps: Deps, { orgId, period }: UsageReport, page: PageRequest): Promise<Page<UsageDay>> {
  return pageOfDays(await loadDays(deps, orgId, period, {}), page);
}

export function pageOfDays(days: readonly UsageDay[], page: PageRequest): Page<UsageDay> {
  return pageOfItems(
    days,
    page,
    ({ day }) => [day],
    ([a = ''], [b = '']) => (a < b ? -1 : Number(a > b)),
  );
}

async function loadDays(
  deps: Deps,
  orgId: string,
  { from, to, timeZone = 'UTC' }: UsagePeriod,
  place: DayPlace,
): Promise<readonly UsageDay[]> {
  const last = toLocalDay(to === undefined ? deps.now().getTime() : to.getTime() - 1, timeZone);
  const first = from === undefined ? addDays(last, 1 - daysDefault) : toLocalDay(from.getTime(), timeZone);
  const count = countDays(first, last);
  if (count > usageDaysMax) throw new DomainError('INVALID_VALUE', `At most ${usageDaysMax} days at a time`, { param: 'from' });
  if (count < 1) throw new DomainError('INVALID_VALUE', 'from must not be in the future', { param: 'from' });
  const usageDays = await deps.storage.operations.usage.byDay(orgId, first, last, place);
  const byDay = new Map(usageDays.map((day) => [day.day, day]));
  return Array.from({ length: count }, (_, index) => {
    const day = addDays(first, index);
    return byDay.get(day) ?? { day, ...noTokensUsed };
  });
}

async function requireVisible(deps: Deps, caller: Caller, agentId: string): Promise<void> {
  const visibleAgent = await deps.storage.agents.find(agentId, usableAgents(caller), toViewer(caller));
  if (visibleAgent === undefined) throw new DomainError('NOT_FOUND', 'There is no such AI', { param: 'agentId' });
  deps.audit.read(caller, 'agent', [visibleAgent]);
}

async function readPeriod(deps: Deps, orgId: string, { from, to }: UsagePeriodInput): Promise<UsagePeriod> {
  const limits = await deps.storage.operations.usageLimits.find(orgId, deps.now().getTime());
  const period = { from: from ?? undefined, to: to ?? undefined, timeZone: limits?.timeZone ?? 'UTC' };
  if (period.from !== undefined && period.to !== undefined && period.from >= period.to) {
    throw new DomainError('INVALID_VALUE', 'to must be later than from', { param: 'to' });
  }
  return period;
}

/** The last 30 days by the clock of the organization, today included, where a period has no beginning. */
async function latelyOr(deps: Deps, orgId: string, input: UsagePeriodInput): Promise<UsagePeriod> {
  const { from, to, timeZone = 'UTC' } = await readPeriod(deps, orgId, input);
  const last = toLocalDay(to === undefined ? deps.now().getTime() : to.getTime() - 1, timeZone);
  return { from: from ?? new Date(startOfDay(addDays(last, 1 - daysDefault), timeZone)), to, timeZone };
}

function sumTokens({ dataTokensUsed, apiTokensUsed }: UsageSums): number {
  return dataTokensUsed + apiTokensUsed;
}

/** The order of sort keys `[tokens, id]`. */
function mostFirst([tokensA = 0, idA = '']: SortKey, [tokensB = 0, idB = '']: SortKey): number {
  return Number(tokensB) - Number(tokensA) || (idA < idB ? -1 : Number(idA > idB));
}
