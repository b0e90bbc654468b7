import type { GroupMembers, ItemPermissions } from '../../../../entities/knowledge/permissions.ts';
import type { PermissionPage } from '../permissions.ts';
import { hasLists } from './unknown.ts';

/** Groups that are told together: each may have thousands of members. */
const groupsAtOnce = 20;

/**
 * Reads groups, and those that are their members, each once.
 *
 * @param read  gives all members of a group, or says why they are not known. What may be better later is thrown.
 */
export async function* readGroups(
  groupIds: Iterable<string>,
  read: (id: string) => Promise<GroupMembers>,
  place: unknown,
  signal: AbortSignal,
): AsyncGenerator<PermissionPage, void, void> {
  const seen = new Set(groupIds);
  let groups: GroupMembers[] = [];
  // A set tells what is added while it is walked.
  for (const id of seen) {
    signal.throwIfAborted();
    const group = await read(id);
    groups.push(group);
    if (Array.isArray(group.members)) for (const member of group.members) if (member.kind === 'group') seen.add(member.id);
    if (groups.length < groupsAtOnce) continue;
    yield { items: [], groups, place };
    groups = [];
  }
  if (groups.length > 0) yield { items: [], groups, place };
}

/** Notes the groups that permissions name. */
export function noteGroups(permissions: ItemPermissions, groupIds: Set<string>): void {
  if (!hasLists(permissions)) return;
  for (const list of permissions.lists) for (const entry of list) if (entry.kind === 'group') groupIds.add(entry.id);
}
