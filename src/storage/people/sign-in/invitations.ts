import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { AdminReach } from '../../../entities/people/access.ts';
import type { AccessLevel, MemberRole } from '../../../entities/people/caller.ts';
import type { Invitation, InvitationDelivery } from '../../../entities/people/invitation.ts';
import type { Transaction } from '../../ground/database.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';
import { membershipsIn } from '../reach.ts';

export interface OpenInvitation {
  readonly invitation: Invitation;
  /** The secret was mailed, and shown to nobody: who has it has the mailbox. */
  readonly isMailed: boolean;
}

export interface NewInvitation extends Omit<Invitation, 'deliveryProblem' | 'acceptedAt' | 'userId' | 'revokedAt' | 'groupIds'> {
  readonly hash: string;
  readonly groupIds: readonly string[];
}

/** People who were asked to become members. */
export class InvitationStore extends PublishingStore {
  /** Revokes what is open for the same address and organization. */
  async create({ groupIds, ...invitation }: NewInvitation): Promise<Invitation> {
    const { orgId, email, createdAt } = invitation;
    const where = { orgId, email, ...openAt(createdAt) };
    const revoked = await this.db.prisma.invitation.updateManyAndReturn({
      where,
      data: { revokedAt: createdAt },
      select: { id: true },
    });
    const row = await this.db.prisma.invitation.create({ data: { ...invitation, groupIds: [...groupIds] } });
    for (const { id } of [...revoked, row]) this.signals.publish('invitation-changed', id);
    return toInvitation(row);
  }

  /** In any order. */
  async findMany(ids: readonly string[], reach: AdminReach): Promise<readonly Invitation[]> {
    const where = { AND: [{ id: { in: [...ids] } }, membershipsIn(reach)] };
    return (await this.db.prisma.invitation.findMany({ where })).map(toInvitation);
  }

  /** Newest first. */
  async list(reach: AdminReach, orgId: string | undefined, page: PageRequest): Promise<Page<Invitation>> {
    const where = { AND: [membershipsIn(reach), orgId === undefined ? {} : { orgId }] };
    const rows = await this.db.prisma.invitation.findMany(newestFirst(where, page));
    return toPage(rows.map(toInvitation), page, timeKey, (take) => this.db.prisma.invitation.count({ where, take }));
  }

  countOpen(orgId: string, at: Date): Promise<number> {
    return this.db.prisma.invitation.count({ where: { orgId, ...openAt(at) } });
  }

  /** The invitation with the secret of this hash that is neither accepted nor revoked nor expired. */
  async findOpen(hash: string, at: Date): Promise<OpenInvitation | undefined> {
    // Two look-ups, each by its own index.
    const shown = await this.#findFirst({ hash, ...openAt(at) });
    const mailed = shown === undefined ? await this.#findFirst({ mailHash: hash, ...openAt(at) }) : undefined;
    const invitation = shown ?? mailed;
    return invitation === undefined ? undefined : { invitation, isMailed: mailed !== undefined };
  }

  /** The newest one of an address. */
  findOpenOf(orgId: string, email: string, at: Date): Promise<Invitation | undefined> {
    return this.#findFirst({ orgId, email: email.toLowerCase(), ...openAt(at) });
  }

  /** One by its id. */
  findOpenById(id: string, at: Date): Promise<Invitation | undefined> {
    return this.#findFirst({ id, ...openAt(at) });
  }

  /** Uses the invitation up. @returns false for one that is not open: of two calls at one moment one gets true. */
  async accept(id: string, userId: string, at: Date): Promise<boolean> {
    const data = { acceptedAt: at, userId };
    const { count } = await this.db.prisma.invitation.updateMany({ where: { id, ...openAt(at) }, data });
    this.signals.publish('invitation-changed', id);
    return count === 1;
  }

  /** @returns undefined for one that is not open or out of reach. */
  async revoke(id: string, reach: AdminReach, at: Date): Promise<Invitation | undefined> {
    const where = { AND: [{ id, ...openAt(at) }, membershipsIn(reach)] };
    const [row] = await this.db.prisma.invitation.updateManyAndReturn({ where, data: { revokedAt: at } });
    if (row === undefined) return undefined;
    this.signals.publish('invitation-changed', id);
    return toInvitation(row);
  }

  /** The secret of the mail that is about to be sent; the mail before it, if any, no longer works. */
  async setMailHash(id: string, mailHash: string): Promise<void> {
    await this.db.prisma.invitation.updateMany({ where: { id }, data: { mailHash } });
  }

  async noteDelivery(id: string, delivery: InvitationDelivery, deliveryProblem: string | null): Promise<void> {
    await this.db.prisma.invitation.updateMany({ where: { id }, data: { delivery, deliveryProblem } });
    this.signals.publish('invitation-changed', id);
  }

  /**
   * Whether nobody can get into the account of a user: no membership, password, passkey or identity at a provider; never of an operator. Holds until the transaction ends.
   */
  async isUnused(tx: Transaction, userId: string): Promise<boolean> {
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
  }

  /** Deletes what expired before. */
  async sweep(before: Date): Promise<void> {
    await this.db.prisma.invitation.deleteMany({ where: { expiresAt: { lt: before } } });
  }

  async #findFirst(where: object): Promise<Invitation | undefined> {
    const row = await this.db.prisma.invitation.findFirst({ where });
    return row === null ? undefined : toInvitation(row);
  }
}

const openAt = (at: Date) => ({ acceptedAt: null, revokedAt: null, expiresAt: { gt: at } });

interface InvitationRow extends Omit<Invitation, 'role' | 'invitedByLevel' | 'delivery'> {
  readonly role: string;
  readonly invitedByLevel: string;
  readonly delivery: string;
  readonly hash: string;
  readonly mailHash: string | null;
}

function toInvitation({ hash: _hash, mailHash: _mailHash, ...row }: InvitationRow): Invitation {
  const { role, invitedByLevel, delivery } = row;
  return {
    ...row,
    role: role as MemberRole,
    invitedByLevel: invitedByLevel as AccessLevel,
    delivery: delivery as InvitationDelivery,
  };
}
