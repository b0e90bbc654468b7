import type { z } from 'zod';
import { DomainError } from '../../entities/ground/errors.ts';
import { emptyPage, type Page, type PageRequest } from '../../entities/ground/page.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Group, GroupMember } from '../../entities/people/group.ts';
import type { NewMember } from '../../storage/people/groups/groups.ts';
import type { groupChangesBody, newGroupBody } from '../../wire/people.ts';
import type { Deps } from '../deps.ts';
import { canEditGroup, toGroupFilter, visibleGroups } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';

export type CreateGroupInput = z.output<typeof newGroupBody>;
export type UpdateGroupInput = z.output<typeof groupChangesBody>;

const nameLengthMax = 200;
const emailLengthMax = 320;
export const membersMax = 1_000;
const emailPattern = /^[^\s@,]+@[^\s@,]+$/;

/** @throws DomainError NOT_FOUND, also for a RESTRICTED group that the caller is not in. */
export async function getGroup(deps: Deps, caller: Caller, id: string): Promise<Group> {
  const group = await deps.storage.people.groups.find(id, visibleGroups(caller));
  if (group === undefined) throw missingGroup();
  return group;
}

/** The groups among `ids` that the caller may see, in any order. */
export function getGroups(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Group[]> {
  return deps.storage.people.groups.findMany(ids, visibleGroups(caller));
}

/** The groups the caller owns or is a member of, newest first. */
export function listMyGroups(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<Group>> {
  return deps.storage.people.groups.list(toGroupFilter(caller), {}, page);
}

/** The groups that the caller may see, newest first. @throws DomainError INVALID_VALUE. */
export async function listGroups(
  deps: Deps,
  caller: Caller,
  { orgId, search }: { readonly orgId?: string | null | undefined; readonly search?: string | null | undefined },
  page: PageRequest,
): Promise<Page<Group>> {
  const faults = new Faults();
  faults.requireLength('search', search ?? '', nameLengthMax);
  faults.throwIfAny();
  return deps.storage.people.groups.list(visibleGroups(caller), { orgId: orgId ?? undefined, search: search ?? undefined }, page);
}

/** The same page of the members of each group that the caller sees, in the order of the ids, oldest first. */
export async function groupMemberPages(
  deps: Deps,
  groupIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<GroupMember>[]> {
  const pages = await deps.storage.people.groups.memberPagesOf(groupIds, page);
  return groupIds.map((id) => pages.get(id) ?? emptyPage(page));
}

/** The same page of the groups that each user is a member of and that the caller may see, in the order of the ids, newest first. */
export function groupPagesOfUsers(
  deps: Deps,
  caller: Caller,
  userIds: readonly string[],
  page: PageRequest,
): Promise<readonly Page<Group>[]> {
  return deps.storage.people.groups.pagesOfMembers(userIds, visibleGroups(caller), page);
}

/** The groups of agents that the caller sees, one array for each id. One statement. */
export async function listGroupsOfAgents(
  deps: Deps,
  caller: Caller,
  agentIds: readonly string[],
): Promise<readonly (readonly Group[])[]> {
  const byAgent = await deps.storage.people.groups.ofAgents(agentIds, visibleGroups(caller));
  return agentIds.map((id) => byAgent.get(id) ?? []);
}

/**
 * Makes a group of the caller's organization; the caller owns it. Members are named by e-mail: users of the tenant become members
 * at once, others when a user with that e-mail is added.
 *
 * @throws DomainError INVALID_VALUE naming every faulty member.
 */
export async function createGroup(deps: Deps, caller: Caller, input: CreateGroupInput): Promise<Group> {
  const faults = new Faults();
  faults.requireName('name', input.name, nameLengthMax);
  const emails = readEmails(splitEmails(input.memberEmails), 'memberEmails', faults);
  faults.throwIfAny();
  const group = {
    id: deps.newId('group'),
    createdAt: deps.now(),
    orgId: caller.orgId,
    ownerUserId: caller.userId,
    name: input.name.trim(),
    availability: input.availability,
  };
  const members = await resolveMembers(deps, caller.orgId, emails);
  return deps.audit.change(caller, () => deps.storage.people.groups.create(group, members));
}

/** Notes the faults of the members that are there. */
export function checkGroupInput(input: Partial<CreateGroupInput> & UpdateGroupInput, faults: Faults): void {
  if (typeof input.name === 'string') faults.requireName('name', input.name, nameLengthMax);
  readEmails(splitEmails(input.memberEmails ?? ''), 'memberEmails', faults);
  readEmails(splitEmails(input.memberEmailsToAdd ?? ''), 'memberEmailsToAdd', faults);
  readEmails(input.memberEmailsToRemove ?? [], 'memberEmailsToRemove', faults);
}

/**
 * Changes a group. An e-mail that is both added and removed stays.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except owner and administrators; INVALID_VALUE naming every faulty member.
 */
export async function updateGroup(deps: Deps, caller: Caller, id: string, input: UpdateGroupInput): Promise<Group> {
  const group = await getGroup(deps, caller, id);
  requireEditor(caller, group);
  const faults = new Faults();
  const name = input.name ?? group.name;
  faults.requireName('name', name, nameLengthMax);
  const toAdd = readEmails(splitEmails(input.memberEmailsToAdd ?? ''), 'memberEmailsToAdd', faults);
  const toRemove = readEmails(input.memberEmailsToRemove ?? [], 'memberEmailsToRemove', faults);
  faults.throwIfAny();
  if ((await deps.storage.people.groups.countMembers(id)) + toAdd.length > membersMax) {
    throw new DomainError('INVALID_VALUE', `A group has at most ${membersMax} members`, { param: 'memberEmailsToAdd' });
  }
  const changes = { name: name.trim(), availability: input.availability ?? group.availability };
  const add = await resolveMembers(deps, group.orgId, toAdd);
  const removeEmails = toRemove.filter((email) => !toAdd.includes(email));
  return deps.audit.change(caller, () => deps.storage.people.groups.update(id, changes, { add, removeEmails }));
}

/** Deletes a group; agents are no longer shared through it. @throws DomainError like `updateGroup`. */
export async function deleteGroup(deps: Deps, caller: Caller, id: string): Promise<Group> {
  const group = await getGroup(deps, caller, id);
  requireEditor(caller, group);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.people.groups.delete(id))) throw missingGroup();
  });
  return group;
}

function missingGroup(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such group', { param: 'groupId' });
}

function requireEditor(caller: Caller, group: Group): void {
  if (!canEditGroup(caller, group)) {
    throw new DomainError('FORBIDDEN', 'Only the owner of a group and administrators may change it');
  }
}

function splitEmails(list: string): readonly string[] {
  return list.split(',').filter((part) => part.trim() !== '');
}

function readEmails(texts: readonly string[], param: string, faults: Faults): readonly string[] {
  const emails = [...new Set(texts.map((text) => text.trim().toLowerCase()))];
  faults.requireCount(param, emails, membersMax);
  for (const email of emails.slice(0, membersMax)) {
    const isValid = email.length <= emailLengthMax && emailPattern.test(email);
    if (!isValid) faults.add(param, `${param} holds "${email.slice(0, 100)}", which is not an e-mail address`);
  }
  return emails;
}

/** Finds users in the tenant of the group's organization. */
async function resolveMembers(deps: Deps, orgId: string, emails: readonly string[]): Promise<readonly NewMember[]> {
  if (emails.length === 0) return [];
  const [organization] = await deps.storage.people.accounts.findOrganizations([orgId]);
  const users =
    organization === undefined ? [] : await deps.storage.people.accounts.findUsersByEmail(organization.tenantId, emails);
  const ids = new Map(users.map(({ email, id }) => [email, id]));
  return emails.map((email) => ({ email, userId: ids.get(email) ?? null }));
}
