import { DomainError } from '../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import type { User } from '../../entities/people/account.ts';
import type { Caller, MemberRole } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { adminReach } from '../ground/access/access.ts';
import { refuseHeld } from '../ground/access/kept-by-hold.ts';
import { Faults } from '../ground/faults.ts';
import {
  administeredOrganization,
  missing,
  nameLengthMax,
  readEmail,
  requireAboveOrganizations,
  requireNoKeyAbove,
  requireNoOperator,
} from './administration.ts';

export interface CreateUserInput {
  readonly email: string;
  /** Default: the part of the e-mail before the @. */
  readonly name?: string | null | undefined;
  /** Default: the caller's. */
  readonly orgId?: string | null | undefined;
  /** Default MEMBER. */
  readonly role?: MemberRole | null | undefined;
}
/** Absent and null members are kept. */
export interface UpdateUserInput {
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
}

export interface ListUsersFilter {
  readonly orgId?: string | null | undefined;
  readonly search?: string | null | undefined;
  /** Default true. */
  readonly isActive?: boolean | null | undefined;
}

const searchLengthMax = 200;

/** @throws DomainError FORBIDDEN when the caller administers nothing, NOT_FOUND for a user out of reach. */
export async function getUser(deps: Deps, caller: Caller, id: string): Promise<User> {
  const user = await deps.storage.people.users.find(id, adminReach(caller));
  if (user === undefined) throw missing('user', 'userId');
  return user;
}

/** Users within the caller's administration, newest first; `isActive: false` lists those who are deactivated there instead. @throws DomainError FORBIDDEN, INVALID_VALUE. */
export async function listUsers(
  deps: Deps,
  caller: Caller,
  { orgId, search, isActive }: ListUsersFilter,
  page: PageRequest,
): Promise<Page<User>> {
  const faults = new Faults();
  faults.requireLength('search', search ?? '', searchLengthMax);
  faults.throwIfAny();
  const filter = { orgId: orgId ?? undefined, search: search ?? undefined, isActive: isActive ?? true };
  return deps.storage.people.users.list(adminReach(caller), filter, page);
}

/**
 * Adds a person to an organization. An existing user of the tenant with this e-mail becomes a member and keeps the name.
 *
 * @throws DomainError FORBIDDEN, NOT_FOUND for an organization out of reach, CONFLICT for a member, INVALID_VALUE.
 */
export async function createUser(deps: Deps, caller: Caller, input: CreateUserInput): Promise<User> {
  const organization = await administeredOrganization(deps, caller, input.orgId);
  const faults = new Faults();
  const email = readEmail(input.email, faults);
  const name = input.name ?? email.slice(0, Math.max(1, email.indexOf('@'))).slice(0, nameLengthMax);
  faults.requireName('name', name, nameLengthMax);
  faults.throwIfAny();
  const { accounts, tenancy } = deps.storage.people;
  const createdAt = deps.now();
  const [existingUser] = await accounts.findUsersByEmail(organization.tenantId, [email]);
  if (existingUser !== undefined && (await accounts.findRole(organization.id, existingUser.id)) !== undefined) {
    throw new DomainError('CONFLICT', 'A member of the organization has this e-mail', { param: 'email' });
  }
  const userId = existingUser?.id ?? deps.newId('user');
  const role = input.role ?? 'MEMBER';
  await deps.audit.change(caller, async () => {
    if (existingUser === undefined) {
      await tenancy.createUser({ id: userId, tenantId: organization.tenantId, email, name: name.trim(), createdAt });
    }
    await tenancy.addMember({ id: deps.newId('membership'), orgId: organization.id, userId, role, createdAt });
    return { id: userId, orgId: organization.id };
  });
  return getUser(deps, caller, userId);
}

/**
 * Changes name or e-mail, by which people sign in: of an operator, callers of level INSTANCE do. A user of several organizations can be changed only by a key above them.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT when the e-mail is taken, INVALID_VALUE.
 */
export async function updateUser(deps: Deps, caller: Caller, id: string, input: UpdateUserInput): Promise<User> {
  const user = await getUser(deps, caller, id);
  await requireNoOperator(deps, caller, id, 'is changed');
  if (caller.level === 'ORGANIZATION' && (await deps.storage.people.users.isMemberElsewhere(id, caller.orgId))) {
    throw new DomainError('FORBIDDEN', 'The user is a member of other organizations too: this needs a key of level TENANT');
  }
  const faults = new Faults();
  const name = input.name ?? user.name;
  faults.requireName('name', name, nameLengthMax);
  const email = typeof input.email === 'string' ? readEmail(input.email, faults) : user.email;
  faults.throwIfAny();
  if (email !== user.email && (await deps.storage.people.accounts.findUsersByEmail(user.tenantId, [email])).length > 0) {
    throw new DomainError('CONFLICT', 'Another user has this e-mail', { param: 'email' });
  }
  const changes = { name: name.trim(), ...(email === user.email ? {} : { email }) };
  return deps.audit.change(caller, () => deps.storage.people.users.update(id, changes));
}

/**
 * Deletes a user everywhere: keys, memberships and editorships at once, chats and connections in the background. The usage ledger stays.
 *
 * @returns the former user.
 * @throws DomainError FORBIDDEN for all keys except TENANT and INSTANCE keys, and for a user with a key above the caller's level; NOT_FOUND;
 * CONFLICT while the user owns agents, data sources or groups or is the last administrator of an organization, and for the user of the calling key.
 */
export async function deleteUser(deps: Deps, caller: Caller, id: string): Promise<User> {
  const user = await getUser(deps, caller, id);
  requireAboveOrganizations(caller);
  if (id === caller.userId) throw new DomainError('CONFLICT', 'This key acts as the user; use one of another');
  await requireNoKeyAbove(deps, caller, { userId: id });
  // Said before what else stands in the way: settling that would be in vain.
  refuseHeld(await deps.storage.legalHolds.ofPerson(id));
  return deps.audit.change(caller, async () => {
    const holdings = await deps.storage.people.users.delete(id, (tx) =>
      deps.jobs.enqueue('accounts.purge-user', { userId: id }, { owner: caller, key: id, tx }),
    );
    if (holdings === undefined) return user;
    if (holdings === 'missing') throw missing('user', 'userId');
    const { agents, dataSources, groups, organizations } = holdings;
    throw new DomainError(
      'CONFLICT',
      `The user owns ${agents} agents, ${dataSources} data sources and ${groups} groups, and is the last administrator of ${organizations} organizations; settle that first`,
    );
  });
}
