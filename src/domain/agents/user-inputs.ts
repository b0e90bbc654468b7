import type { AgentUserInput, UserInputType } from '../../entities/agents/part.ts';
import type { Faults } from '../ground/faults.ts';
import { createPartOperations, refuseNull } from './parts/operations.ts';
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

/** The variables of an agent in the order they are asked; every caller who may use the agent sees them completely. */
export const userInputOperations = createPartOperations(
  {
    kind: 'userInputs',
    hide: (userInput) => userInput,
    readNew: (input: CreateUserInputInput, { faults }) => ({ values: readUserInput('', input, faults) }),
    readChanges(input: UpdateUserInputInput, before, { faults }) {
      refuseNull(input, ['variableName', 'type', 'label', 'showOnChatCreate', 'orderIndex'], faults);
      const userInput = {
        variableName: input.variableName ?? before.variableName,
        type: input.type ?? before.type,
        label: input.label ?? before.label,
        configuration: input.configuration === undefined ? before.configuration : input.configuration,
        showOnChatCreate: input.showOnChatCreate ?? before.showOnChatCreate,
        orderIndex: input.orderIndex ?? before.orderIndex,
      };
      return { values: readUserInput('', userInput, faults) };
    },
  },
  ({ userInputs }) => userInputs,
);

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
