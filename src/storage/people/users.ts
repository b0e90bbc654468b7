import { type Page, type PageRequest, timeKey, toPage } from '../../entities/ground/page.ts';
import type { AdminReach } from '../../entities/people/access.ts';
import type { User } from '../../entities/people/account.ts';
import { settled } from '../ground/conflicts.ts';
import type { Transaction } from '../ground/database.ts';
import { newestFirst } from '../ground/lists/paging.ts';
import { containing } from '../ground/lists/where.ts';
import { lockRow } from '../ground/sql/locks.ts';
import { PublishingStore } from '../ground/store.ts';
import { claimGroupMembers, renameGroupMembers } from './groups/emails.ts';
import { purgeRows } from './purge.ts';
import { deactivatedIn, usersIn } from './reach.ts';
import { noteRemoval } from './removals.ts';

/** Why a user cannot be deleted: what the user still holds. */
export interface UserHoldings {
  readonly agents: number;
  readonly dataSources: number;
  readonly groups: number;
  /** Organizations of which the user is the last administrator. */
  readonly organizations: number;
}

export interface UserPlace {
  readonly orgId: string | undefined;
  readonly search: string | undefined;
  /** False: those who are deactivated. */
  readonly isActive: boolean;
}

export class UserStore extends PublishingStore {
  async find(id: string, reach: AdminReach): Promise<User | undefined> {
    return (await this.db.prisma.user.findFirst({ where: { AND: [{ id }, usersIn(reach)] } })) ?? undefined;
  }

  /** The names of people, whoever asks: the caller sees them as those who did something. */
  findNames(ids: readonly string[]): Promise<readonly Pick<User, 'id' | 'name'>[]> {
    return this.db.prisma.user.findMany({ where: { id: { in: [...ids] } }, select: { id: true, name: true } });
  }

  /** Newest first. `search`: in name or e-mail, whatever the case. */
  async list(reach: AdminReach, { orgId, search, isActive }: UserPlace, page: PageRequest): Promise<Page<User>> {
    const within = isActive ? usersIn(reach) : deactivatedIn(reach);
    const inside = isActive ? { memberships: { some: { orgId } } } : { scimUsers: { some: { orgId, isActive } } };
    const ofOrganization = orgId === undefined ? {} : inside;
    const contains = containing(search ?? '');
    const where = {
      AND: [within, ofOrganization, search === undefined ? {} : { OR: [{ name: contains }, { email: contains }] }],
    };
    const rows = await this.db.prisma.user.findMany(newestFirst(where, page));
    return toPage(rows, page, timeKey, (take) => this.db.prisma.user.count({ where, take }));
  }

  /** Whether the user is a member of other organizations than this one. */
  async isMemberElsewhere(id: string, orgId: string): Promise<boolean> {
    return (
      (await this.db.prisma.membership.findFirst({ where: { userId: id, orgId: { not: orgId } }, select: { id: true } })) !== null
    );
  }

  /** Groups that name the user by e-mail change too. @throws DomainError CONFLICT when the e-mail is taken. */
  async update(id: string, changes: { readonly name?: string; readonly email?: string }): Promise<User> {
    const email = changes.email?.toLowerCase();
    // Nobody has shown anything about the new mailbox.
    const data = { ...changes, ...(email === undefined ? {} : { email, emailVerifiedAt: null }) };
    const { memberships, ...user } = await settled(
      this.db.prisma.user.update({ where: { id }, data, include: { memberships: { select: { id: true } } } }),
      'user',
    );
    for (const membership of memberships) this.signals.publish('membership-changed', membership.id);
    if (email === undefined) return user;
    const groupIds = await this.db.transaction(async (tx) => [
      ...(await claimGroupMembers(tx, user)),
      ...(await renameGroupMembers(tx, user)),
    ]);
    for (const groupId of groupIds) this.signals.publish('group-changed', groupId);
    return user;
  }

  /**
   * Deletes a user with keys, sessions, memberships and editorships, unless something would lose its owner.
   *
   * @param also  runs in the same transaction.
   * @returns what the user holds, when it was not deleted; 'missing' when it was not there.
   */
  async delete(id: string, also: (tx: Transaction) => Promise<void>): Promise<UserHoldings | 'missing' | undefined> {
    const where = { userId: id };
    const active = await this.db.prisma.run.findMany({ where: { ...where, status: 'in_progress' }, select: { id: true } });
    const members = await this.db.prisma.membership.findMany({ where, select: { id: true } });
    const keys = await this.db.prisma.apiKey.findMany({ where, select: { id: true } });
    const places = await this.db.prisma.groupMember.findMany({ where, select: { groupId: true } });
    const held = await this.db.transaction(async (tx) => {
      const { membership, apiKey, session, agentEditor, groupMember, user } = tx.prisma;
      const memberships = await membership.findMany({ where, select: { orgId: true }, orderBy: { orgId: 'asc' } });
      for (const { orgId } of memberships) await lockRow(tx, 'organizations', orgId);
      await lockRow(tx, 'users', id);
      const holdings = await countHoldings(tx, id);
      if (Object.values(holdings).some((count) => count > 0)) return holdings;
      await apiKey.deleteMany({ where });
      await session.deleteMany({ where });
      await agentEditor.deleteMany({ where });
      await groupMember.deleteMany({ where });
      for (const { orgId } of memberships) await noteRemoval(tx, this.signals, orgId, id);
      const { count } = await user.deleteMany({ where: { id } });
      if (count === 0) return 'missing';
      await also(tx);
      return undefined;
    });
    if (held === undefined) {
      this.signals.publish('user-changed', id);
      for (const key of keys) this.signals.publish('key-changed', key.id);
      for (const member of members) this.signals.publish('membership-changed', member.id);
      for (const { groupId } of places) this.signals.publish('group-changed', groupId);
      for (const run of active) this.signals.publish('run-cancel', run.id);
    }
    return held;
  }

  /** Chats of a user that are not deleted for ever yet. */
  async chatIdsOf(id: string, limit: number): Promise<readonly string[]> {
    const chats = await this.db.prisma.chat.findMany({
      where: { userId: id, OR: [{ deletedAt: null }, { isBinned: true }] },
      select: { id: true },
      take: limit,
    });
    return chats.map((chat) => chat.id);
  }

  /** Removes all rows that still have the id of a deleted user. */
  purge(id: string, signal: AbortSignal): Promise<void> {
    return purgeRows(this.db, 'userId', id, signal);
  }
}

async function countHoldings({ prisma }: Transaction, userId: string): Promise<UserHoldings> {
  const isLastAdmin = { memberships: { none: { role: 'ADMIN', userId: { not: userId } } } };
  return {
    agents: await prisma.agent.count({ where: { userId, isDeleted: false } }),
    dataSources: await prisma.dataSource.count({ where: { ownerUserId: userId } }),
    groups: await prisma.group.count({ where: { ownerUserId: userId } }),
    organizations: await prisma.membership.count({ where: { userId, role: 'ADMIN', organization: isLastAdmin } }),
  };
}
