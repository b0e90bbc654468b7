import { hashSecret, keyPrefix, makeKeySecret } from '../../entities/people/api-key.ts';
import { scopes } from '../../entities/people/caller.ts';
import { newSignInLink, signInPath } from '../../entities/people/session.ts';
import type { Deps } from '../deps.ts';

/** The first key of a new installation. */
export interface FirstKey {
  readonly secret: string;
  /** False when the operator chose it by PARLEY_ADMIN_KEY and therefore knows it. */
  readonly isMade: boolean;
  /** Signs the administrator in with a browser, once; a path. Undefined when the operator chose the key: nothing secret is printed then. */
  readonly signInPath: string | undefined;
}

/**
 * On an empty database makes a tenant, an organization, an administrator and a key with all rights. Only the result contains the secret.
 *
 * @returns undefined when the database was not empty, or another process was faster.
 */
export async function prepareFirstStart(
  deps: Pick<Deps, 'settings' | 'storage' | 'now' | 'newId'>,
): Promise<FirstKey | undefined> {
  const { tenancy } = deps.storage.people;
  if (!(await tenancy.isEmpty())) return undefined;
  const chosenKey = deps.settings.PARLEY_ADMIN_KEY;
  const secret = chosenKey ?? makeKeySecret();
  const organizationId = deps.newId('organization');
  const adminId = deps.newId('user');
  const place = {
    id: deps.newId('signInLink'),
    createdAt: deps.now(),
    userId: adminId,
    orgId: organizationId,
    level: 'INSTANCE' as const,
    createdByUserId: null,
    createdByKeyId: null,
  };
  const signIn = chosenKey === undefined ? newSignInLink(place) : undefined;
  const isFirst = await tenancy.createFirst({
    createdAt: deps.now(),
    tenant: { id: deps.newId('tenant'), name: 'Default' },
    organization: { id: organizationId, name: 'Default' },
    admin: { id: adminId, email: 'admin@localhost', name: 'Administrator' },
    membershipId: deps.newId('membership'),
    key: { id: deps.newId('apiKey'), name: 'First key', scopes, prefix: keyPrefix(secret), hash: hashSecret(secret) },
    ...(signIn === undefined ? {} : { signInLink: signIn.link }),
  });
  if (!isFirst) return undefined;
  return { secret, isMade: chosenKey === undefined, signInPath: signIn && signInPath(signIn.secret) };
}
