import { createHash } from 'node:crypto';
import type { Transaction } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { Store } from '../ground/store.ts';

/** Somebody by id, address and account at a provider: an address may change, may be another one at a provider, and an id goes with its user. */
export interface RemovedPerson {
  readonly userId: string | undefined;
  readonly emails: readonly string[];
  readonly subjects: readonly ProvidedSubject[];
}
/** A person as a provider of sign-ins knows the person. */
export interface ProvidedSubject {
  readonly issuer: string;
  readonly subject: string;
}

/** People who were removed from an organization: no sign-in brings them back. */
export class RemovalStore extends Store {
  async isRemoved(orgId: string, person: RemovedPerson): Promise<boolean> {
    return (await this.db.prisma.removal.count({ where: toWhere(orgId, person) })) > 0;
  }
}

/** Notes the end of a membership, in its transaction. Open invitations of the person end too: they were made before. */
export async function noteRemoval(
  { prisma }: Pick<Transaction, 'prisma'>,
  signals: Signals,
  orgId: string,
  userId: string,
): Promise<void> {
  const person = await findPerson(prisma, userId);
  if (person === undefined) return;
  const at = new Date();
  const data = listHashes(person).map((personHash) => ({ orgId, personHash, createdAt: at }));
  await prisma.removal.createMany({ data, skipDuplicates: true });
  const revokedInvitations = await prisma.invitation.updateManyAndReturn({
    where: { orgId, email: { in: person.emails.map((email) => email.toLowerCase()) }, acceptedAt: null, revokedAt: null },
    data: { revokedAt: at },
    select: { id: true },
  });
  for (const { id } of revokedInvitations) signals.publish('invitation-changed', id);
}

/** Whoever an administrator or a directory adds anew is not removed any more. */
export async function forgetRemoval({ prisma }: Pick<Transaction, 'prisma'>, orgId: string, userId: string): Promise<void> {
  const person = await findPerson(prisma, userId);
  if (person !== undefined) await prisma.removal.deleteMany({ where: toWhere(orgId, person) });
}

async function findPerson({ user }: Transaction['prisma'], userId: string): Promise<RemovedPerson | undefined> {
  const identities = { select: { email: true, issuer: true, subject: true } };
  const personRow = await user.findUnique({ where: { id: userId }, select: { email: true, identities } });
  if (personRow === null) return undefined;
  const emails = [personRow.email, ...personRow.identities.flatMap(({ email }) => email ?? [])];
  return { userId, emails, subjects: personRow.identities };
}

function toWhere(orgId: string, person: RemovedPerson) {
  return { orgId, personHash: { in: [...listHashes(person)] } };
}

/** No address and no id stands in the table: it stays when a person is erased. */
function listHashes({ userId, emails, subjects }: RemovedPerson): readonly string[] {
  const texts = [
    ...emails.map((email) => `email ${email.toLowerCase()}`),
    ...subjects.map(({ issuer, subject }) => `subject ${JSON.stringify([issuer, subject])}`),
    ...(userId === undefined ? [] : [`user ${userId}`]),
  ];
  return [...new Set(texts)].map((text) => createHash('sha256').update(text).digest('hex'));
}
