import { authenticateKey, isFamiliarKey } from '../../domain/accounts/api-keys.ts';
import type { Deps } from '../../domain/deps.ts';
import type { Authenticate, KeyCheck } from './authenticate.ts';
import type { FailedKeys } from './failed-keys.ts';

/** How a process checks keys. @param own  another look-up, for tests. */
export function keyCheckOf(deps: Deps, failedKeys: FailedKeys, own?: Authenticate): KeyCheck {
  return {
    lookUp: own ?? ((secret) => authenticateKey(deps, secret)),
    isFamiliar: own === undefined ? (secret) => isFamiliarKey(deps, secret) : () => false,
    failedKeys,
  };
}
