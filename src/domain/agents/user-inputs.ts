import type { AgentUserInput, PartView, UserInputType } from '../../entities/agents/part.ts';
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
import { readConfiguration } from './parts/user-input.ts';

type Optional<T> = T | null | undefined;

export interface CreateUserInputInput {
  readonly variableName: string;
  readonly type: UserInputType;
  readonly label: string;
  readonly configuration?: unknown;
  readonly showOnChatCreate?: Optional<boolean>;
  readonly orderIndex?: Optional<number>;
}
/** Absent members are kept; `configuration` is replaced as a whole, null empties it. */
export type UpdateUserInputInput = {
  readonly [Name in keyof CreateUserInputInput]?: CreateUserInputInput[Name] | null | undefined;
};

const variablePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const labelLengthMax = 500;
const orderIndexMax = 1_000_000;

/**
 * The variables of an agent in the order they are asked; every caller who may use the agent sees them completely. @throws DomainError NOT_FOUND.
 */
export function listUserInputs(deps: Deps, caller: Caller, agentId: string): Promise<readonly PartView<AgentUserInput>[]> {
  return listParts(deps, caller, agentId, deps.storage.agents.parts.userInputs, whole);
}

/** @throws DomainError NOT_FOUND. */
export async function getUserInput(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<AgentUserInput>> {
  const { agent, part } = await getPart(deps, caller, 'userInputs', place);
  return toView(caller, agent, part, whole);
}

/** The user inputs with these ids, as far as the caller may see their agents. */
export function getUserInputs(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly PartView<AgentUserInput>[]> {
  return getParts(deps, caller, ids, deps.storage.agents.parts.userInputs, whole);
}

/** @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT for a taken name, or with every fault of the input. */
export async function createUserInput(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: CreateUserInputInput,
): Promise<PartView<AgentUserInput>> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const values = readUserInput('', input, faults);
  faults.throwIfAny();
  const part = { ...values, id: deps.newId('agentUserInput'), createdAt: deps.now(), agentId: agent.id };
  const storedInput = await deps.audit.change(caller, () => deps.storage.agents.parts.userInputs.create(part));
  return changedPart(deps, agent, storedInput);
}

/** @throws DomainError NOT_FOUND, FORBIDDEN, CONFLICT, or with every fault of the input. */
export async function updateUserInput(
  deps: Deps,
  caller: Caller,
  place: PartPlace,
  input: UpdateUserInputInput,
): Promise<PartView<AgentUserInput>> {
  const { agent, part: before } = await editablePart(deps, caller, 'userInputs', place);
  const faults = new Faults();
  for (const name of ['variableName', 'type', 'label', 'showOnChatCreate', 'orderIndex'] as const) {
    if (input[name] === null) faults.add(name, `${name} cannot be null`);
  }
  const values = readUserInput(
    '',
    {
      variableName: input.variableName ?? before.variableName,
      type: input.type ?? before.type,
      label: input.label ?? before.label,
      configuration: input.configuration === undefined ? before.configuration : input.configuration,
      showOnChatCreate: input.showOnChatCreate ?? before.showOnChatCreate,
      orderIndex: input.orderIndex ?? before.orderIndex,
    },
    faults,
  );
  faults.throwIfAny();
  const storedInput = await deps.audit.change(caller, () =>
    deps.storage.agents.parts.userInputs.update(agent.id, before.id, values),
  );
  return changedPart(deps, agent, storedInput);
}

/** @returns the former user input. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function deleteUserInput(deps: Deps, caller: Caller, place: PartPlace): Promise<PartView<AgentUserInput>> {
  const { agent, part } = await editablePart(deps, caller, 'userInputs', place);
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.agents.parts.userInputs.delete(agent.id, part.id))) throw missingPart('userInputId');
  });
  return { ...part, isWhole: true, ...(await endedApproval(deps, agent)) };
}

/** @param prefix  prefix of member names in faults. */
export function readUserInput(
  prefix: string,
  input: CreateUserInputInput,
  faults: Faults,
): Omit<AgentUserInput, 'id' | 'createdAt' | 'updatedAt' | 'agentId'> {
  const { variableName, type, label, showOnChatCreate, orderIndex } = input;
  if (!variablePattern.test(variableName)) {
    faults.add(`${prefix}variableName`, `${prefix}variableName must be a letter or _, then at most 63 letters, digits or _`);
  }
  faults.requireName(`${prefix}label`, label, labelLengthMax);
  const order = orderIndex ?? 0;
  faults.requireRange(`${prefix}orderIndex`, order, { min: 0, max: orderIndexMax, isWhole: true });
  const configuration = readConfiguration(`${prefix}configuration`, type, input.configuration, faults);
  return {
    variableName,
    type,
    label: label.toWellFormed(),
    configuration,
    showOnChatCreate: showOnChatCreate ?? true,
    orderIndex: order,
  };
}

function whole(part: AgentUserInput): AgentUserInput {
  return part;
}
