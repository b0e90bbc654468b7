import { flowShapes, toolShapes, userInputShapes } from '../../../wire/agents/parts.ts';
import type { DeclaredRoute } from '../../route.ts';

interface PartRows {
  /** The kind in paths: `tools`. */
  readonly path: string;
  /** The path variable of one: `toolId`. */
  readonly idName: string;
  /** The kind in summaries: `tool`. */
  readonly noun: string;
  readonly tag: string;
  /** GraphQL's name of one (`agentTool`), of the list, and of the noun in mutations and inputs (`AgentTool`). */
  readonly one: string;
  readonly list: string;
  readonly mutation: string;
  readonly fields: string;
  readonly shapes?: DeclaredRoute['shapes'];
  readonly create: Readonly<Record<string, unknown>>;
  readonly update: Readonly<Record<string, unknown>>;
  /** Members that callers who may only use the agent do not see. */
  readonly hides: string;
}

const partFields = 'id createdAt updatedAt';
const warningFields = 'warnings { code message param }';

const apiFunction = {
  description: 'Tells the weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  method: 'GET',
  url: 'https://api.example.com/weather/{city}',
  headers: { Accept: 'application/json' },
  query: { units: 'metric' },
  auth: { type: 'apiKey', in: 'header', name: 'X-Api-Key', secretKey: 'WEATHER_API_KEY' },
};
const flowVersions = [
  {
    version: 1,
    active: true,
    description: 'Looks things up first',
    data: {
      steps: [
        { id: 'find', type: 'retrieve', query: '{{prompt}}', limit: 5 },
        { id: 'answer', type: 'model', prompt: 'Answer from what was found.' },
      ],
    },
  },
];

const kinds: readonly PartRows[] = [
  {
    path: 'tools',
    idName: 'toolId',
    noun: 'tool',
    tag: 'Agent tools',
    one: 'agentTool',
    list: 'agentTools',
    mutation: 'AgentTool',
    fields: `${partFields} name description type data: settings { __typename } ${warningFields}`,
    shapes: toolShapes,
    create: { name: 'get_weather', type: 'API_FUNCTION', data: apiFunction },
    update: { name: 'get_weather', data: apiFunction },
    hides: 'data',
  },
  {
    path: 'user-inputs',
    idName: 'userInputId',
    noun: 'user input',
    tag: 'Agent user inputs',
    one: 'userInput',
    list: 'userInputs',
    mutation: 'UserInput',
    fields: `${partFields} variableName type label configuration: settings { __typename } showOnChatCreate orderIndex ${warningFields}`,
    shapes: userInputShapes,
    create: {
      variableName: 'department',
      type: 'SELECT',
      label: 'Which department are you in?',
      configuration: { required: true, options: ['Sales', 'Support'] },
      showOnChatCreate: true,
      orderIndex: 0,
    },
    update: { label: 'Your department' },
    hides: '',
  },
  {
    path: 'skills',
    idName: 'skillId',
    noun: 'skill',
    tag: 'Agent skills',
    one: 'skill',
    list: 'skills',
    mutation: 'Skill',
    fields: `${partFields} name description content enabled ${warningFields}`,
    create: {
      name: 'Refunds',
      description: 'When somebody wants money back',
      content: 'Ask for the order number.',
      enabled: true,
    },
    update: { enabled: false },
    hides: 'content',
  },
  {
    path: 'flows',
    idName: 'flowId',
    noun: 'flow',
    tag: 'Agent flows',
    one: 'flow',
    list: 'flows',
    mutation: 'Flow',
    fields: `${partFields} name enabled versions { __typename } ${warningFields}`,
    shapes: flowShapes,
    create: { name: 'Look up, then answer', enabled: true, versions: flowVersions },
    update: { enabled: false, versions: flowVersions },
    hides: 'versions',
  },
  {
    path: 'secrets',
    idName: 'secretId',
    noun: 'secret',
    tag: 'Agent secrets',
    one: 'agentSecret',
    list: 'agentSecrets',
    mutation: 'AgentSecret',
    fields: `${partFields} key description secretType hasValue origins`,
    create: { key: 'WEATHER_API_KEY', description: 'Of api.example.com', secretType: 'apiKey', value: 'the key itself' },
    update: { value: 'another key' },
    hides: '',
  },
];

/** The parts of agents: five kinds, each with the same five operations. */
export const agentPartRoutes: readonly DeclaredRoute[] = kinds.flatMap(makeRows);

function makeRows(kind: PartRows): readonly DeclaredRoute[] {
  const { idName, noun, tag, one, list, mutation, fields, shapes } = kind;
  const shown = shapes === undefined ? {} : { shapes };
  const base = `/api/v1/ais/{aiId}/${kind.path}`;
  const single = `${base}/{${idName}}`;
  const hiddenNote =
    kind.hides === '' ? 'For who may use the AI.' : `\`${kind.hides}\` is null for callers who may use the AI but not edit it.`;
  const editors = `For who may edit the AI.${noun === 'secret' ? ' Values are never shown.' : ''}`;
  const read = noun === 'secret' ? editors : hiddenNote;
  return [
    {
      operationId: `list${mutation}s`,
      method: 'get',
      path: base,
      summary: `List ${noun}s of an AI`,
      description: read,
      tag,
      document: `query ($aiId: ID!) { ${list}(agentId: $aiId) { ${fields} } }`,
      ...shown,
      wrap: 'data',
    },
    {
      operationId: `create${mutation}`,
      method: 'post',
      path: base,
      summary: `Create ${noun}`,
      description: editors,
      tag,
      document: `mutation ($aiId: ID!, $input: Create${mutation}Input!) { create${mutation}(agentId: $aiId, input: $input) { ${fields} } }`,
      ...shown,
      body: 'input',
      example: kind.create,
    },
    {
      operationId: `get${mutation}`,
      method: 'get',
      path: single,
      summary: `Get ${noun}`,
      description: read,
      tag,
      document: `query ($aiId: ID!, $${idName}: ID!) { ${one}(agentId: $aiId, id: $${idName}) { ${fields} } }`,
      ...shown,
    },
    {
      operationId: `update${mutation}`,
      method: 'patch',
      path: single,
      summary: `Update ${noun}`,
      description: `${editors} Absent members are kept.`,
      tag,
      document: `mutation ($aiId: ID!, $${idName}: ID!, $input: Update${mutation}Input!) {
        update${mutation}(agentId: $aiId, id: $${idName}, input: $input) { ${fields} }
      }`,
      ...shown,
      body: 'input',
      example: kind.update,
    },
    {
      operationId: `delete${mutation}`,
      method: 'delete',
      path: single,
      summary: `Delete ${noun}`,
      description: `${editors} Answers it as it was.`,
      tag,
      document: `mutation ($aiId: ID!, $${idName}: ID!) { delete${mutation}(agentId: $aiId, id: $${idName}) { ${fields} } }`,
      ...shown,
    },
  ];
}
