import { openSecrets, sealSecrets } from '../../engine/knowledge/connections/secrets.ts';
import type { Connection, ConnectionSecrets, McpGrant } from '../../entities/knowledge/connection.ts';
import type { Membership } from '../../entities/people/account.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { Transaction } from '../../storage/ground/database.ts';
import type { Deps } from '../deps.ts';

/** Whose tokens, of a person, of an organization, or of a person there: of all kinds, or those to which the person agreed. */
export type TokenHolder = ({ readonly ownerUserId: string; readonly orgId?: string } | { readonly orgId: string }) & {
  readonly kind?: McpGrant['kind'];
};

/** Time for an authorization server to take back a token. */
const revocationMs = 5_000;
/** Authorization servers that are asked at once: each may take five seconds to answer. */
const atOnce = 10;
/** Time for all of an organization that is deleted: somebody waits for it. */
const ofOrganizationMs = 30_000;

/**
 * Gives the tokens of MCP servers back to their authorization servers (RFC 7009), each of which is asked once: one that does not answer in time, or
 * refuses, is logged. The connections stay, and need another sign-in.
 */
export async function giveBackTokens(deps: Deps, { kind, ...scope }: TokenHolder, signal: AbortSignal): Promise<void> {
  const { connections } = deps.storage.knowledge;
  let after = '';
  for (;;) {
    signal.throwIfAborted();
    const portion = await connections.mcpServersAfter(after, scope, atOnce);
    const last = portion.at(-1);
    if (last === undefined) return;
    after = last.id;
    await Promise.all(portion.map((connection) => giveBack(deps, connection, kind)));
  }
}

/**
 * Gives back the tokens of an organization that is about to be deleted, while its rows and its key are still there: nobody could read them afterwards.
 * What is left after half a minute is logged.
 */
export async function giveBackTokensOf(deps: Deps, orgId: string): Promise<void> {
  const signal = AbortSignal.timeout(ofOrganizationMs);
  try {
    await giveBackTokens(deps, { orgId }, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    deps.logger.warn({ orgId }, 'not all tokens of a deleted organization could be given back in time');
  }
}

async function giveBack(deps: Deps, connection: Connection, kind: McpGrant['kind'] | undefined): Promise<void> {
  const { storage } = deps;
  const secrets = await openSecrets(storage, connection);
  if (secrets?.mcp === undefined || (kind !== undefined && secrets.mcp.kind !== kind)) return;
  const [organization] = await storage.people.accounts.findOrganizations([connection.orgId]);
  // Before the row is changed: a job that was cut off asks once more, which does no harm.
  await revokeMcpTokens(deps, { tenantId: organization?.tenantId ?? '' }, connection, secrets);
  const { accessToken: _access, refreshToken: _refresh, mcp: _grant, ...rest } = secrets;
  const sealed = await sealSecrets(storage, connection, rest);
  await storage.knowledge.connections.forgetTokens(connection.id, sealed);
}

/** Has a job give back the tokens of somebody whose membership ends, with its transaction. */
export function giveBackLater(
  { jobs }: Deps,
  { orgId, userId }: Pick<Membership, 'orgId' | 'userId'>,
  owner: ShareOwner,
  tx: Transaction,
): Promise<void> {
  return jobs.enqueue('accounts.give-back-tokens', { orgId, userId }, { owner, key: `${orgId} ${userId}`, tx });
}

/** The connection is gone, or loses its tokens, in any case: what the authorization server says is logged. */
export async function revokeMcpTokens(
  deps: Deps,
  { tenantId }: Pick<Caller, 'tenantId'>,
  connection: Connection,
  secrets: ConnectionSecrets,
): Promise<void> {
  // Sessions end with the token that is about to end.
  await deps.mcp.connectionChanged(connection.id);
  const owner = { tenantId, orgId: connection.orgId };
  try {
    await deps.mcp.authorization.revoke(secrets, owner, AbortSignal.timeout(revocationMs));
  } catch (error) {
    deps.logger.warn({ err: error, connectionId: connection.id }, 'the tokens of a deleted connection were not revoked');
  }
}
