import { originOfTool } from '../../../engine/tools/api-function/address.ts';
import type { AgentOfParts } from '../../../entities/agents/agent.ts';
import { type AgentTool, type AgentToolType, type SecretType, secretKeysIn } from '../../../entities/agents/part.ts';
import type { FirstUse } from '../../../storage/agents/parts/derived-secrets.ts';
import { type NewSecret, secretTable } from '../../../storage/agents/parts/secrets.ts';
import type { Deps } from '../../deps.ts';
import type { Faults } from '../../ground/faults.ts';
import { requireOwnOrigins } from './secret-origins.ts';
import { type ReadToolData, readToolData } from './tool-data.ts';

/** A tool to write, with its data as it was sent. */
export interface ToolDeclaration {
  readonly name: string;
  readonly type: AgentToolType;
  readonly data?: unknown;
  /** The stored tool; undefined for a new one. */
  readonly before: AgentTool | undefined;
  readonly userId: string;
}

/**
 * Reads the data of a tool and makes the rows of the secrets in it: sealed values under their keys, bound to the tool's origin, and rows
 * without a value for keys that it only refers to. A stored secret that was not given for the tool's origin is a fault.
 *
 * A key follows from the tool and the place, so a new value at the same place takes the place of the old one. It may not be a key that the
 * agent's other tools refer to, nor one that somebody made by hand.
 *
 * @param others  the agent's other tools.
 * @returns the clean data, and the rows to write with it; meaningless once there is a fault.
 */
export async function derivedSecrets(
  deps: Deps,
  agent: AgentOfParts,
  others: readonly AgentTool[],
  { before, userId, ...declaration }: ToolDeclaration,
  faults: Faults,
): Promise<{ readonly data: ReadToolData['data']; readonly secrets: readonly NewSecret[]; readonly firstUse: FirstUse }> {
  const secretsByKey = new Map((await deps.storage.agents.parts.secrets.ofAgent(agent.id)).map((secret) => [secret.key, secret]));
  const foreign = new Set(others.flatMap(({ data }) => secretKeysIn(data)));
  const isTaken = (key: string) => foreign.has(key) || secretsByKey.get(key)?.isDerived === false;
  const { data, secrets: secretMatches } = readToolData('data', { ...declaration, stored: before?.data }, isTaken, faults);
  const tool = { type: declaration.type, data };
  const origin = originOfTool(tool);
  const givenKeys = secretMatches.map(({ key }) => key);
  const keys = requireOwnOrigins('data', { tool, before, givenKeys, userId }, secretsByKey, faults);
  const origins = origin === undefined ? [] : [origin];
  const rows: NewSecret[] = [];
  for (const { key, value, secretType, path } of secretMatches) {
    const id = secretsByKey.get(key)?.id ?? deps.newId('agentSecret');
    const sealedValue = await deps.storage.vault.seal({ orgId: agent.orgId, table: secretTable, rowId: id }, value);
    rows.push(
      row(deps, agent, {
        id,
        key,
        secretType,
        sealed: sealedValue,
        description: `Found in ${path}`,
        origins,
        givenByUserId: userId,
      }),
    );
  }
  for (const key of secretKeysIn(data)) {
    if (secretsByKey.has(key) || rows.some((one) => one.key === key)) continue;
    const id = deps.newId('agentSecret');
    const secretType = findAuthType(data, key);
    rows.push(row(deps, agent, { id, key, secretType, sealed: null, description: '', origins: [], givenByUserId: null }));
  }
  return { data, secrets: rows, firstUse: { keys, origin: origin ?? '', userId } };
}

function row(deps: Deps, agent: AgentOfParts, values: Omit<NewSecret, 'createdAt' | 'agentId' | 'isDerived'>): NewSecret {
  return { ...values, createdAt: deps.now(), agentId: agent.id, isDerived: true };
}

/** The type that `auth` gives to its own key. */
function findAuthType({ auth }: ReadToolData['data'], key: string): SecretType {
  if (typeof auth !== 'object' || auth === null || !secretKeysIn(auth).includes(key)) return 'apiKey';
  const type: unknown = 'type' in auth ? auth.type : undefined;
  return type === 'bearerToken' || type === 'basicAuth' || type === 'header' ? type : 'apiKey';
}
