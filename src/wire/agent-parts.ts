import { z } from 'zod';
import { agentToolTypes, userInputTypes } from '../entities/agents/part.ts';
import { body, readAs } from './ground/body.ts';
import { described, flag, oneOfTexts, text } from './ground/schema.ts';

/** The bodies of requests for parts of agents, where REST has another form than GraphQL. */

/** Members of every part of an agent in replies, which clients send back with what they changed. */
export const partMembers = ['id', 'createdAt', 'updatedAt', 'agentId', 'aiId', 'warnings'] as const;

const configurationType = 'UserInputConfigurationInput';
const userInputType = readAs('UserInputType', oneOfTexts('The type of its value.', userInputTypes));
const orderIndex = readAs('Int', z.int());

export const newUserInputBody = body(
  'CreateUserInputInput',
  'A new variable of an agent.',
  {
    variableName: text('Unique in its agent: a letter or _, then at most 63 letters, digits or _.'),
    label: text('What the user is asked; 1 to 500 characters.'),
    showOnChatCreate: flag('Whether it is asked when a chat is created. Default true.').nullish(),
    orderIndex: orderIndex.nullish().meta({ description: 'From 0 to 1,000,000; lower is asked first. Default 0.' }),
    type: userInputType,
    configuration: readAs(configurationType, z.unknown().meta({ description: 'How it is asked.' })).nullish(),
  },
  { takenMembers: partMembers },
);

export const userInputChangesBody = body(
  'UpdateUserInputInput',
  'Changes of a variable: absent members are kept.',
  {
    variableName: text('Unique in its agent.').nullish(),
    label: text('1 to 500 characters.').nullish(),
    showOnChatCreate: flag('Whether it is asked when a chat is created.').nullish(),
    orderIndex: orderIndex.nullish().meta({ description: 'From 0 to 1,000,000; lower is asked first.' }),
    type: userInputType.nullish(),
    configuration: readAs(configurationType, z.unknown().meta({ description: 'Replaced whole; null empties it.' })).nullish(),
  },
  { takenMembers: partMembers },
);

export const newToolBody = body(
  'CreateAgentToolInput',
  'A new tool of an agent.',
  {
    name: text('Unique in its agent: a letter or _, then at most 63 letters, digits, _ or -.'),
    type: readAs('AgentToolType', oneOfTexts('Its type.', agentToolTypes)),
    data: described({
      description:
        'An object of at most 64,000 bytes. API_FUNCTION: `{description, parameters, method, url, headers, query, body, auth, idempotent, requireApproval}`; `idempotent: true` says that a repeated call has no further effect; in url, headers, query and body, `{name}` is an argument and `{{secret:KEY}}` a secret. Secrets anywhere in it are moved into the vault. CLIENT_FUNCTION: `{description, parameters}`. MCP_SERVER: `{description, url, headers, auth, server, allowedTools, requireApproval}`. `requireApproval: true` makes every call wait for approval. Other members are refused. JSON: its form depends on the type of the tool.',
    }),
  },
  { takenMembers: [...partMembers, 'description'] },
);

export const toolChangesBody = body(
  'UpdateAgentToolInput',
  'Changes of a tool: absent members are kept.',
  {
    name: text('Unique in its agent.').nullish(),
    data: described({ description: 'Replaced whole. JSON: as in CreateAgentToolInput.' }).nullish(),
  },
  { takenMembers: [...partMembers, 'description', 'type'] },
);
