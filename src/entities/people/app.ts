import type { ApiKey } from './api-key.ts';
import type { Scope } from './caller.ts';

/** A client of OAuth that a person has connected: a key whose secrets are tokens, which open one address. */
export interface ConnectedApp extends ApiKey {
  /** The client: made by the service, or the address of its metadata document. */
  readonly clientId: string;
  /** The address that its tokens open. */
  readonly resource: string;
}

/** What a client may ask for: what `/mcp` does. */
export const appScopes: readonly Scope[] = ['AGENTS:READ', 'CHATS:WRITE', 'DATA_SOURCES:READ'];

/** A client whose id is an address has shown that the address is its own; what any other says of itself nobody has checked. */
export function isAddress(clientId: string): boolean {
  return clientId.startsWith('https://');
}

const tokenPattern = /^[\w-]{43}$/;

/** False for text that cannot be an access token: it is refused without a look-up. */
export function isWellFormedToken(text: string): boolean {
  return tokenPattern.test(text);
}
