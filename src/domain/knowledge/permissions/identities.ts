import type { Connection } from '../../../entities/knowledge/connection.ts';
import type { IdentityService } from '../../../entities/knowledge/permissions.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { getConnections } from '../connections.ts';

/**
 * What vouches for an identity.
 *
 * - SIGN_IN: a provider of sign-ins that calls the e-mail verified, or an invitation that was mailed there and accepted.
 * - DIRECTORY: the directory of the organization, which keeps the person by SCIM.
 * - CONNECTION: an own connection to the service.
 * - NONE: nothing does; it opens nothing.
 */
export const identityProofs = ['SIGN_IN', 'DIRECTORY', 'CONNECTION', 'NONE'] as const;
export type IdentityProof = (typeof identityProofs)[number];

/** What a person is known by at sources that are MIRRORED. */
export interface SourceIdentity {
  /** Null for the e-mail of the person, which counts wherever e-mails do. */
  readonly service: IdentityService | null;
  readonly accountId: string | null;
  readonly email: string | null;
  readonly proof: IdentityProof;
  /** Null where nobody noted the time. */
  readonly provenAt: Date | null;
  readonly connection: Connection | null;
}

/**
 * The caller's identities at sources, and what vouches for each: the e-mail first, then accounts, the last proven first. Empty for a caller who is no
 * member of the organization: such a caller opens what is open to all.
 */
export async function listIdentities(deps: Deps, caller: Caller): Promise<readonly SourceIdentity[]> {
  const identities = await deps.storage.knowledge.permissions.identitiesOf(caller);
  if (identities === undefined) return [];
  const { email, emailVerifiedAt, isInDirectory, accounts } = identities;
  const connections = await getConnections(
    deps,
    caller,
    accounts.map(({ connectionId }) => connectionId),
  );
  const connectionsById = new Map(connections.map((connection) => [connection.id, connection]));
  const ownEmail = { service: null, accountId: null, email, connection: null };
  return [
    ...(emailVerifiedAt === null ? [] : [{ ...ownEmail, proof: 'SIGN_IN', provenAt: emailVerifiedAt } as const]),
    ...(isInDirectory ? [{ ...ownEmail, proof: 'DIRECTORY', provenAt: null } as const] : []),
    ...(emailVerifiedAt === null && !isInDirectory ? [{ ...ownEmail, proof: 'NONE', provenAt: null } as const] : []),
    ...accounts.map(({ service, accountId, verifiedEmail, provenAt, connectionId }) => {
      const connection = connectionsById.get(connectionId) ?? null;
      return { service, accountId, email: verifiedEmail, proof: 'CONNECTION', provenAt, connection } as const;
    }),
  ];
}
