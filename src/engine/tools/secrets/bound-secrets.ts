import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { secretTable } from '../../../storage/agents/parts/secrets.ts';
import type { Storage } from '../../../storage/storage.ts';

/**
 * Opens secrets of an agent for a call. The only place that opens them: every tool that sends a stored secret calls it with its target origin.
 *
 * @returns the values by key; keys without a value are left out.
 * @throws DomainError INVALID_VALUE for a secret that was not given for the origin.
 *
 * Cost: one statement for all keys.
 */
export async function openSecrets(
  storage: Pick<Storage, 'agents' | 'vault'>,
  agent: Pick<RunnableAgent, 'id' | 'orgId'>,
  keys: readonly string[],
  origin: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await storage.agents.parts.secrets.sealedFor(agent.id, keys, origin);
  const secretPromises = rows.map(async ({ id, key, sealed, origins }) => {
    if (sealed === null)
      throw new DomainError('INVALID_VALUE', `The call was not made: ${secretElsewhere(key, origins, origin)}`);
    return [key, await storage.vault.open({ orgId: agent.orgId, table: secretTable, rowId: id }, sealed)] as const;
  });
  return new Map(await Promise.all(secretPromises));
}

/** Why a secret may not be sent to an origin, and how to allow it. The middle of a sentence; never contains the value. */
export function secretElsewhere(key: string, origins: readonly string[], origin: string): string {
  const originPhrase = origins.length === 0 ? 'for no address yet' : `for ${origins.join(', ')}`;
  return `the secret ${key} was given ${originPhrase}, not for ${origin}; its value must be given anew for ${origin}`;
}
