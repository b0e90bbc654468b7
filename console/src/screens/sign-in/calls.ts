import { ParleyError } from '@parley/client';
import type { Text } from '../../text/text.ts';

/** The ways to sign in here, and whether this browser has a session. */
export interface SignInWays {
  readonly isSignedIn: boolean;
  /** The name that passkeys are bound to; null where there are none. */
  readonly passkeyHost: string | null;
  readonly providers: readonly { readonly name: string; readonly label: string }[];
  /** Whether people may sign in by other ways than providers and links. */
  readonly hasOwnWays: boolean;
}

export interface Invitation {
  readonly email: string;
  readonly organization: string;
  /** What the person gives to accept: nothing is asked twice of who has an account. */
  readonly needs: 'NAME' | 'PASSWORD' | 'SIGN_IN' | 'NOTHING';
}

/** @throws ParleyError with words for the visitor */
export async function fetchWays(t: Text['t']): Promise<SignInWays> {
  return readReply(t, await send(t, '/sign-in/session', { cache: 'no-store' }));
}

/** Calls the service as one of its pages. @throws ParleyError with words for the visitor */
export async function call<Reply>(t: Text['t'], path: string, body: object): Promise<Reply> {
  const headers = { 'content-type': 'application/json', 'graphql-require-preflight': 'true' };
  return readReply(t, await send(t, path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

function send(t: Text['t'], path: string, init: RequestInit): Promise<Response> {
  return fetch(path, init).catch(() => {
    throw new ParleyError(t('The service does not answer. Try again.'));
  });
}

async function readReply<Reply>(t: Text['t'], reply: Response): Promise<Reply> {
  const body = await reply.json().catch(() => ({}));
  if (reply.ok) return body;
  const { message, code }: { readonly message?: unknown; readonly code?: unknown } = body.error ?? {};
  throw new ParleyError(
    typeof message === 'string' ? message : t('The service answered with status {status}.', { status: reply.status }),
    { status: reply.status, ...(typeof code === 'string' ? { code } : {}) },
  );
}

/** Where the visitor goes then: an address of this service, else the console. */
export function nextAddress(): string {
  const next = new URLSearchParams(location.search).get('next');
  if (next === null || !next.startsWith('/')) return '/';
  // Browsers read "//host" and "/\host" as another host, and the path of "/.//host" is "//host": so the whole address is kept.
  const url = new URL(next, location.origin);
  return url.origin === location.origin ? url.href : '/';
}

/** The page is left for good: the button "back" does not lead here again. */
export function goOn(): void {
  location.replace(nextAddress());
}

/** Passkeys are bound to one name of the service: whether the page has that name, and the browser can use them. */
export function canUsePasskeys({ passkeyHost }: SignInWays): boolean {
  const isAble = typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
  return isAble && passkeyHost === location.hostname;
}
