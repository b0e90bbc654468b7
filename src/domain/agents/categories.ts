import type { AgentCategory } from '../../entities/agents/agent.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { isAdministrator } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';

const nameLengthMax = 100;
const categoriesMax = 500;

/** The categories of the organization's catalog, by name. */
export function listAgentCategories(deps: Deps, caller: Caller): Promise<readonly AgentCategory[]> {
  return deps.storage.agents.categories.list(caller.orgId);
}

/**
 * Adds a category to the organization's catalog, for its administrators.
 *
 * @throws DomainError FORBIDDEN; INVALID_VALUE; CONFLICT for a taken name, ignoring case, and beyond 500 categories.
 */
export async function createAgentCategory(deps: Deps, caller: Caller, input: { readonly name: string }): Promise<AgentCategory> {
  requireAdministrator(caller);
  const name = readName(input.name);
  const others = await deps.storage.agents.categories.list(caller.orgId);
  if (others.length >= categoriesMax) {
    throw new DomainError('CONFLICT', `An organization may have at most ${categoriesMax} categories`);
  }
  requireFree(name, others);
  const category = { id: deps.newId('agentCategory'), createdAt: deps.now(), orgId: caller.orgId, name };
  return deps.audit.change(caller, () => deps.storage.agents.categories.create(category));
}

/** @throws DomainError NOT_FOUND, FORBIDDEN, INVALID_VALUE, CONFLICT for a name that is taken. */
export async function renameAgentCategory(
  deps: Deps,
  caller: Caller,
  id: string,
  input: { readonly name: string },
): Promise<AgentCategory> {
  const category = await managedCategory(deps, caller, id);
  const name = readName(input.name);
  const others = await deps.storage.agents.categories.list(category.orgId);
  requireFree(
    name,
    others.filter((other) => other.id !== category.id),
  );
  return deps.audit.change(caller, () => deps.storage.agents.categories.rename(id, name));
}

/**
 * Deletes a category; its agents lose it.
 *
 * @returns the former category.
 * @throws DomainError NOT_FOUND, FORBIDDEN.
 */
export async function deleteAgentCategory(deps: Deps, caller: Caller, id: string): Promise<AgentCategory> {
  const category = await managedCategory(deps, caller, id);
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.agents.categories.delete(id))) throw missingCategory();
    return category;
  });
}

async function managedCategory(deps: Deps, caller: Caller, id: string): Promise<AgentCategory> {
  // INSTANCE keys administer every organization.
  const orgId = caller.level === 'INSTANCE' ? undefined : caller.orgId;
  const category = isId('agentCategory', id) ? await deps.storage.agents.categories.find(id, orgId) : undefined;
  if (category === undefined) throw missingCategory();
  requireAdministrator(caller);
  return category;
}

function requireAdministrator(caller: Caller): void {
  if (!isAdministrator(caller, caller.orgId)) {
    throw new DomainError('FORBIDDEN', 'Only administrators may change the categories of their organization');
  }
}

function readName(text: string): string {
  const faults = new Faults();
  faults.requireName('name', text, nameLengthMax);
  faults.throwIfAny();
  return text.trim();
}

function requireFree(name: string, others: readonly AgentCategory[]): void {
  const isTaken = others.some((other) => other.name.toLowerCase() === name.toLowerCase());
  if (isTaken) throw new DomainError('CONFLICT', `There is a category "${name}" already`, { param: 'name' });
}

function missingCategory(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such category', { param: 'categoryId' });
}
