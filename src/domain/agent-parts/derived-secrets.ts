import type { AgentOfParts, AgentTool, SecretType } from '../../entities/agent-part.ts';
import { secretKeysIn } from '../../entities/agent-part.ts';
import { type NewSecret, secretTable } from '../../storage/agent-parts/secrets.ts';
import type { Deps } from '../deps.ts';
import type { ReadToolData } from './tool-data.ts';

/**
 * Makes the rows of what a tool's data held: sealed values under their keys, and rows without a value for keys that it only refers to.
 *
 * A key follows from the tool and the place, so a new value at the same place takes the place of the old one. It may not be a key that the
 * agent's other tools refer to, nor one that somebody made by hand.
 *
 * @param others  the agent's other tools.
 * @returns the clean data, and the rows to write with it.
 */
export async function derivedSecrets(
  deps: Deps,
  agent: AgentOfParts,
  others: readonly AgentTool[],
  read: (isTaken: (key: string) => boolean) => ReadToolData,
): Promise<{ readonly data: ReadToolData['data']; readonly secrets: readonly NewSecret[] }> {
  const known = new Map((await deps.storage.agentParts.secrets.ofAgent(agent.id)).map((secret) => [secret.key, secret]));
  const foreign = new Set(others.flatMap(({ data }) => secretKeysIn(data)));
  const { data, secrets: found } = read((key) => foreign.has(key) || known.get(key)?.isDerived === false);
  const rows: NewSecret[] = [];
  for (const { key, value, secretType, path } of found) {
    const id = known.get(key)?.id ?? deps.newId('agentSecret');
    const sealed = await deps.storage.vault.seal({ orgId: agent.orgId, table: secretTable, rowId: id }, value);
    rows.push(row(deps, agent, { id, key, secretType, sealed, description: `Found in ${path}` }));
  }
  for (const key of secretKeysIn(data)) {
    if (known.has(key) || rows.some((one) => one.key === key)) continue;
    const id = deps.newId('agentSecret');
    rows.push(row(deps, agent, { id, key, secretType: authTypeOf(data, key), sealed: null, description: '' }));
  }
  return { data, secrets: rows };
}

function row(
  deps: Deps,
  agent: AgentOfParts,
  { id, key, secretType, sealed, description }: Pick<NewSecret, 'id' | 'key' | 'secretType' | 'sealed' | 'description'>,
): NewSecret {
  return { id, createdAt: deps.now(), agentId: agent.id, key, description, secretType, sealed, isDerived: true };
}

/** The type that `auth` gives to its own key. */
function authTypeOf({ auth }: ReadToolData['data'], key: string): SecretType {
  if (typeof auth !== 'object' || auth === null || !secretKeysIn(auth).includes(key)) return 'apiKey';
  const type: unknown = 'type' in auth ? auth.type : undefined;
  return type === 'bearerToken' || type === 'basicAuth' || type === 'header' ? type : 'apiKey';
}
