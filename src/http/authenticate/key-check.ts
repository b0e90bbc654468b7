import { authenticateKey, isFamiliarKey } from '../../domain/accounts/api-keys.ts';
import type { Deps } from '../../domain/deps.ts';
import { authenticateSession, isFamiliarSession } from '../../domain/sign-in/sessions.ts';
import type { Authenticate, KeyCheck, SessionCheck } from './authenticate.ts';
import type { FailedKeys } from './failed-keys.ts';
import type { Addressing } from './session-cookie.ts';

/** How a process checks keys. @param own  another look-up, for tests. */
export function keyCheckOf(deps: Deps, failedKeys: FailedKeys, own?: Authenticate): KeyCheck {
  return {
    lookUp: own ?? ((secret) => authenticateKey(deps, secret)),
    isFamiliar: own === undefined ? (secret) => isFamiliarKey(deps, secret) : () => false,
    failedKeys,
  };
}

/** How a process checks the sessions of browsers. */
export function sessionCheckOf(deps: Deps, failedKeys: FailedKeys): SessionCheck {
  return {
    lookUp: (secret) => authenticateSession(deps, secret),
    isFamiliar: (secret) => isFamiliarSession(deps, secret),
    failedKeys,
    addressing: addressingOf(deps),
  };
}

export function addressingOf({ publicUrl, settings }: Pick<Deps, 'publicUrl' | 'settings'>): Addressing {
  return { publicUrl, proxyHops: settings.TRUSTED_PROXY_HOPS };
}
