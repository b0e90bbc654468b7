import { createHash, createHmac } from 'node:crypto';
import { ProviderError } from '../../../engine/sign-in/provider-error.ts';
import type { Attempt, OidcProvider } from '../../../engine/sign-in/providers.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isSignInSecret, makeSignInSecret } from '../../../entities/people/session.ts';
import { useTicket } from '../../../storage/knowledge/used-tickets.ts';
import type { Deps } from '../../deps.ts';
import { performOperation } from '../../ground/audit/operation.ts';
import type { CallOrigin } from '../../ground/audit/origin.ts';
import { admitPerson } from './identities.ts';
import { type Browser, beginSession, findCaller, toOrigin } from './sign-in.ts';

/** Time for a person to sign in at the provider. */
export const attemptMs = 600_000;
const nextLengthMax = 1_000;
/** Sessions that one message of a provider ends. */
const sessionsMax = 1_000;

/** What the state carries, signed: the service stores nothing until the browser comes back. */
interface SignedState {
  readonly provider: string;
  /** SHA-256 of the secret that the browser keeps. */
  readonly browser: string;
  readonly next: string;
  readonly expiresAtMs: number;
  /** Makes each state another. */
  readonly salt: string;
}

/** The buttons of the sign-in page. */
export function listProviders({ oidc }: Deps): readonly { readonly name: string; readonly label: string }[] {
  return oidc.list.map(({ settings: { name, label } }) => ({ name, label }));
}

/**
 * Begins a sign-in by a provider.
 *
 * @param next    where the person wants to be then; addresses of other services are left out.
 * @param secret  that the browser has of an attempt before; two tabs share one.
 * @returns where the browser is sent, and the secret that it keeps in a cookie: the answer counts only in this browser.
 * @throws DomainError NOT_FOUND; ProviderError as DomainError UPSTREAM_ERROR.
 */
export async function beginOidc(
  deps: Deps,
  name: string,
  next: string | undefined,
  secret: string | undefined,
): Promise<{ readonly url: string; readonly secret: string }> {
  const provider = findProvider(deps, name);
  const signInSecret = secret !== undefined && isSignInSecret(secret) ? secret : makeSignInSecret();
  const signedState: SignedState = {
    provider: provider.settings.name,
    browser: hashText(signInSecret),
    next: ownAddress(deps, next),
    expiresAtMs: deps.now().getTime() + attemptMs,
    salt: makeSignInSecret(),
  };
  const state = deps.storage.links.sign('sign-in', JSON.stringify(signedState));
  const url = await asking(deps, provider.authorizeUrl(makeAttempt(deps, provider, state, signInSecret)));
  return { url, secret: signInSecret };
}

/**
 * Takes the answer of a provider, once, in the browser that asked, at the address of the provider that was asked.
 *
 * @param query  of the address.
 * @param secret  that the browser keeps.
 * @throws DomainError for the visitor.
 */
export async function completeOidc(
  deps: Deps,
  name: string,
  query: URLSearchParams,
  secret: string | undefined,
  browser: Browser,
): Promise<{ readonly secret: string; readonly next: string }> {
  const provider = findProvider(deps, name);
  const state = query.get('state') ?? '';
  const { next, expiresAtMs } = readState(deps, provider, state, secret);
  await useOnce(deps, `sign-in ${state}`, new Date(expiresAtMs), 'This sign-in was used already. Begin again.');
  const person = await asking(deps, provider.person(makeAttempt(deps, provider, state, secret ?? ''), query));
  const sessionId = deps.newId('session');
  const { userId, orgId, identityId } = await admitPerson(deps, provider.settings, person, sessionId, toOrigin(browser));
  const { issuer, sessionId: sid } = person;
  const providerSessionHash = sid === undefined ? null : sessionHash(provider, issuer, sid);
  const began = await beginSession(deps, { userId, orgId, sessionId, identityId, providerSessionHash }, 'OIDC', browser);
  return { secret: began.secret, next };
}

/** Where a person whose session a provider began signs out there too; undefined for other sessions, and when the provider does not answer. */
export async function providerLogoutUrl(deps: Deps, sessionSecret: string | undefined): Promise<string | undefined> {
  const caller = await findCaller(deps, { sessionSecret });
  const identityId = caller === undefined ? undefined : await deps.storage.people.sessions.findIdentityId(caller.keyId);
  const identity = identityId === undefined ? undefined : await deps.storage.people.identities.findById(identityId);
  const provider = deps.oidc.list.find(({ settings }) => settings.name === identity?.provider);
  return provider?.logoutUrl(`${deps.publicUrl()}/sign-in`).catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
    note(deps, error);
    return undefined;
  });
}

/**
 * Ends sessions that a provider says have ended (OpenID Connect Back-Channel Logout 1.0): the one of `sid`, else all of `sub`. No instance accepts them a
 * second later.
 *
 * @throws DomainError INVALID_VALUE for a token that is not the provider's, is too old, or was used before; UPSTREAM_ERROR when its keys cannot be read.
 */
export async function backchannelLogout(deps: Deps, name: string, token: string, origin: CallOrigin): Promise<void> {
  const provider = findProvider(deps, name);
  const { id, issuer, subject, sessionId, expiresAt } = await asking(deps, provider.readLogoutToken(token));
  const ids = await deps.storage.people.sessions.findProvided(
    await endedBy(deps, provider, { issuer, subject, sessionId }),
    sessionsMax,
  );
  await useOnce(deps, `logout ${provider.settings.name} ${id}`, expiresAt, 'The token was used before.');
  for (const sessionOfPerson of ids) {
    const caller = await deps.storage.people.apiKeys.findCallerById(sessionOfPerson, deps.now().getTime());
    if (caller === undefined) continue;
    await performOperation({ deps, caller, ...origin }, 'Page.signOut', [], (auditedCaller) =>
      deps.audit.change(auditedCaller, async () => {
        await deps.storage.people.sessions.end(sessionOfPerson, 'SIGNED_OUT', deps.now());
        return { id: sessionOfPerson, orgId: caller.orgId };
      }),
    );
  }
}

async function endedBy(
  deps: Deps,
  provider: OidcProvider,
  {
    issuer,
    subject,
    sessionId,
  }: { readonly issuer: string; readonly subject: string | undefined; readonly sessionId: string | undefined },
): Promise<{ readonly hash: string } | { readonly identityIds: readonly string[] }> {
  if (sessionId !== undefined) return { hash: sessionHash(provider, issuer, sessionId) };
  const identity = await deps.storage.people.identities.find({
    provider: provider.settings.name,
    issuer,
    subject: subject ?? '',
  });
  return { identityIds: identity === undefined ? [] : [identity.id] };
}

/** @throws DomainError INVALID_VALUE. Which check failed is told to nobody: a person begins again in every case. */
function readState(deps: Deps, provider: OidcProvider, state: string, secret: string | undefined): SignedState {
  const text = deps.storage.links.verify('sign-in', state);
  const signedState = text === undefined ? undefined : (JSON.parse(text) as SignedState);
  const isOurs =
    signedState !== undefined &&
    signedState.provider === provider.settings.name &&
    signedState.expiresAtMs > deps.now().getTime() &&
    secret !== undefined &&
    signedState.browser === hashText(secret);
  if (isOurs) return signedState;
  throw refused('This sign-in was not begun in this browser, or more than ten minutes ago. Begin again.');
}

/** Nonce and verifier come from the browser's secret and the state: neither stands in a table or an address. */
function makeAttempt(deps: Deps, { settings }: OidcProvider, state: string, secret: string): Attempt {
  const deriveText = (purpose: string) => createHmac('sha256', secret).update(`${purpose} ${state}`).digest('base64url');
  const redirectUri = `${deps.publicUrl()}/sign-in/oidc/${settings.name}/callback`;
  return { redirectUri, state, nonce: deriveText('nonce'), verifier: deriveText('verifier') };
}

async function useOnce(deps: Deps, text: string, expiresAt: Date, message: string): Promise<void> {
  try {
    await deps.storage.db.transaction((tx) => useTicket(tx, hashText(text), expiresAt));
  } catch (error) {
    throw error instanceof DomainError && error.code === 'CONFLICT' ? refused(message) : error;
  }
}

/** Tells the administrator what a provider did wrong, and the visitor in plain words. */
async function asking<T>(deps: Deps, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    note(deps, error);
    throw error.advice === undefined ? refused(error.message) : new DomainError('UPSTREAM_ERROR', error.message);
  }
}

function note({ logger }: Deps, { advice }: ProviderError): void {
  if (advice !== undefined) logger.warn(advice);
}

function findProvider({ oidc }: Deps, name: string): OidcProvider {
  const provider = oidc.list.find(({ settings }) => settings.name === name);
  if (provider === undefined) throw new DomainError('NOT_FOUND', 'There is no such way to sign in');
  return provider;
}

/** An absolute address of this service: browsers read some paths as the address of another host. */
function ownAddress(deps: Deps, next: string | undefined): string {
  const base = deps.publicUrl();
  const fallback = `${base}/`;
  if (next === undefined || !next.startsWith('/') || next.length > nextLengthMax || !URL.canParse(next, base)) return fallback;
  const url = new URL(next, base);
  return url.origin === new URL(base).origin ? url.href : fallback;
}

function sessionHash({ settings }: OidcProvider, issuer: string, sid: string): string {
  return hashText(`${settings.name}\n${issuer}\n${sid}`);
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function refused(message: string): DomainError {
  return new DomainError('INVALID_VALUE', message);
}
