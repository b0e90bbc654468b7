import type { IncomingMessage } from 'node:http';
import type { Deps } from '../../domain/deps.ts';
import { authenticateKey, isFamiliarKey } from '../../domain/people/api-keys.ts';
import { authenticateSession, isFamiliarSession } from '../../domain/people/sign-in/sessions.ts';
import { actForUser } from '../../domain/people/sign-in/trusted-user.ts';
import { toNetwork } from '../address.ts';
import { toOrigin } from '../context.ts';
import type { Authenticate, KeyCheck, SessionCheck } from './authenticate.ts';
import type { FailedKeys } from './failed-keys.ts';
import type { Addressing } from './session-cookie.ts';

/** How a process checks keys. @param own  another look-up, for tests. */
export function createKeyCheck(deps: Deps, failedKeys: FailedKeys, own?: Authenticate): KeyCheck {
  return {
    lookUp: own ?? ((secret) => authenticateKey(deps, secret)),
    isFamiliar: own === undefined ? (secret) => isFamiliarKey(deps, secret) : () => false,
    failedKeys,
    ...(own === undefined ? trustedProxy(deps) : {}),
  };
}

/** Absent where no header is trusted: then authentication costs nothing more. */
function trustedProxy(deps: Deps): Pick<KeyCheck, 'actFor' | 'isNamed'> {
  const { header } = deps.trustedUsers;
  if (header === undefined) return {};
  const namedIn = (req: IncomingMessage) => {
    const value = req.headers[header];
    return deps.trustedUsers.valueFrom(req.socket.remoteAddress, value === undefined ? undefined : String(value));
  };
  return {
    isNamed: (req) => namedIn(req) !== undefined,
    actFor(req, key) {
      const value = namedIn(req);
      if (value === undefined) return undefined;
      const origin = toOrigin(deps, req);
      const userAgent = req.headers['user-agent'];
      const browser = { ...origin, network: toNetwork(origin.address), userAgent, sessionSecret: undefined };
      return actForUser(deps, value, key, browser);
    },
  };
}

/** How a process checks the sessions of browsers. */
export function createSessionCheck(deps: Deps, failedKeys: FailedKeys): SessionCheck {
  return {
    lookUp: (secret) => authenticateSession(deps, secret),
    isFamiliar: (secret) => isFamiliarSession(deps, secret),
    failedKeys,
    addressing: toAddressing(deps),
  };
}

export function toAddressing({ publicUrl, settings }: Pick<Deps, 'publicUrl' | 'settings'>): Addressing {
  return { publicUrl, proxyHops: settings.TRUSTED_PROXY_HOPS };
}
