import { z } from 'zod';
import {
  type AgentTool,
  type AgentUserInput,
  agentToolTypes,
  type FlowVersion,
  userInputTypes,
} from '../../entities/agents/part.ts';
import { body, maybe, ofType, readAs } from '../ground/body.ts';
import { described, flag, int32, list, oneOfTexts, text } from '../ground/schema.ts';
import { resolvedShape, shapedType } from '../ground/shape.ts';

/** The bodies of requests for parts of agents, where REST has another form than GraphQL. */

/** Members of every part of an agent in replies, which clients send back with what they changed. */
export const partMembers = ['id', 'createdAt', 'updatedAt', 'agentId', 'aiId', 'warnings'] as const;

export const userInputConfigurationBody = body(
  'UserInputConfigurationInput',
  'How a variable is asked, and what values it takes.',
  {
    required: flag('Whether a chat cannot begin without it.').nullish(),
    options: list('SELECT: the texts to choose from, at most 200.', z.string()).nullish(),
    min: ofType('PlainValue', 'NUMBER and DATE: the least value; a day is a text.').nullish(),
    max: ofType('PlainValue', 'NUMBER and DATE: the greatest value.').nullish(),
    maxLength: maybe('SHORT_TEXT and LONG_TEXT: most characters.', readAs('Int', z.int())),
    default: ofType('PlainValue', 'Its value when the user gives none.').nullish(),
    placeholder: text('Shown where the value is written; at most 500 characters.').nullish(),
  },
);
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
    configuration: maybe('How it is asked.', userInputConfigurationBody),
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
    configuration: maybe('Replaced whole; null empties it.', userInputConfigurationBody),
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

export const flowVersionBody = body('FlowVersionInput', 'One version of a flow.', {
  version: readAs('Int', z.int().meta({ description: 'From 1; each number once.' })),
  active: flag('Whether this version is the active one. Default false.').nullish(),
  description: text('At most 20,000 characters.').nullish(),
  data: described({
    description: '`{steps: [{id, type, …}]}`: at most 200 steps, 64,000 bytes. JSON: a step has the members of its type.',
  }),
});

/** JSON, as it is stored. */
export const toolShapes = {
  data: resolvedShape(
    'AgentTool.data',
    described({
      description:
        'How it works. Secrets are references: `{{secret:KEY}}`. Null for callers who may use the agent but not edit it.',
    }),
    (settings: Pick<AgentTool, 'data'> | null) => settings?.data ?? null,
  ),
};
export const userInputShapes = {
  configuration: resolvedShape(
    'AgentUserInput.configuration',
    described({
      description: '`{required, options, min, max, maxLength, default, placeholder}`, as far as they are set.',
    }),
    ({ configuration }: AgentUserInput) => configuration,
  ),
};

const shownFlowVersion = shapedType('AgentFlowVersion', 'One version of a flow.', {
  version: int32('Its number.'),
  active: flag('Whether this version is the active one; at most one is.'),
  description: text('What changed in this version.'),
  data: described({
    description:
      '`{steps: [{id, type, …}]}` in order; types: retrieve, prompt, tool, model, branch. Branches lead to later steps only.',
  }),
});
export const flowShapes = {
  versions: resolvedShape(
    'AgentFlow.versions',
    list('By number; at most 100. Null for callers who may use the agent but not edit it.', shownFlowVersion).nullable(),
    (versions: readonly FlowVersion[] | null) =>
      versions?.map(({ version, active, description, data }) => ({ version, active, description, data })) ?? null,
  ),
};
