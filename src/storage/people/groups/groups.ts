import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { GroupFilter } from '../../../entities/people/access.ts';
import type { Group, GroupMember } from '../../../entities/people/group.ts';
import { settled } from '../../ground/conflicts.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { createGroupQueries, type GroupPlace } from './queries.ts';

/** A new member; `userId` is null while no user of the tenant has this e-mail. */
export interface NewMember {
  readonly email: string;
  readonly userId: string | null;
}

export interface GroupStore {
  find(id: string, filter: GroupFilter): Promise<Group | undefined>;
  /** The groups with one of the ids that exist and match. */
  findMany(ids: readonly string[], filter: GroupFilter): Promise<readonly Group[]>;
  /** Newest first. `search`: in the name, whatever the case. */
  list(filter: GroupFilter, place: GroupPlace, page: PageRequest): Promise<Page<Group>>;
  /** The groups of many agents in one statement, in the order in which each agent was given to them. */
  ofAgents(agentIds: readonly string[], filter: GroupFilter): Promise<ReadonlyMap<string, readonly Group[]>>;
  /** The same page of the members of each of several groups, oldest first. Cost: one statement, and one for the counts of all. */
  memberPagesOf(groupIds: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, Page<GroupMember>>>;
  /** The same page of the groups that each of several users is a member of, in the order of the users, newest first. Cost: two statements. */
  pagesOfMembers(userIds: readonly string[], filter: GroupFilter, page: PageRequest): Promise<readonly Page<Group>[]>;
  countMembers(groupId: string): Promise<number>;
  /** Those of the groups that are in the organization and have fewer members than `membersMax`. Cost: one statement. */
  withRoom(orgId: string, ids: readonly string[], membersMax: number): Promise<readonly string[]>;
  create(group: Omit<Group, 'updatedAt'>, members: readonly NewMember[]): Promise<Group>;
  update(
    id: string,
    changes: Partial<Pick<Group, 'name' | 'availability'>>,
    members: { readonly add: readonly NewMember[]; readonly removeEmails: readonly string[] },
  ): Promise<Group>;
  delete(id: string): Promise<void>;
}

export function createGroupStore(db: Database, signals: Signals): GroupStore {
  return {
    ...createGroupQueries(db),
    countMembers: (groupId) => db.prisma.groupMember.count({ where: { groupId } }),
    async withRoom(orgId, ids, membersMax) {
      if (ids.length === 0) return [];
      const select = { id: true, _count: { select: { members: true } } };
      const groups = await db.prisma.group.findMany({ where: { id: { in: [...ids] }, orgId }, select });
      return groups.filter(({ _count }) => _count.members < membersMax).map(({ id }) => id);
    },
    async create(group, members) {
      const row = await db.prisma.group.create({
        data: {
          ...group,
          updatedAt: group.createdAt,
          members: { create: members.map((member) => ({ ...member, createdAt: group.createdAt })) },
        },
      });
      signals.publish('group-changed', group.id);
      return groupOf(row);
    },
    async update(id, changes, { add, removeEmails }) {
      const removed = { email: { in: [...removeEmails] } };
      const update = db.prisma.group.update({
        where: { id },
        data: {
          ...changes,
          members: {
            ...(removeEmails.length === 0 ? {} : { deleteMany: removed }),
            upsert: add.map((member) => ({
              where: { groupId_email: { groupId: id, email: member.email } },
              create: member,
              update: { userId: member.userId },
            })),
          },
        },
      });
      const row = await settled(update, 'group');
      signals.publish('group-changed', id);
      return groupOf(row);
    },
    async delete(id) {
      await db.prisma.group.deleteMany({ where: { id } });
      signals.publish('group-changed', id);
    },
  };
}

function groupOf(row: Omit<Group, 'availability'> & { readonly availability: string }): Group {
  return { ...row, availability: row.availability as Group['availability'] };
}
