import type { AgentSkill, PartView } from '../../entities/agents/part.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../ground/faults.ts';
import {
  changedPart,
  editableAgent,
  editablePart,
  endedApproval,
  getPart,
  getParts,
  listParts,
  missingPart,
  type PartPlace,
  toView,
} from './parts/access.ts';

type Optional<T> = T | null | undefined;

export interface CreateSkillInput {
  readonly name: string;
  readonly description?: Optional<string>;
  readonly content: string;
  readonly enabled?: Optional<boolean>;
}
/** Absent members are kept. */
export type UpdateSkillInput = { readonly [Name in keyof CreateSkillInput]?: CreateSkillInput[Name] | null | undefined };

const lengthsMax = { name: 200, description: 10_000, content: 200_000 } as const;

/** The skills of an agent by name; without their content for callers who may not edit it. @throws DomainError NOT_FOUND. */
export function listSkills(deps: Deps, caller: Caller, agentId: string): Promise<readonly PartView<AgentSkill>[]> {
  return listParts(deps, caller, agentId, deps.storage.agents.parts.skills, hiddenSkill);
}

/** @throws DomainError NOT_FOUND. */
export async function getSkill(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<AgentSkill>> {
  const { agent, part } = await getPart(deps, caller, 'skills', place);
  return toView(caller, agent, part, hiddenSkill);
}

/** The skills with these ids, as far as the caller may see their agents. */
export function getSkills(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly PartView<AgentSkill>[]> {
  return getParts(deps, caller, ids, deps.storage.agents.parts.skills, hiddenSkill);
}

/** @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT for a taken name, or with every fault of the input. */
export async function createSkill(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: CreateSkillInput,
): Promise<PartView<AgentSkill>> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const values = readSkill('', input, faults);
  faults.throwIfAny();
  const part = { ...values, id: deps.newId('agentSkill'), createdAt: deps.now(), agentId: agent.id };
  const storedSkill = await deps.audit.change(caller, () => deps.storage.agents.parts.skills.create(part));
  return changedPart(deps, agent, storedSkill);
}

/** @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT, or with every fault of the input. */
export async function updateSkill(
  deps: Deps,
  caller: Caller,
  place: PartPlace,
  input: UpdateSkillInput,
): Promise<PartView<AgentSkill>> {
  const { agent, part: before } = await editablePart(deps, caller, 'skills', place);
  const faults = new Faults();
  for (const name of ['name', 'content', 'enabled'] as const)
    if (input[name] === null) faults.add(name, `${name} cannot be null`);
  const skillInput = {
    name: input.name ?? before.name,
    description: input.description === undefined ? before.description : input.description,
    content: input.content ?? before.content,
    enabled: input.enabled ?? before.enabled,
  };
  const values = readSkill('', skillInput, faults);
  faults.throwIfAny();
  const storedSkill = await deps.audit.change(caller, () => deps.storage.agents.parts.skills.update(agent.id, before.id, values));
  return changedPart(deps, agent, storedSkill);
}

/** @returns the former skill. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function deleteSkill(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<AgentSkill>> {
  const { agent, part } = await editablePart(deps, caller, 'skills', place);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.agents.parts.skills.delete(agent.id, part.id))) throw missingPart('skillId');
  });
  return { ...part, isWhole: true, ...(await endedApproval(deps, agent)) };
}

/** @param prefix  prefix of member names in faults. */
export function readSkill(
  prefix: string,
  { name, description, content, enabled }: CreateSkillInput,
  faults: Faults,
): Pick<AgentSkill, 'name' | 'description' | 'content' | 'enabled'> {
  faults.requireName(`${prefix}name`, name, lengthsMax.name);
  faults.requireLength(`${prefix}description`, description ?? '', lengthsMax.description);
  faults.requireLength(`${prefix}content`, content, lengthsMax.content);
  return {
    name: name.trim().toWellFormed(),
    description: (description ?? '').toWellFormed(),
    content: content.toWellFormed(),
    enabled: enabled ?? true,
  };
}

/** What callers see who may not edit the agent. */
export function hiddenSkill(skill: AgentSkill): AgentSkill {
  return { ...skill, content: '' };
}
