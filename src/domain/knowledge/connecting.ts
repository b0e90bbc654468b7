import { createHash, randomBytes } from 'node:crypto';
import type { BrowsePage } from '../../engine/knowledge/connections/browser.ts';
import type { BrowserProvider, ConnectedAccount } from '../../engine/knowledge/connections/connect.ts';
import { openAttempt, sealAttempt } from '../../engine/knowledge/connections/secrets.ts';
import { SourceError } from '../../engine/knowledge/connectors/error.ts';
import { accountService } from '../../engine/knowledge/connectors/registry.ts';
import { DomainError, tooLong } from '../../entities/ground/errors.ts';
import type { Connection, ConnectionProvider } from '../../entities/knowledge/connection.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { parseCorsOrigins } from '../../lib/settings/cors-origins.ts';
import type { ConnectionAttempt } from '../../storage/knowledge/connections/attempts.ts';
import type { Deps } from '../deps.ts';
import { performOperation, requireOperation } from '../ground/audit/operation.ts';
import type { CallOrigin } from '../ground/audit/origin.ts';
import { findUsersById, organizationsById } from '../people/accounts.ts';
import { getConnection, ownsConnection, storeAccount } from './connections.ts';
import {
  beginMcpConsent,
  finishMcpConsent,
  type McpConsent,
  type McpConsentInput,
  refuseConsentMembers,
  storeMcpTokens,
} from './mcp-servers/consent.ts';

/** Time for a person to allow the access at the other service, and once more to confirm it here. */
const lifeMs = 10 * 60_000;
const returnToMax = 2_000;
const queryLengthMax = 2_000;

export interface AuthorizeConnectionInput extends McpConsentInput {
  readonly provider: ConnectionProvider;
  readonly returnTo?: string | null | undefined;
}

/**
 * Begins to connect an account in the browser: authorization code with PKCE, and a state that is bound to the caller for ten minutes.
 *
 * @returns where to send the browser.
 * @throws DomainError UNSUPPORTED_VALUE naming the settings that are missing; INVALID_VALUE for an address that is neither ours nor in CORS_ORIGINS.
 */
export async function authorizeConnection(
  deps: Deps,
  caller: Caller,
  { provider, returnTo, ...consent }: AuthorizeConnectionInput,
  signal: AbortSignal,
): Promise<{ readonly url: string }> {
  const place = readReturnTo(deps, returnTo ?? undefined);
  const state = randomWord();
  const verifier = randomWord();
  if (provider !== 'MCP') refuseConsentMembers(consent);
  const { url, mcp } =
    provider === 'MCP'
      ? await beginMcpConsent(deps, caller, consent, { state, redirectUri: redirectUri(deps) }, signal)
      : { url: await authorizeUrl(deps, provider, state, verifier), mcp: undefined };
  const id = hashWord(state);
  const sealedAttempt = await sealAttempt(deps.storage, { id, orgId: caller.orgId }, { verifier, keyId: caller.keyId, mcp });
  const attempt = {
    id,
    orgId: caller.orgId,
    ownerUserId: caller.userId,
    provider,
    returnTo: place,
    sealed: sealedAttempt,
    expiresAt: new Date(deps.now().getTime() + lifeMs),
  };
  await deps.audit.change(caller, () => deps.storage.knowledge.connectionAttempts.create(attempt));
  return { url };
}

/** A person. Anybody may choose the name of somebody else; the e-mail is unique in the tenant. */
export interface Named {
  readonly name: string;
  readonly email: string;
}

/** What a person confirms: whose account it is, and whom it will serve. */
export interface Confirmation {
  /** The word that the form of the confirmation carries; good once. */
  readonly word: string;
  readonly provider: ConnectionProvider;
  /** What people call the service. */
  readonly service: string;
  readonly account: string;
  readonly person: Named;
  readonly organization: string;
  readonly tenant: string;
  readonly returnTo: string | null;
}

export interface Callback {
  readonly state: string;
  readonly code: string;
  /** The service's word for a refusal. */
  readonly error: string;
  /** The issuer that the answer names (RFC 9207); undefined: it names none. */
  readonly iss: string | undefined;
  readonly installationId: number | undefined;
}

/** What is kept of an attempt, sealed. */
interface AttemptContent {
  readonly verifier: string;
  readonly keyId?: string;
  readonly mcp?: McpConsent;
}

/**
 * Takes the answer of the other service. The connection is stored only after the visitor has confirmed it: whoever made the link may be somebody
 * else.
 *
 * @throws DomainError INVALID_VALUE for an unknown, used or old state, and for what the service refuses.
 */
export async function receiveCallback(
  deps: Deps,
  callback: Callback,
  origin: CallOrigin,
  signal: AbortSignal,
): Promise<Confirmation> {
  const { connectionAttempts } = deps.storage.knowledge;
  const attempt = callback.state === '' ? undefined : await connectionAttempts.take(hashWord(callback.state));
  if (attempt === undefined) throw refused('This link was used already or is older than ten minutes. Begin again.');
  if (callback.error !== '' || callback.code === '') throw refused('The access was not allowed. Nothing was connected.');
  const { verifier, keyId, mcp } = (await openAttempt(deps.storage, attempt)) as AttemptContent;
  const caller = await loadCaller(deps, keyId);
  requireOperation({ deps, caller, ...origin }, confirmOperation);
  const readAccount = (): Promise<ConnectedAccount> => {
    if (mcp !== undefined) return finishMcpConsent(deps, caller, mcp, callback, signal);
    const answer = { code: callback.code, verifier, redirectUri: redirectUri(deps), installationId: callback.installationId };
    return deps.knowledge.connecting.account(attempt.provider as BrowserProvider, answer, signal);
  };
  const account = await readAccount().catch((error: unknown) => {
    throw error instanceof SourceError ? refused(error.message) : error;
  });
  const word = randomWord();
  const sealedAttempt = await sealAttempt(deps.storage, attempt, { account, keyId, connectionId: mcp?.connectionId });
  await connectionAttempts.keep(
    { ...attempt, sealed: sealedAttempt, expiresAt: new Date(deps.now().getTime() + lifeMs) },
    hashWord(word),
  );
  const [[person], [organization]] = await Promise.all([
    findUsersById(deps, [attempt.ownerUserId]),
    organizationsById(deps, [attempt.orgId]),
  ]);
  if (
    !(person !== undefined && person !== null && 'name' in person) ||
    organization === undefined ||
    organization instanceof Error
  ) {
    throw refused('The person or the organization that asked for this connection is gone.');
  }
  const tenant = await deps.storage.people.tenants.find(organization.tenantId, { reach: 'instance' });
  const { name, email } = person;
  const identity = { person: { name, email }, organization: organization.name, tenant: tenant?.name ?? '' };
  const { provider } = attempt;
  const service = mcp === undefined ? accountService(provider as BrowserProvider).oauth(deps.settings).name : mcp.host;
  return { word, provider, service, account: account.name, ...identity, returnTo: attempt.returnTo };
}

/**
 * Stores a connection that its visitor has confirmed, and has waiting sources read. It is a change by the key that asked for the connection, which
 * must still have the scope.
 *
 * @throws DomainError INVALID_VALUE, INSUFFICIENT_SCOPE, CONFLICT.
 */
export async function confirmConnection(
  deps: Deps,
  word: string,
  origin: CallOrigin,
): Promise<{ readonly connection: Connection; readonly returnTo: string | null }> {
  const { connectionAttempts } = deps.storage.knowledge;
  const attempt: ConnectionAttempt | undefined = word === '' ? undefined : await connectionAttempts.confirm(hashWord(word));
  if (attempt === undefined) throw refused('This page was used already or is older than ten minutes. Begin again.');
  const { account, keyId, connectionId } = (await openAttempt(deps.storage, attempt)) as {
    account: ConnectedAccount;
    keyId?: string;
    connectionId?: string;
  };
  const call = { deps, caller: await loadCaller(deps, keyId), ...origin };
  const expiresAt = account.expiresAt === null ? null : new Date(account.expiresAt);
  const connection = await performOperation(call, confirmOperation, [], (caller) =>
    connectionId === undefined
      ? storeAccount(deps, caller, attempt, { ...account, expiresAt })
      : storeMcpTokens(deps, caller, connectionId, { ...account, expiresAt }),
  );
  return { connection, returnTo: attempt.returnTo };
}

const confirmOperation = 'Page.confirmConnection';

/** The key that asked for the connection, with its current rights. */
async function loadCaller(deps: Deps, keyId: string | undefined): Promise<Caller> {
  const caller = keyId === undefined ? undefined : await deps.storage.people.apiKeys.findCallerById(keyId, deps.now().getTime());
  if (caller === undefined) throw refused('The key that asked for this connection has ended. Begin again.');
  return caller;
}

export interface BrowseConnectionInput {
  readonly parentId?: string | null | undefined;
  readonly search?: string | null | undefined;
  readonly cursor?: string | null | undefined;
}

/**
 * What could be added as a source from a connection of the caller, for a picker.
 *
 * @throws DomainError NOT_FOUND for a connection that is not the caller's own; INVALID_VALUE with the reason for what the service refuses;
 * CONFLICT when the account has to be connected again; OVERLOADED when the service does not answer.
 */
export async function browseConnection(
  deps: Deps,
  caller: Caller,
  id: string,
  { parentId, search, cursor }: BrowseConnectionInput,
  signal: AbortSignal,
): Promise<BrowsePage> {
  const connection = await getConnection(deps, caller, id);
  if (!ownsConnection(caller, connection)) throw new DomainError('FORBIDDEN', 'Only its owner may look into a connection');
  for (const [name, text] of Object.entries({ parentId, search, cursor })) {
    if (typeof text !== 'string' || text.length <= queryLengthMax) continue;
    throw tooLong(name, queryLengthMax);
  }
  const query = { parent: parentId ?? undefined, search: search ?? undefined, cursor: cursor ?? undefined };
  return deps.knowledge.browse(connection, query, signal).catch((error: unknown) => {
    if (!(error instanceof SourceError)) throw error;
    if (error.code === 'AUTH') throw new DomainError('CONFLICT', error.message, { param: 'connectionId' });
    if (error.code === 'RATE_LIMITED' || error.code === 'UNREACHABLE') throw new DomainError('OVERLOADED', error.message);
    throw new DomainError('INVALID_VALUE', error.message);
  });
}

function authorizeUrl(deps: Deps, provider: BrowserProvider, state: string, verifier: string): Promise<string> {
  const request = { state, verifier, redirectUri: redirectUri(deps) };
  return deps.knowledge.connecting.authorizeUrl(provider, request).catch((error: unknown) => {
    if (!(error instanceof SourceError)) throw error;
    throw new DomainError('UNSUPPORTED_VALUE', error.message, { param: 'provider' });
  });
}

/** Where other services send the browser back. */
export function redirectUri({ publicUrl }: Deps): string {
  return `${publicUrl()}/oauth/callback`;
}

/** An address of this service or of a page that may call it: a link must not lead people elsewhere in our name. */
function readReturnTo(deps: Deps, text: string | undefined): string | null {
  if (text === undefined) return null;
  const own = new URL(deps.publicUrl());
  const url = text.length <= returnToMax && URL.canParse(text, own) ? new URL(text, own) : undefined;
  const origins = parseCorsOrigins(deps.settings.CORS_ORIGINS);
  const isAllowed =
    url !== undefined &&
    ['http:', 'https:'].includes(url.protocol) &&
    (url.origin === own.origin || (origins !== undefined && origins !== '*' && origins.has(url.origin)));
  if (url === undefined || !isAllowed) {
    throw new DomainError('INVALID_VALUE', `returnTo must be an address of ${own.origin} or of an origin in CORS_ORIGINS`, {
      param: 'returnTo',
    });
  }
  return url.href;
}

function refused(message: string): DomainError {
  return new DomainError('INVALID_VALUE', message, { param: 'state' });
}

function randomWord(): string {
  return randomBytes(32).toString('base64url');
}

function hashWord(word: string): string {
  return createHash('sha256').update(word).digest('hex');
}
