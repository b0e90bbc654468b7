import { DomainError } from '../../../entities/ground/errors.ts';
import type { Deps } from '../../deps.ts';

/**
 * For passwords, passkeys and invitations: with SIGN_IN=oidc only providers decide who gets in. Links of administrators work always: whoever breaks the
 * settings of the provider must get in again.
 *
 * @throws DomainError FORBIDDEN.
 */
export function requireOwnWays({ settings }: Pick<Deps, 'settings'>): void {
  if (settings.SIGN_IN !== 'oidc') return;
  throw new DomainError(
    'FORBIDDEN',
    'People sign in by single sign-on only here: open /sign-in. Passwords, passkeys and invitations are off.',
  );
}
