import { hashKeySecret, keyPrefix, makeKeySecret } from '../../entities/accounts/api-key.ts';
import { scopes } from '../../entities/accounts/caller.ts';
import type { Deps } from '../deps.ts';

/** The key that opens a new installation. */
export interface FirstKey {
  readonly secret: string;
  /** False when the operator chose it with PARLEY_ADMIN_KEY, and so knows it. */
  readonly isMade: boolean;
}

/**
 * On an empty database makes a tenant, an organization, an administrator and a key that may do everything. The secret is in the result and
 * nowhere else.
 *
 * @returns undefined when there was something already, also when another process was first by a moment.
 */
export async function prepareFirstStart(
  deps: Pick<Deps, 'settings' | 'storage' | 'now' | 'newId'>,
): Promise<FirstKey | undefined> {
  const { tenancy } = deps.storage;
  if (!(await tenancy.isEmpty())) return undefined;
  const chosen = deps.settings.PARLEY_ADMIN_KEY;
  const secret = chosen ?? makeKeySecret();
  const isFirst = await tenancy.createFirst({
    createdAt: deps.now(),
    tenant: { id: deps.newId('tenant'), name: 'Default' },
    organization: { id: deps.newId('organization'), name: 'Default' },
    admin: { id: deps.newId('user'), email: 'admin@localhost', name: 'Administrator' },
    membershipId: deps.newId('membership'),
    key: { id: deps.newId('apiKey'), name: 'First key', scopes, prefix: keyPrefix(secret), hash: hashKeySecret(secret) },
  });
  return isFirst ? { secret, isMade: chosen === undefined } : undefined;
}
