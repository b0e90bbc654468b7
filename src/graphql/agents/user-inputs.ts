import {
  type CreateUserInputInput as CreateShape,
  type UpdateUserInputInput as UpdateShape,
  userInputOperations,
} from '../../domain/agents/user-inputs.ts';
import { approvalWarnings } from '../../domain/agents/warnings.ts';
import { userInputTypes } from '../../entities/agents/part.ts';
import { newUserInputBody, userInputChangesBody } from '../../wire/agents/parts.ts';
import { describe } from '../../wire/ground/body.ts';
import { builder, type InputBuilder } from '../ground/builder/builder.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { AgentUserInputRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';
import { WarningType } from '../ground/types/warnings.ts';
import { addPartOperations, partFields } from './part-operations.ts';
import { UserInputSettingsInput, UserInputSettingsType } from './user-input-settings.ts';

export const UserInputTypeType = createEnum('UserInputType', "The type of a user input's value.", userInputTypes, {
  SHORT_TEXT: 'One line of text.',
  LONG_TEXT: 'Text.',
  NUMBER: 'A number.',
  SELECT: 'One of its options.',
  BOOLEAN: 'True or false.',
  DATE: 'A day: `2026-01-31`.',
});

export const UserInputResource = AgentUserInputRef.implement({
  access: { scope: 'AGENTS:READ' },
  description: "A variable of an agent's instructions, asked when a chat begins and filled into `{{variableName}}`.",
  interfaces: [NodeType],
  fields: (t) => ({
    ...partFields(t, 'user input'),
    variableName: t.exposeString('variableName', { description: 'Its name in the instructions.' }),
    type: t.expose('type', { type: UserInputTypeType, description: 'The type of its value.' }),
    label: t.exposeString('label', { description: 'What the user is asked.' }),
    settings: t.field({
      type: UserInputSettingsType,
      description: 'How it is asked, and what values it takes.',
      resolve: (part) => part,
    }),
    showOnChatCreate: t.exposeBoolean('showOnChatCreate', { description: 'Whether it is asked when a chat is created.' }),
    orderIndex: t.exposeInt('orderIndex', { description: 'Its position: lower numbers are asked first.' }),
    warnings: t.field({
      type: [WarningType],
      description: 'After a change, that the approval of its agent ended; empty when there is nothing to say.',
      resolve: (part) => [...approvalWarnings(part)],
    }),
  }),
});

const CreateUserInputInput = flatInput<CreateShape>(
  builder.inputType('CreateUserInputInput', {
    description: 'A new variable of an agent.',
    fields: (t) => ({
      ...newMembers(t),
      settings: t.field({ type: UserInputSettingsInput, description: 'The type of its value, and how it is asked.' }),
    }),
  }),
  { body: newUserInputBody, members: { settings: { isSpread: true } } },
);

const UpdateUserInputInput = flatInput<UpdateShape>(
  builder.inputType('UpdateUserInputInput', {
    description: 'Changes of a variable: absent members are kept.',
    fields: (t) => ({
      ...changedMembers(t),
      settings: t.field({
        type: UserInputSettingsInput,
        required: false,
        description: 'The type of its value, and how it is asked. Replaced whole; null keeps it.',
      }),
    }),
  }),
  { body: userInputChangesBody, members: { settings: { isSpread: true } } },
);

function newMembers(t: InputBuilder) {
  return {
    variableName: t.string({ description: describe(newUserInputBody, 'variableName') }),
    label: t.string({ description: describe(newUserInputBody, 'label') }),
    showOnChatCreate: t.boolean({ required: false, description: describe(newUserInputBody, 'showOnChatCreate') }),
    orderIndex: t.int({ required: false, description: describe(newUserInputBody, 'orderIndex') }),
  };
}
function changedMembers(t: InputBuilder) {
  return {
    variableName: t.string({ required: false, description: describe(userInputChangesBody, 'variableName') }),
    label: t.string({ required: false, description: describe(userInputChangesBody, 'label') }),
    showOnChatCreate: t.boolean({ required: false, description: describe(userInputChangesBody, 'showOnChatCreate') }),
    orderIndex: t.int({ required: false, description: describe(userInputChangesBody, 'orderIndex') }),
  };
}

addPartOperations({
  type: UserInputResource,
  idKind: 'agentUserInput',
  operations: userInputOperations,
  scopes: { read: 'AGENTS:READ', write: 'AGENTS:WRITE' },
  names: { one: 'userInput', list: 'userInputs', mutation: 'UserInput' },
  noun: 'user input',
  inputs: { create: CreateUserInputInput, update: UpdateUserInputInput },
  descriptions: {
    list: 'The variables of an agent in the order they are asked; at most 50.',
    one: 'One variable of an agent. Null when there is none or the caller may not see the agent.',
    create: 'Gives an agent a variable, for who may edit it.',
    newInput: 'The members of the new user input.',
    update: 'Changes a variable of an agent, for who may edit it. Chats that began with a value keep it.',
    delete: 'Removes a variable from its agent. Returns the removed variable.',
  },
});
