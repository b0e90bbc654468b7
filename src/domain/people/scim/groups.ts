import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { ScimGroup } from '../../../entities/people/scim.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { missing, nameLengthMax } from '../administration.ts';
import { membersMax } from '../groups.ts';

export interface ScimGroupInput {
  readonly name: string;
  readonly externalId: string | null;
  readonly memberIds: readonly string[];
}

/** A group that an identity provider made. @throws DomainError NOT_FOUND, also for a group that people made. */
export async function getScimGroup({ storage }: Deps, { orgId }: Caller, id: string): Promise<ScimGroup> {
  const group = await storage.people.scim.findGroup(orgId, id);
  if (group === undefined) throw missing('group', 'id');
  return group;
}

/** @throws DomainError CONFLICT when the identity provider has a group of that name; INVALID_VALUE, also for a member who is not there. */
export function createScimGroup(deps: Deps, caller: Caller, input: ScimGroupInput): Promise<ScimGroup> {
  const { orgId, userId: ownerUserId } = caller;
  return deps.audit.change(caller, async () => {
    const name = await readName(deps, caller, input, undefined);
    const id = deps.newId('group');
    const group = { id, orgId, ownerUserId, name, availability: 'EVERYONE' as const, createdAt: deps.now() };
    await deps.storage.people.groups.create(group, await loadMembers(deps, orgId, input.memberIds));
    await deps.storage.people.scim.noteGroup(orgId, id, input.externalId);
    return getScimGroup(deps, caller, id);
  });
}

/**
 * @param before  the group as the caller knew it: only what differs from it is changed, so that calls at the same time keep each other's members.
 * @throws DomainError as `createScimGroup`, and NOT_FOUND.
 */
export function updateScimGroup(deps: Deps, caller: Caller, before: ScimGroup, input: ScimGroupInput): Promise<ScimGroup> {
  const { id } = before;
  return deps.audit.change(caller, async () => {
    await getScimGroup(deps, caller, id);
    const name = await readName(deps, caller, input, id);
    const emailsById = new Map(before.members.map(({ userId, email }) => [userId, email]));
    const wantedIds = new Set(input.memberIds);
    const add = await loadMembers(
      deps,
      caller.orgId,
      [...wantedIds].filter((userId) => !emailsById.has(userId)),
    );
    const removeEmails = [...emailsById].flatMap(([userId, email]) => (wantedIds.has(userId) ? [] : [email]));
    if ((await deps.storage.people.groups.countMembers(id)) + add.length - removeEmails.length > membersMax) throw tooMany();
    await deps.storage.people.groups.update(id, { name }, { add, removeEmails });
    await deps.storage.people.scim.noteGroup(caller.orgId, id, input.externalId);
    return getScimGroup(deps, caller, id);
  });
}

export function deleteScimGroup(deps: Deps, caller: Caller, id: string): Promise<{ readonly id: string }> {
  return deps.audit.change(caller, async () => {
    await getScimGroup(deps, caller, id);
    await deps.storage.people.groups.delete(id);
    return { id };
  });
}

async function readName(deps: Deps, { orgId }: Caller, input: ScimGroupInput, id: string | undefined): Promise<string> {
  const faults = new Faults();
  faults.requireName('displayName', input.name, nameLengthMax);
  faults.requireLength('externalId', input.externalId ?? '', nameLengthMax);
  faults.throwIfAny();
  const name = input.name.trim();
  if (await deps.storage.people.scim.hasGroup(orgId, name, id)) {
    throw new DomainError('CONFLICT', `The identity provider has a group ${JSON.stringify(name)} already`);
  }
  return name;
}

async function loadMembers({ storage }: Deps, orgId: string, ids: readonly string[]) {
  if (ids.length > membersMax) throw tooMany();
  const emails = await storage.people.scim.emailsOf(orgId, ids);
  return [...new Set(ids)].map((userId) => {
    const email = emails.get(userId);
    if (email !== undefined) return { userId, email };
    throw new DomainError(
      'INVALID_VALUE',
      `members: there is no user ${JSON.stringify(userId.slice(0, 100))} in this organization`,
    );
  });
}

function tooMany(): DomainError {
  return new DomainError('INVALID_VALUE', `A group has at most ${membersMax} members`);
}
