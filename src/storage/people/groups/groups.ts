import type { Group } from '../../../entities/people/group.ts';
import { settled } from '../../ground/conflicts.ts';
import type { Database } from '../../ground/database.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { GroupQueries } from './queries.ts';

/** A new member; `userId` is null while no user of the tenant has this e-mail. */
export interface NewMember {
  readonly email: string;
  readonly userId: string | null;
}

export class GroupStore extends GroupQueries {
  readonly #db: Database;
  readonly #signals: Signals;

  constructor(db: Database, signals: Signals) {
    super(db);
    this.#db = db;
    this.#signals = signals;
  }

  countMembers(groupId: string): Promise<number> {
    return this.#db.prisma.groupMember.count({ where: { groupId } });
  }

  /** Those of the groups that are in the organization and have fewer members than `membersMax`. Cost: one statement. */
  async withRoom(orgId: string, ids: readonly string[], membersMax: number): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const select = { id: true, _count: { select: { members: true } } };
    const groups = await this.#db.prisma.group.findMany({ where: { id: { in: [...ids] }, orgId }, select });
    return groups.filter(({ _count }) => _count.members < membersMax).map(({ id }) => id);
  }

  async create(group: Omit<Group, 'updatedAt'>, members: readonly NewMember[]): Promise<Group> {
    const row = await this.#db.prisma.group.create({
      data: {
        ...group,
        updatedAt: group.createdAt,
        members: { create: members.map((member) => ({ ...member, createdAt: group.createdAt })) },
      },
    });
    this.#signals.publish('group-changed', group.id);
    return toGroup(row);
  }

  async update(
    id: string,
    changes: Partial<Pick<Group, 'name' | 'availability'>>,
    { add, removeEmails }: { readonly add: readonly NewMember[]; readonly removeEmails: readonly string[] },
  ): Promise<Group> {
    const removedEmails = { email: { in: [...removeEmails] } };
    const update = this.#db.prisma.group.update({
      where: { id },
      data: {
        ...changes,
        members: {
          ...(removeEmails.length === 0 ? {} : { deleteMany: removedEmails }),
          upsert: add.map((member) => ({
            where: { groupId_email: { groupId: id, email: member.email } },
            create: member,
            update: { userId: member.userId },
          })),
        },
      },
    });
    const row = await settled(update, 'group');
    this.#signals.publish('group-changed', id);
    return toGroup(row);
  }

  /** @returns whether it was there. */
  async delete(id: string): Promise<boolean> {
    const { count } = await this.#db.prisma.group.deleteMany({ where: { id } });
    if (count > 0) this.#signals.publish('group-changed', id);
    return count > 0;
  }
}

function toGroup(row: Omit<Group, 'availability'> & { readonly availability: string }): Group {
  return { ...row, availability: row.availability as Group['availability'] };
}
