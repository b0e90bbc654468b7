import type { AgentView } from '../../entities/agents/agent.ts';
import { type AgentSecret, type SecretType, secretKeyPattern } from '../../entities/agents/part.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { secretTable } from '../../storage/agents/parts/secrets.ts';
import type { Deps } from '../deps.ts';
import { canEditAgent } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { getAgents } from './agents.ts';
import { editableAgent, editablePart, missingPart, type PartPlace } from './parts/access.ts';
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

/** The secrets of an agent by key, without their values, for callers who may edit it. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function listAgentSecrets(deps: Deps, caller: Caller, agentId: string): Promise<readonly AgentSecret[]> {
  const agent = await editableAgent(deps, caller, agentId);
  return deps.storage.agents.parts.secrets.ofAgent(agent.id);
}

/** @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function getAgentSecret(deps: Deps, caller: Caller, place: PartPlace): Promise<AgentSecret> {
  return (await editablePart(deps, caller, 'secrets', place)).part;
}

/** The secrets with these ids, of agents that the caller may edit. */
export async function getAgentSecrets(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly AgentSecret[]> {
  const secrets = await deps.storage.agents.parts.secrets.findMany(ids);
  const agents = await getAgents(deps, caller, [...new Set(secrets.map(({ agentId }) => agentId))]);
  const editable = new Set(agents.filter((agent) => canEditAgent(caller, agent)).map(({ id }) => id));
  return secrets.filter(({ agentId }) => editable.has(agentId));
}

/**
 * Stores a secret encrypted, for the given origins. Without origins, the first tool that the caller writes for it binds it.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT for a taken key, or with every fault of the input.
 */
export async function createAgentSecret(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: CreateAgentSecretInput,
): Promise<AgentSecret> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  readSecretKey('key', input.key, faults);
  readRest(input, faults);
  const binding = await readBinding(deps, caller, { key: input.key, agentId: agent.id, origins: [] }, input, faults);
  faults.throwIfAny();
  const id = deps.newId('agentSecret');
  const secret = {
    id,
    createdAt: deps.now(),
    agentId: agent.id,
    key: input.key,
    description: (input.description ?? '').toWellFormed(),
    secretType: input.secretType,
    sealed: await sealed(deps, agent, id, input.value ?? null),
    isDerived: false,
    origins: [],
    givenByUserId: null,
    ...binding,
  };
  return deps.audit.change(caller, () => deps.storage.agents.parts.secrets.create(secret));
}

/**
 * A secret that was found in a tool becomes an independent one: it stays when the tool is deleted. @throws DomainError NOT_FOUND,
 * FORBIDDEN, or with every fault.
 */
export async function updateAgentSecret(
  deps: Deps,
  caller: Caller,
  place: PartPlace,
  input: UpdateAgentSecretInput,
): Promise<AgentSecret> {
  const { agent, part: secret } = await editablePart(deps, caller, 'secrets', place);
  const faults = new Faults();
  readRest(input, faults);
  if (input.secretType === null) faults.add('secretType', 'secretType cannot be null');
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
  return deps.audit.change(caller, () => deps.storage.agents.parts.secrets.update(agent.id, secret.id, changes));
}

/** @returns the former secret, without its value. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function deleteAgentSecret(deps: Deps, caller: Caller, place: PartPlace): Promise<AgentSecret> {
  const { agent, part: secret } = await editablePart(deps, caller, 'secrets', place);
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.agents.parts.secrets.delete(agent.id, secret.id))) throw missingPart('secretId');
    return secret;
  });
}

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
