import type { AgentView } from '../../entities/agents/agent.ts';
import { type AgentSecret, type SecretType, secretKeyPattern } from '../../entities/agents/part.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { secretTable } from '../../storage/agents/parts/secrets.ts';
import type { Deps } from '../deps.ts';
import type { Faults } from '../ground/faults.ts';
import { createPartOperations, refuseNull } from './parts/operations.ts';
import { requestOrigins } from './parts/secret-origins.ts';
import { secretBytesMax } from './parts/tool-data.ts';

type Optional<T> = T | null | undefined;

export interface CreateAgentSecretInput {
  readonly key: string;
  readonly description?: Optional<string>;
  readonly secretType: SecretType;
  /** Can be set, but is never shown. */
  readonly value?: Optional<string>;
  /** Origins that the value may be sent to; absent: those of the tools that refer to the key. */
  readonly origins?: Optional<readonly string[]>;
}
/** Absent members are kept; null removes the value or the description. */
export interface UpdateAgentSecretInput {
  readonly description?: Optional<string>;
  readonly secretType?: Optional<SecretType>;
  readonly value?: Optional<string>;
  /** Set together with a value: another origin needs the value again. */
  readonly origins?: Optional<readonly string[]>;
}

const descriptionLengthMax = 2_000;

/**
 * The secrets of an agent by key, without their values, for callers who may edit it. They are stored encrypted, for the given origins. Without
 * origins, the first tool that the caller writes for a secret binds it. A secret that was found in a tool becomes an independent one when it is
 * changed: it stays when the tool is deleted.
 */
export const secretOperations = createPartOperations(
  {
    kind: 'secrets',
    hide: 'nothing',
    async readNew(input: CreateAgentSecretInput, { deps, caller, agent, id, faults }) {
      const { key, secretType } = input;
      readSecretKey('key', key, faults);
      readRest(input, faults);
      const binding = await readBinding(deps, caller, { key, agentId: agent.id, origins: [] }, input, faults);
      faults.throwIfAny();
      const description = (input.description ?? '').toWellFormed();
      const sealedValue = await sealed(deps, agent, id, input.value ?? null);
      const values = { key, description, secretType, sealed: sealedValue, isDerived: false, origins: [], givenByUserId: null };
      return { values: { ...values, ...binding } };
    },
    async readChanges(input: UpdateAgentSecretInput, secret, { deps, caller, agent, faults }) {
      readRest(input, faults);
      refuseNull(input, ['secretType'], faults);
      const binding = await readBinding(deps, caller, secret, input, faults);
      faults.throwIfAny();
      const { description, secretType, value } = input;
      const changes = {
        isDerived: false,
        ...(description === undefined ? {} : { description: (description ?? '').toWellFormed() }),
        ...(secretType === undefined || secretType === null ? {} : { secretType }),
        ...(value === undefined ? {} : { sealed: await sealed(deps, agent, secret.id, value) }),
        ...binding,
      };
      return { values: changes };
    },
  },
  ({ secrets }) => secrets,
);

/** The user who gave a new value and its origins; empty without a value. A secret whose value is removed keeps its origins. */
async function readBinding(
  deps: Deps,
  caller: Caller,
  secret: Pick<AgentSecret, 'key' | 'agentId' | 'origins'>,
  { value, origins }: UpdateAgentSecretInput,
  faults: Faults,
): Promise<Partial<Pick<AgentSecret, 'origins' | 'givenByUserId'>>> {
  const originInput = origins ?? undefined;
  if (value === undefined || value === null) {
    if (originInput !== undefined) faults.add('origins', 'origins must come with value: another origin asks for the secret anew');
    return value === null ? { givenByUserId: null } : {};
  }
  const tools = await deps.storage.agents.parts.tools.ofAgents([secret.agentId]);
  return { origins: requestOrigins(secret, originInput, tools, faults), givenByUserId: caller.userId };
}

export function readSecretKey(param: string, key: string, faults: Faults): void {
  if (!secretKeyPattern.test(key)) faults.add(param, `${param} must be a letter, then at most 99 letters, digits, _, . or -`);
}

function readRest({ description, value }: Pick<UpdateAgentSecretInput, 'description' | 'value'>, faults: Faults): void {
  faults.requireLength('description', description ?? '', descriptionLengthMax);
  if (value === '') faults.add('value', 'value must not be empty; null takes it away');
  if (Buffer.byteLength(value ?? '') > secretBytesMax) faults.add('value', `value must have at most ${secretBytesMax} bytes`);
}

function sealed(deps: Deps, agent: AgentView, rowId: string, value: string | null): Promise<string> | null {
  return value === null ? null : deps.storage.vault.seal({ orgId: agent.orgId, table: secretTable, rowId }, value);
}
