import { SourceError } from '../../../engine/knowledge/connectors/error.ts';
import type { GivenClient, McpTokens } from '../../../engine/tools/mcp/authorization/authorization.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import type { Faults } from '../../ground/faults.ts';
import { readScopes, readSecret } from '../connection-input.ts';

type Optional<T> = T | null | undefined;

/** What Parley is called at the authorization server of an MCP server, and the scopes to ask for. */
export interface McpClientInput {
  readonly clientId?: Optional<string>;
  readonly clientSecret?: Optional<string>;
  readonly scopes?: Optional<readonly string[]>;
}

export type ReadMcpClient = GivenClient & { readonly scopes?: readonly string[] | undefined };

/** Undefined without a client; its scopes then are no use, and refused. */
export function readMcpClient({ clientId, clientSecret, scopes }: McpClientInput, faults: Faults): ReadMcpClient | undefined {
  const id = readSecret('clientId', clientId ?? undefined, faults);
  const secret = readSecret('clientSecret', clientSecret ?? undefined, faults);
  const scopeList = scopes === undefined || scopes === null ? undefined : readMcpScopes(scopes, faults);
  if (id !== undefined) return { clientId: id, clientSecret: secret, scopes: scopeList };
  if (secret !== undefined) faults.add('clientId', 'clientId must be there with clientSecret');
  return undefined;
}

/** Scopes are sent separated by spaces (RFC 6749), so none holds one. */
export function readMcpScopes(scopes: readonly string[], faults: Faults): readonly string[] {
  for (const [index, scope] of readScopes(scopes, faults).entries()) {
    if (/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) continue;
    faults.add(`scopes[${index}]`, `scopes[${index}] must hold visible ASCII characters only, without spaces, " and \\`);
  }
  return scopes;
}

/** @throws DomainError INVALID_VALUE of `clientId`; OVERLOADED. */
export async function requestMcpTokens(
  deps: Deps,
  caller: Caller,
  url: string,
  client: ReadMcpClient,
  signal: AbortSignal,
): Promise<McpTokens> {
  try {
    return await deps.mcp.authorization.requestClientTokens(url, caller, client, signal);
  } catch (error) {
    throw toConnectError(error, 'clientId');
  }
}

/** What the person who connects is told. @param param  the member of the request that is wrong, where it is no failure of the other side. */
export function toConnectError(error: unknown, param: string): unknown {
  if (!(error instanceof SourceError)) return error;
  if (error.isRetryable && error.code === 'UNREACHABLE') return new DomainError('OVERLOADED', error.message);
  return new DomainError('INVALID_VALUE', error.message, { param });
}
