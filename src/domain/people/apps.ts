import { DomainError } from '../../entities/ground/errors.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import { hashSecret } from '../../entities/people/api-key.ts';
import { appScopes, type ConnectedApp, isWellFormedToken } from '../../entities/people/app.ts';
import type { Caller, Scope } from '../../entities/people/caller.ts';
import { isSession, makeSignInSecret } from '../../entities/people/session.ts';
import type { Deps } from '../deps.ts';
import { recordChangeOfService, withAuditEntry } from '../ground/audit/change.ts';
import { notedRefusal, requireOperation } from '../ground/audit/operation.ts';
import type { CallOrigin } from '../ground/audit/origin.ts';
import { authenticateKey, isFamiliarKey } from './api-keys.ts';

/** What a person is asked to agree to. */
export interface AppRequest {
  readonly clientId: string;
  /** What the client calls itself. */
  readonly clientName: string;
  readonly resource: string;
  /** Those that it asks for, known or not. */
  readonly scopes: readonly string[];
}

/** Who a client is, as far as anybody knows. */
export interface ClientOrigin {
  /** When it registered, or was first connected; null: never before. */
  readonly registeredAt: Date | null;
  /** The network that it registered from. */
  readonly network: string | null;
}

/** A code works for so long. Until a token takes its place, the key lives no longer. */
const codeMs = 600_000;
const unusedDays = 90;
const dayMs = 86_400_000;
const sweepEveryMs = 3_600_000;
const nameLengthMax = 200;

/**
 * The caller of an access token of OAuth at an address, or of a key. As cached and as dropped as keys are (`authenticateKey`): a warm token costs no
 * statement, and a revocation reaches every instance within a second. No other way in takes these tokens.
 */
export function authenticateApp(deps: Deps, secret: string, resource: string): ReturnType<typeof authenticateKey> {
  if (!isWellFormedToken(secret)) return authenticateKey(deps, secret);
  const nowMs = deps.now().getTime();
  const admit = (caller: Caller | undefined) => {
    // An operator's own key may look like a token.
    if (caller === undefined) return authenticateKey(deps, secret);
    deps.storage.people.apiKeys.noteUse(caller.keyId, nowMs);
    return caller;
  };
  const found = deps.storage.people.apps.findCaller(secret, resource, nowMs);
  return found instanceof Promise ? found.then(admit) : admit(found);
}

/** Whether the token or the key is cached, without a statement. */
export function isFamiliarApp(deps: Deps, secret: string): boolean {
  return deps.storage.people.apps.isFamiliar(secret) || isFamiliarKey(deps, secret);
}

/** The scopes among those asked for that the person can give. */
export function scopesToGive(caller: Caller, asked: readonly string[]): readonly Scope[] {
  return appScopes.filter((scope) => asked.includes(scope) && caller.scopes.has(scope));
}

/** Who a client is. Cost: one statement. */
export async function findClientOrigin(deps: Deps, clientId: string): Promise<ClientOrigin> {
  const client = await deps.storage.people.oauthClients.find(clientId);
  return { registeredAt: client?.createdAt ?? null, network: client?.network ?? null };
}

/**
 * Connects a client for the caller, who has agreed to it: a key with those scopes, which tokens of the client open.
 *
 * @returns the id of the key.
 * @throws DomainError FORBIDDEN for a caller that is no session, and where nothing that the client asks for can be given.
 */
export async function approveApp(deps: Deps, caller: Caller, request: AppRequest, origin: CallOrigin): Promise<string> {
  const { clientId, resource } = request;
  const call = { deps, caller, ...origin };
  requireOperation(call, approveOperation);
  const scopes = scopesToGive(caller, request.scopes);
  const refuse = (message: string) => notedRefusal(call, approveOperation, new DomainError('FORBIDDEN', message), []);
  if (!isSession(caller)) throw refuse('A person agrees in a browser: sign in first');
  if (scopes.length === 0) throw refuse('You may do nothing of what this client asks for');
  const name = request.clientName.trim().slice(0, nameLengthMax) || clientId.slice(0, nameLengthMax);
  const now = deps.now();
  const { oauthClients, apiKeys } = deps.storage.people;
  const { registeredAt, network } = await findClientOrigin(deps, clientId);
  const changes = [
    { member: 'client.id', value: clientId.slice(0, nameLengthMax) },
    { member: 'client.name', value: name },
    { member: 'client.registeredAt', value: registeredAt?.toISOString() ?? null },
    { member: 'client.network', value: network },
    { member: 'scopes', value: scopes },
    { member: 'resource', value: resource },
  ];
  const change = { action: 'approveApp', ids: [], orgId: undefined, changes, ...origin };
  const key = await withAuditEntry(deps, caller, change, (audited) =>
    deps.audit.change(audited, async () => {
      await oauthClients.add({ id: clientId, createdAt: now, name, network: null, metadata: null });
      await oauthClients.noteUse(clientId, now);
      return apiKeys.create({
        ...{ id: deps.newId('apiKey'), createdAt: now, orgId: caller.orgId, userId: caller.userId, name, scopes },
        // It opens nothing: the tokens do.
        ...{ level: 'ORGANIZATION' as const, prefix: '', hash: hashSecret(makeSignInSecret()) },
        ...{ expiresAt: new Date(now.getTime() + codeMs), createdByUserId: caller.userId, createdByKeyId: caller.keyId },
        ...{ clientId, resource },
      });
    }),
  );
  return key.id;
}

const approveOperation = 'Page.approveApp';

/** The caller's own connected clients in all organizations, newest first. */
export function listApps(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<ConnectedApp>> {
  return deps.storage.people.apps.list(caller.userId, deps.now(), page);
}

/** Whether the key of a client is alive: not revoked, and its person still a member. */
export async function isAppAlive(deps: Deps, keyId: string): Promise<boolean> {
  return (await deps.storage.people.apiKeys.living([keyId])).has(keyId);
}

/**
 * Ends the key of a client with all its tokens, for the protocol: the client gave it back, or somebody used a code or a refresh token a second time. The
 * entry of the audit log has no actor.
 */
export async function endApp(deps: Deps, keyId: string): Promise<void> {
  const { apps, apiKeys, oauthRecords } = deps.storage.people;
  const client = await apps.findClient(keyId);
  await oauthRecords.removeOfKey(keyId);
  if (client === undefined) return;
  const change = { orgId: client.orgId, action: 'revokeApiKey', targetIds: [keyId], changes: [] };
  await recordChangeOfService(deps, change, () => apiKeys.revoke(keyId, deps.now()));
}

/** Registers the job that deletes what has expired, and clients that nobody has used for 90 days. */
export function registerAppSweep({ jobs, storage, now }: Deps): void {
  jobs.lead('oauth.sweep', sweepEveryMs, async () => {
    await storage.people.oauthRecords.sweep(now());
    await storage.people.oauthClients.sweep(new Date(now().getTime() - unusedDays * dayMs));
  });
}
