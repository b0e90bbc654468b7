import { compileLinearPattern, PatternError } from '../../engine/tools/json-schema/linear-pattern.ts';
import type { Guard, GuardCount, GuardKind, GuardPattern } from '../../entities/agents/guard.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { isAdministrator } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { editableAgent } from './parts/access.ts';

/** What replaces a guard. Without kinds, patterns and model nothing is masked. */
export interface GuardInput {
  readonly kinds?: readonly GuardKind[] | null | undefined;
  readonly patterns?: readonly PatternInput[] | null | undefined;
  readonly putsBack?: boolean | null | undefined;
  readonly modelId?: string | null | undefined;
}
interface PatternInput {
  readonly name: string;
  readonly pattern: string;
  readonly lengthMax?: number | null | undefined;
}

const patternsMax = 20;
const lengthMaxDefault = 100;
const lengthLimit = 1_000;
const dayMs = 86_400_000;
const daysMax = 400;

/** What is masked in the runs of an agent; nothing where nobody has set it. @throws DomainError NOT_FOUND; FORBIDDEN when the caller may only use it. */
export async function getAgentGuard(deps: Deps, caller: Caller, agentId: string): Promise<Guard> {
  const agent = await editableAgent(deps, caller, agentId);
  deps.audit.read(caller, 'instructions', [agent]);
  return readGuard(deps, { orgId: agent.orgId, agentId: agent.id });
}

/** @throws DomainError NOT_FOUND; FORBIDDEN; naming every faulty member. */
export async function setAgentGuard(deps: Deps, caller: Caller, agentId: string, input: GuardInput): Promise<Guard> {
  const agent = await editableAgent(deps, caller, agentId);
  return writeGuard(deps, caller, { orgId: agent.orgId, agentId: agent.id }, input);
}

/** What is masked in all runs of the organization: its people may know. */
export function getOrganizationGuard(deps: Deps, caller: Caller): Promise<Guard> {
  return readGuard(deps, { orgId: caller.orgId, agentId: null });
}

/** @throws DomainError FORBIDDEN for who is no administrator; naming every faulty member. */
export async function setOrganizationGuard(deps: Deps, caller: Caller, input: GuardInput): Promise<Guard> {
  requireAdministrator(caller);
  return writeGuard(deps, caller, { orgId: caller.orgId, agentId: null }, input);
}

/** How many values the runs of the organization have masked, by kind. @throws DomainError FORBIDDEN; INVALID_VALUE. Cost: one statement. */
export async function listGuardCounts(
  deps: Deps,
  caller: Caller,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<readonly GuardCount[]> {
  requireAdministrator(caller);
  if (until < since) throw new DomainError('INVALID_VALUE', 'until must not be before since', { param: 'until' });
  if (until.getTime() - since.getTime() > daysMax * dayMs)
    throw new DomainError('INVALID_VALUE', `since must be at most ${daysMax} days before until`, { param: 'since' });
  return deps.storage.agents.guards.listCounts({ orgId: caller.orgId, agentId: null }, since, until);
}

function requireAdministrator(caller: Caller): void {
  if (!isAdministrator(caller, caller.orgId))
    throw new DomainError('FORBIDDEN', 'Only administrators see and change what their organization masks');
}

type Place = Pick<Guard, 'orgId' | 'agentId'>;

async function readGuard(deps: Deps, place: Place): Promise<Guard> {
  const nothing = { kinds: [], patterns: [], putsBack: true, modelId: null, updatedAt: new Date(0) };
  return (await deps.storage.agents.guards.read(place)) ?? { ...place, ...nothing };
}

async function writeGuard(deps: Deps, caller: Caller, place: Place, input: GuardInput): Promise<Guard> {
  const faults = new Faults();
  const patterns = readPatterns(input.patterns ?? [], faults);
  const modelId = input.modelId ?? null;
  if (modelId !== null && (await deps.models.find(modelId)) === undefined)
    faults.add('modelId', 'modelId is no model of this installation');
  faults.throwIfAny();
  const guard = {
    ...place,
    kinds: [...new Set(input.kinds ?? [])],
    patterns,
    putsBack: input.putsBack ?? true,
    modelId,
    updatedAt: deps.now(),
  };
  await deps.audit.change(caller, () => deps.storage.agents.guards.set(guard));
  return guard;
}

function readPatterns(patterns: readonly PatternInput[], faults: Faults): readonly GuardPattern[] {
  faults.requireCount('patterns', patterns, patternsMax);
  const names = new Set<string>();
  return patterns.slice(0, patternsMax).map(({ name, pattern, lengthMax }, index) => {
    const at = `patterns[${index}]`;
    if (!/^[A-Z][A-Z0-9_]{0,39}$/.test(name))
      faults.add(`${at}.name`, `${at}.name must be capital letters, digits and _, at most 40`);
    else if (names.has(name)) faults.add(`${at}.name`, `${at}.name is that of another pattern`);
    names.add(name);
    const most = lengthMax ?? lengthMaxDefault;
    faults.requireRange(`${at}.lengthMax`, most, { min: 1, max: lengthLimit, isWhole: true }, 'a whole number');
    checkPattern(`${at}.pattern`, pattern, faults);
    return { name, pattern, lengthMax: most };
  });
}

function checkPattern(param: string, pattern: string, faults: Faults): void {
  try {
    const { test } = compileLinearPattern(pattern, () => undefined);
    if (test('')) faults.add(param, `${param} must not match an empty text`);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    faults.add(param, `${param} ${error.message}`);
  }
}
