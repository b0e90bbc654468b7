import type { Connection } from '../../../entities/knowledge/connection.ts';
import type { IdentityService } from '../../../entities/knowledge/permissions.ts';
import type { Database } from '../../ground/database.ts';

/** An account at a service, as the service says it. */
export interface ServiceIdentity {
  readonly service: IdentityService;
  readonly accountId: string;
  readonly verifiedEmail?: string;
}

/** An account that a person proved to have by an own connection. */
export interface ProvenAccount {
  readonly connectionId: string;
  readonly service: IdentityService;
  readonly accountId: string;
  readonly verifiedEmail: string | null;
  readonly provenAt: Date;
}

/** What a person is known by at sources. */
export interface ProvenIdentities {
  readonly email: string;
  /** When the e-mail was proven by a sign-in or a mailed invitation; null: it was not. */
  readonly emailVerifiedAt: Date | null;
  /** Whether the directory of the organization keeps the person. */
  readonly isInDirectory: boolean;
  /** The last proven first, at most 500. */
  readonly accounts: readonly ProvenAccount[];
}

const accountsMax = 500;

/** Notes whose account a connection is at its service; without an identity, that it proves none. */
export async function writeAccount(
  { prisma: { personAccount } }: Database,
  { id: connectionId, orgId, ownerUserId: userId }: Pick<Connection, 'id' | 'orgId' | 'ownerUserId'>,
  identity: ServiceIdentity | undefined,
): Promise<void> {
  if (identity === undefined) {
    await personAccount.deleteMany({ where: { connectionId } });
    return;
  }
  const { service, accountId, verifiedEmail } = identity;
  const account = { service, accountId, verifiedEmail: verifiedEmail?.toLowerCase() ?? null, provenAt: new Date() };
  const data = { userId, orgId, ...account };
  await personAccount.upsert({ where: { connectionId }, create: { connectionId, ...data }, update: data });
}

/** What a member of an organization is known by, as searches count it (open-rules.ts); undefined for somebody else. Cost: two statements. */
export async function readIdentities(
  { prisma: { user, personAccount } }: Database,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<ProvenIdentities | undefined> {
  const [person, accounts] = await Promise.all([
    user.findFirst({
      where: { id: userId, memberships: { some: { orgId } } },
      select: { email: true, emailVerifiedAt: true, scimUsers: { where: { orgId, isActive: true }, select: { userId: true } } },
    }),
    personAccount.findMany({
      // A connection that was handed over proves nothing of whom it was of.
      where: { userId, orgId, connection: { ownerUserId: userId } },
      select: { connectionId: true, service: true, accountId: true, verifiedEmail: true, provenAt: true },
      orderBy: [{ provenAt: 'desc' }, { connectionId: 'asc' }],
      take: accountsMax,
    }),
  ]);
  if (person === null) return undefined;
  return {
    email: person.email,
    emailVerifiedAt: person.emailVerifiedAt,
    isInDirectory: person.scimUsers.length > 0,
    accounts: accounts.map((account) => ({ ...account, service: account.service as IdentityService })),
  };
}
