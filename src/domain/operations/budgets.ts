import { BudgetSpans } from '../../engine/usage/budget-spans.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import {
  type Budget,
  type BudgetPeriod,
  type BudgetState,
  type BudgetSubject,
  type BudgetUnit,
  moneyUnits,
} from '../../entities/operations/budget.ts';
import type { CounterKind } from '../../entities/operations/usage.ts';
import type { Organization } from '../../entities/people/account.ts';
import type { ApiKey } from '../../entities/people/api-key.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { isTimeZone } from '../../lib/time-zone.ts';
import type { BudgetFilter } from '../../storage/operations/usage/budgets.ts';
import type { Deps } from '../deps.ts';
import { isAdministrator } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { callerOrganization } from '../people/accounts.ts';

export interface SetBudgetInput {
  readonly subject: BudgetSubject;
  /** Of ORGANIZATION the caller's, and may be absent. */
  readonly subjectId?: string | null | undefined;
  readonly period: BudgetPeriod;
  readonly unit: BudgetUnit;
  /** Tokens, or money in the currency of the installation. */
  readonly limit: number;
  readonly allowsUnpricedModels?: boolean | null | undefined;
}
export interface BudgetListInput {
  readonly subject?: BudgetSubject | null | undefined;
  readonly subjectId?: string | null | undefined;
}

const budgetsMax = 2_000;
const limitsMax = { TOKENS: 1_000_000_000_000_000, MONEY: 1_000_000_000 } as const;

/** The budgets of the caller's organization, newest first. @throws DomainError FORBIDDEN for who is no administrator, as everything here that does not say otherwise. */
export async function listBudgets(deps: Deps, caller: Caller, input: BudgetListInput, page: PageRequest): Promise<Page<Budget>> {
  requireAdministrator(caller);
  const filter: BudgetFilter = {
    ...(input.subject == null ? {} : { subject: input.subject }),
    ...(input.subjectId == null ? {} : { subjectId: input.subjectId }),
  };
  return deps.storage.operations.budgets.list(caller.orgId, filter, page);
}

/**
 * The budgets of the caller's organization among `ids`: for administrators whose key has ADMIN:READ, as `budgets` lists them; for others those that count
 * the own calls, or bound own keys.
 */
export async function getBudgets(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Budget[]> {
  const { budgets } = deps.storage.operations;
  const matches = await budgets.findMany(ids, caller.orgId);
  const seesAll = isAdministrator(caller, caller.orgId) && caller.scopes.has('ADMIN:READ');
  if (matches.length === 0 || seesAll) return matches;
  const own = new Set((await listOwnBudgets(deps, caller)).map(({ id }) => id));
  const ownKeyIds = await budgets.findKeyIds(
    caller,
    matches.map(({ subjectId }) => subjectId),
  );
  return matches.filter(({ id, subjectId }) => own.has(id) || ownKeyIds.has(subjectId));
}

/** @throws DomainError NOT_FOUND. */
export async function getBudget(deps: Deps, caller: Caller, id: string): Promise<Budget> {
  requireAdministrator(caller);
  const [budget] = await deps.storage.operations.budgets.findMany([id], caller.orgId);
  if (budget === undefined) throw missingBudget();
  return budget;
}

/**
 * Sets what a subject may use in each day or month: one budget for each subject, period and unit. It holds for the calls that begin from then on, and
 * counts what was used from its first call on.
 *
 * @throws DomainError INVALID_VALUE naming every faulty member; CONFLICT when there are as many as may be.
 */
export async function setBudget(deps: Deps, caller: Caller, input: SetBudgetInput): Promise<Budget> {
  requireAdministrator(caller);
  const { orgId } = caller;
  const { subject, period, unit } = input;
  const subjectId = input.subjectId ?? (subject === 'ORGANIZATION' ? orgId : '');
  await check(deps, caller, { ...input, subjectId });
  const { budgets } = deps.storage.operations;
  const place = { orgId, subjectId, period, unit };
  const amount = unit === 'MONEY' ? Math.round(input.limit * moneyUnits) : input.limit;
  return deps.audit.change(caller, async () => {
    const before = await budgets.findAt(place);
    if (before === undefined && (await budgets.count(orgId)) >= budgetsMax)
      throw new DomainError('CONFLICT', `An organization has at most ${budgetsMax} budgets: delete one first`);
    const allowsUnpricedModels = input.allowsUnpricedModels ?? before?.allowsUnpricedModels ?? false;
    const id = before?.id ?? deps.newId('budget');
    return budgets.set({ ...place, id, createdAt: deps.now(), subject, amount, allowsUnpricedModels });
  });
}

/** @returns what it was. @throws DomainError NOT_FOUND. */
export async function deleteBudget(deps: Deps, caller: Caller, id: string): Promise<Budget> {
  const budget = await getBudget(deps, caller, id);
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.operations.budgets.delete(id, caller.orgId))) throw missingBudget();
    return budget;
  });
}

/** The budgets that count the calls of the caller: of the organization, the person with its groups, and the key. Those of agents are not among them. */
export async function listOwnBudgets(deps: Deps, { orgId, userId, keyId }: Caller): Promise<readonly Budget[]> {
  const limits = await deps.storage.operations.usageLimits.find(orgId, deps.now().getTime());
  return [orgId, userId, keyId].flatMap((id) => limits?.budgets?.get(id) ?? []);
}

/** The budgets of a key that the caller sees. */
export async function listKeyBudgets(deps: Deps, { id, orgId }: Pick<ApiKey, 'id' | 'orgId'>): Promise<readonly Budget[]> {
  const limits = await deps.storage.operations.usageLimits.find(orgId, deps.now().getTime());
  return limits?.budgets?.get(id) ?? [];
}

/** What is used of budgets of one organization now, in their order. Cost: one statement. */
export async function loadBudgetStates(deps: Deps, budgets: readonly Budget[]): Promise<readonly BudgetState[]> {
  const now = deps.now();
  const spans = new BudgetSpans();
  const states: BudgetState[] = [];
  for (const [orgId, ownBudgets] of Map.groupBy(budgets, (budget) => budget.orgId)) {
    const limits = await deps.storage.operations.usageLimits.find(orgId, now.getTime());
    const placed = ownBudgets.map((budget) => ({ budget, ...spans.find(budget, limits?.timeZone ?? 'UTC', now) }));
    const usedByCounter = await deps.storage.operations.budgets.used(
      orgId,
      placed.map(({ counter }) => counter as CounterKind),
    );
    states.push(...placed.map((state) => ({ ...state, used: usedByCounter.get(state.counter) ?? 0 })));
  }
  const byBudget = new Map(states.map((state) => [state.budget, state]));
  return budgets.flatMap((budget) => byBudget.get(budget) ?? []);
}

/**
 * Sets by which clock days and months of the organization begin: those of budgets, and of usage by day. Days that are counted already stay as they are.
 *
 * @throws DomainError INVALID_VALUE.
 */
export async function setOrganizationTimeZone(deps: Deps, caller: Caller, timeZone: string): Promise<Organization> {
  requireAdministrator(caller);
  if (!isTimeZone(timeZone))
    throw new DomainError('INVALID_VALUE', 'timeZone must be an IANA name such as Europe/Berlin or UTC', { param: 'timeZone' });
  await deps.audit.change(caller, () => deps.storage.people.organizations.update(caller.orgId, { timeZone }));
  return callerOrganization(deps, caller);
}

async function check(
  deps: Deps,
  { orgId }: Caller,
  { subject, subjectId, unit, limit }: SetBudgetInput & { readonly subjectId: string },
): Promise<void> {
  const faults = new Faults();
  if (unit === 'TOKENS') faults.requireRange('limit', limit, { min: 0, max: limitsMax.TOKENS, isWhole: true }, 'a whole number');
  else faults.requireRange('limit', limit, { min: 0, max: limitsMax.MONEY });
  // Rounded, it would be another limit: nothing at all, where it is small. What a sum of floating-point numbers is off by does not count.
  const isRounded = Math.abs(Number(limit.toFixed(9)) - limit) > limit * 1e-12;
  if (unit === 'MONEY' && isRounded) faults.add('limit', 'limit must have at most 9 decimals');
  if (subjectId === '') faults.add('subjectId', `subjectId must name the ${subject.toLowerCase()}`);
  else if (!(await deps.storage.operations.budgets.hasSubject(orgId, subject, subjectId)))
    faults.add('subjectId', `subjectId must be the id of ${subjectWords[subject]}`);
  faults.throwIfAny();
}

const subjectWords = {
  ORGANIZATION: 'this organization',
  GROUP: 'a group of this organization',
  USER: 'a member of this organization',
  KEY: 'a living key of this organization',
  AGENT: 'an agent of this organization',
} as const satisfies Record<BudgetSubject, string>;

function requireAdministrator(caller: Caller): void {
  if (!isAdministrator(caller, caller.orgId))
    throw new DomainError('FORBIDDEN', 'Only administrators see and change the budgets of their organization');
}

function missingBudget(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such budget', { param: 'id' });
}
