import { type Page, type PageRequest, pageOf, timeKey } from '../../../entities/ground/page.ts';
import type { AdminReach } from '../../../entities/people/access.ts';
import type { AccessLevel, MemberRole } from '../../../entities/people/caller.ts';
import type { Invitation, InvitationDelivery } from '../../../entities/people/invitation.ts';
import type { Database, Transaction } from '../../ground/database.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { membershipsIn } from '../reach.ts';

/** People who were asked to become members. */
export interface InvitationStore {
  /** Revokes what is open for the same address and organization. */
  create(invitation: NewInvitation): Promise<Invitation>;
  /** In any order. */
  findMany(ids: readonly string[], reach: AdminReach): Promise<readonly Invitation[]>;
  /** Newest first. */
  list(reach: AdminReach, orgId: string | undefined, page: PageRequest): Promise<Page<Invitation>>;
  countOpen(orgId: string, at: Date): Promise<number>;
  /** The invitation with the secret of this hash that is neither accepted nor revoked nor expired. */
  findOpen(hash: string, at: Date): Promise<OpenInvitation | undefined>;
  /** The newest one of an address. */
  findOpenOf(orgId: string, email: string, at: Date): Promise<Invitation | undefined>;
  /** One by its id. */
  findOpenById(id: string, at: Date): Promise<Invitation | undefined>;
  /** Uses the invitation up. @returns false for one that is not open: of two calls at one moment one gets true. */
  accept(id: string, userId: string, at: Date): Promise<boolean>;
  /** @returns undefined for one that is not open or out of reach. */
  revoke(id: string, reach: AdminReach, at: Date): Promise<Invitation | undefined>;
  /** The secret of the mail that is about to be sent; the mail before it, if any, no longer works. */
  setMailHash(id: string, mailHash: string): Promise<void>;
  noteDelivery(id: string, delivery: InvitationDelivery, problem: string | null): Promise<void>;
  /**
   * Whether nobody can get into the account of a user: no membership, password, passkey or identity at a provider; never of an operator. Holds until the transaction ends.
   */
  isUnused(tx: Transaction, userId: string): Promise<boolean>;
  /** Deletes what expired before. */
  sweep(before: Date): Promise<void>;
}

export interface OpenInvitation {
  readonly invitation: Invitation;
  /** The secret was mailed, and shown to nobody: who has it has the mailbox. */
  readonly isMailed: boolean;
}

export interface NewInvitation extends Omit<Invitation, 'deliveryProblem' | 'acceptedAt' | 'userId' | 'revokedAt' | 'groupIds'> {
  readonly hash: string;
  readonly groupIds: readonly string[];
}

export function createInvitationStore(db: Database, signals: Signals): InvitationStore {
  const openAt = (at: Date) => ({ acceptedAt: null, revokedAt: null, expiresAt: { gt: at } });
  async function findFirst(where: object): Promise<Invitation | undefined> {
    const row = await db.prisma.invitation.findFirst({ where });
    return row === null ? undefined : invitationOf(row);
  }

  return {
    async create({ groupIds, ...invitation }) {
      const { orgId, email, createdAt } = invitation;
      const where = { orgId, email, ...openAt(createdAt) };
      const revoked = await db.prisma.invitation.updateManyAndReturn({
        where,
        data: { revokedAt: createdAt },
        select: { id: true },
      });
      const row = await db.prisma.invitation.create({ data: { ...invitation, groupIds: [...groupIds] } });
      for (const { id } of [...revoked, row]) signals.publish('invitation-changed', id);
      return invitationOf(row);
    },
    async findMany(ids, reach) {
      const where = { AND: [{ id: { in: [...ids] } }, membershipsIn(reach)] };
      return (await db.prisma.invitation.findMany({ where })).map(invitationOf);
    },
    async list(reach, orgId, page) {
      const where = { AND: [membershipsIn(reach), orgId === undefined ? {} : { orgId }] };
      const rows = await db.prisma.invitation.findMany(newestFirst(where, page));
      return pageOf(rows.map(invitationOf), page, timeKey, (take) => db.prisma.invitation.count({ where, take }));
    },
    countOpen: (orgId, at) => db.prisma.invitation.count({ where: { orgId, ...openAt(at) } }),
    async findOpen(hash, at) {
      // Two look-ups, each by its own index.
      const shown = await findFirst({ hash, ...openAt(at) });
      const mailed = shown === undefined ? await findFirst({ mailHash: hash, ...openAt(at) }) : undefined;
      const invitation = shown ?? mailed;
      return invitation === undefined ? undefined : { invitation, isMailed: mailed !== undefined };
    },
    findOpenOf: (orgId, email, at) => findFirst({ orgId, email: email.toLowerCase(), ...openAt(at) }),
    findOpenById: (id, at) => findFirst({ id, ...openAt(at) }),
    async accept(id, userId, at) {
      const data = { acceptedAt: at, userId };
      const { count } = await db.prisma.invitation.updateMany({ where: { id, ...openAt(at) }, data });
      signals.publish('invitation-changed', id);
      return count === 1;
    },
    async revoke(id, reach, at) {
      const where = { AND: [{ id, ...openAt(at) }, membershipsIn(reach)] };
      const [row] = await db.prisma.invitation.updateManyAndReturn({ where, data: { revokedAt: at } });
      if (row === undefined) return undefined;
      signals.publish('invitation-changed', id);
      return invitationOf(row);
    },
    async setMailHash(id, mailHash) {
      await db.prisma.invitation.updateMany({ where: { id }, data: { mailHash } });
    },
    async noteDelivery(id, delivery, deliveryProblem) {
      await db.prisma.invitation.updateMany({ where: { id }, data: { delivery, deliveryProblem } });
      signals.publish('invitation-changed', id);
    },
    async isUnused(tx, userId) {
      if (!(await lockRow(tx, 'users', userId))) return false;
      const where = { userId };
      // With the account would come the installation.
      if ((await tx.prisma.user.count({ where: { id: userId, isOperator: true } })) > 0) return false;
      const ways = [
        await tx.prisma.membership.count({ where }),
        await tx.prisma.password.count({ where }),
        await tx.prisma.passkey.count({ where }),
        await tx.prisma.signInIdentity.count({ where }),
      ];
      return ways.every((count) => count === 0);
    },
    async sweep(before) {
      await db.prisma.invitation.deleteMany({ where: { expiresAt: { lt: before } } });
    },
  };
}

interface InvitationRow extends Omit<Invitation, 'role' | 'invitedByLevel' | 'delivery'> {
  readonly role: string;
  readonly invitedByLevel: string;
  readonly delivery: string;
  readonly hash: string;
  readonly mailHash: string | null;
}

function invitationOf({ hash: _hash, mailHash: _mailHash, ...row }: InvitationRow): Invitation {
  const { role, invitedByLevel, delivery } = row;
  return {
    ...row,
    role: role as MemberRole,
    invitedByLevel: invitedByLevel as AccessLevel,
    delivery: delivery as InvitationDelivery,
  };
}
