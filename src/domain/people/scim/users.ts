import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller, MemberRole } from '../../../entities/people/caller.ts';
import type { ScimUser } from '../../../entities/people/scim.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { missing, nameLengthMax, readEmail, requireNoOperator } from '../administration.ts';
import { beginMembership, endMembership } from '../deactivation.ts';
import { requireChanged } from '../memberships.ts';
import { createUser } from '../users.ts';

/** A whole person as an identity provider sends them. */
export interface ScimUserInput {
  readonly email: string;
  /** Undefined: not sent. */
  readonly name: string | undefined;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly externalId: string | null;
  readonly isActive: boolean | undefined;
  readonly role: MemberRole | undefined;
}

/** @throws DomainError NOT_FOUND, also for somebody of another organization. */
export async function getScimUser({ storage }: Deps, { orgId }: Caller, id: string): Promise<ScimUser> {
  const foundUser = await storage.people.scim.findUser(orgId, id);
  if (foundUser === undefined) throw missing('user', 'id');
  return foundUser;
}

/**
 * Adds a person to the organization of the key. @throws DomainError CONFLICT for a member and for somebody who is deactivated; INVALID_VALUE.
 */
export function createScimUser(deps: Deps, caller: Caller, input: ScimUserInput): Promise<ScimUser> {
  const role = input.role ?? 'MEMBER';
  return deps.audit.change(caller, async () => {
    const { id } = await createUser(deps, caller, { email: input.email, name: input.name, role });
    await note(deps, caller, id, input, { isActive: true, role });
    if (input.isActive === false) await deactivate(deps, caller, await getScimUser(deps, caller, id), input);
    return getScimUser(deps, caller, id);
  });
}

/**
 * Makes a person what the identity provider says. Address and name of an operator, and of somebody who is a member of other organizations too, stay. Deactivation ends the
 * membership with all keys and sessions in the organization; reactivation begins a new one with the same role, and brings back no key and no session.
 *
 * @throws DomainError NOT_FOUND; CONFLICT for the last administrator, the person of the key, and an address that is taken; FORBIDDEN when it would end
 * a key above the level of the caller's; INVALID_VALUE.
 */
export function updateScimUser(deps: Deps, caller: Caller, id: string, input: ScimUserInput): Promise<ScimUser> {
  return deps.audit.change(caller, async () => {
    const user = await getScimUser(deps, caller, id);
    const role = input.role ?? user.role;
    await rename(deps, caller, user, input);
    const isActive = input.isActive ?? user.membershipId !== undefined;
    await note(deps, caller, id, input, { isActive, role });
    if (!isActive) await deactivate(deps, caller, user, input);
    else if (user.membershipId === undefined) await beginMembership(deps, caller, user, role);
    else if (role !== user.role) {
      requireOther(caller, id);
      await requireNoOperator(deps, caller, id, 'gets another role');
      requireChanged(await deps.storage.people.memberships.setRole(user.membershipId, role));
    }
    return getScimUser(deps, caller, id);
  });
}

/** Takes a person from the organization, as by deactivation, and forgets what the identity provider said. What the person made stays. */
export function deleteScimUser(deps: Deps, caller: Caller, id: string): Promise<{ readonly id: string }> {
  return deps.audit.change(caller, async () => {
    await end(deps, caller, await getScimUser(deps, caller, id));
    await deps.storage.people.scim.forgetUser(caller.orgId, id);
    return { id };
  });
}

async function deactivate(deps: Deps, caller: Caller, user: ScimUser, input: ScimUserInput): Promise<void> {
  await end(deps, caller, user);
  await note(deps, caller, user.id, input, { isActive: false, role: input.role ?? user.role });
}

/** @throws DomainError CONFLICT for the person of the key. */
async function end(deps: Deps, caller: Caller, user: ScimUser): Promise<void> {
  if (user.membershipId !== undefined) requireOther(caller, user.id);
  await endMembership(deps, caller, caller, user);
}

/** The key would end with the person that it acts as, and nobody could be provisioned any more. */
function requireOther({ userId }: Caller, id: string): void {
  if (userId !== id) return;
  throw new DomainError(
    'CONFLICT',
    'The SCIM key acts as this person, who stays an active ADMIN: give the identity provider a key of another administrator first',
  );
}

async function rename(deps: Deps, { orgId }: Caller, user: ScimUser, input: ScimUserInput): Promise<void> {
  const faults = new Faults();
  const email = readEmail(input.email, faults);
  const name = (input.name ?? user.name).trim();
  faults.requireName('name', name, nameLengthMax);
  faults.throwIfAny();
  if (email === user.email && name === user.name) return;
  const { users, accounts, operators } = deps.storage.people;
  if ((await users.isMemberElsewhere(user.id, orgId)) || (await operators.isOperator(user.id))) return;
  if (email !== user.email && (await accounts.findUsersByEmail(user.tenantId, [email])).length > 0) {
    throw new DomainError('CONFLICT', 'Another user has this e-mail', { param: 'email' });
  }
  await users.update(user.id, { name, ...(email === user.email ? {} : { email }) });
}

async function note(
  { storage }: Deps,
  { orgId }: Caller,
  id: string,
  { externalId, givenName, familyName }: ScimUserInput,
  state: { readonly isActive: boolean; readonly role: MemberRole },
): Promise<void> {
  const faults = new Faults();
  for (const [member, text] of Object.entries({ externalId, givenName, familyName })) {
    faults.requireLength(member, text ?? '', nameLengthMax);
  }
  faults.throwIfAny();
  await storage.people.scim.noteUser(orgId, id, { externalId, givenName, familyName, ...state });
}
