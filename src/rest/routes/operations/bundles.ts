import { bundleReply } from '../../../wire/agents/bundles.ts';
import type { DeclaredRoute } from '../../route.ts';

const example = {
  bundle: {
    version: '1.0',
    exportedAt: '2026-11-21T09:30:00.000Z',
    source: { apiBaseUrl: 'https://parley.example.com', orgId: 'org_01ke2s7d4vfzgv0b4xw2q9a1bc' },
    agent: {
      name: 'Ada',
      description: 'Answers questions about our handbook.',
      instructions: 'Answer from the handbook, for {{department}}.',
      src: 'https://example.com/ada.png',
      modelId: 'parley/offline',
      visibility: 'PRIVATE',
    },
    tools: [
      {
        name: 'get_weather',
        type: 'API_FUNCTION',
        data: {
          description: 'Tells the weather of a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          method: 'GET',
          url: 'https://api.example.com/weather/{city}',
          headers: { 'X-Api-Key': '{{secret:WEATHER_API_KEY}}' },
        },
      },
    ],
    userInputs: [{ variableName: 'department', type: 'SHORT_TEXT', label: 'Your department', configuration: { required: true } }],
    flows: [],
    dataSources: [
      { name: 'Prices', type: 'API', refreshPeriod: 'NEVER', data: { services: [{ name: 'Repair', priceEuro: 15 }] } },
    ],
    skills: [{ name: 'Refunds', description: 'Money back', content: 'Ask for the order number.', enabled: true }],
    requiredSecrets: [{ key: 'WEATHER_API_KEY', description: 'Of api.example.com', secretType: 'apiKey' }],
  },
  name: 'Ada the second',
  secrets: { WEATHER_API_KEY: 'the key itself' },
};

export const agentBundleRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'importAgent',
    method: 'post',
    path: '/api/v1/ais/import',
    summary: 'Create agent from bundle',
    description:
      'The whole bundle is checked first; then all of it is written, or nothing. `warnings` say what is not as it was. With `dryRun=true` nothing is written and `aiId` is null.',
    tag: 'Agents',
    spec: 'Create agent from bundle',
    document: `mutation ($input: ImportAgentInput!, $dryRun: Boolean) {
      importAgent(input: $input, dryRun: $dryRun) { aiId: agentId warnings }
    }`,
    query: { dryRun: 'Only reports what would become of the bundle.' },
    body: 'input',
    example,
  },
  {
    operationId: 'exportAgent',
    method: 'get',
    path: '/api/v1/ais/{aiId}/export',
    summary: 'Export agent',
    description:
      'For everybody who may use an agent of the own organization; INSTANCE keys across organizations. Secrets are references, listed in `requiredSecrets`. The owner, editors and administrators get the agent whole; for others instructions, tools, flows and skills are left out, as in every read. Skills need the scope SKILLS:READ, data sources DATA_SOURCES:READ. `warnings` and the header `x-parley-warnings` name what is left out; a whole bundle has neither.',
    tag: 'Agents',
    spec: 'Export agent',
    document: `query ($aiId: ID!, $includeDataSources: Boolean, $includeEvaluation: Boolean) {
      agentBundle(agentId: $aiId, includeDataSources: $includeDataSources, includeEvaluation: $includeEvaluation) { file }
    }`,
    reply: bundleReply,
    terms: { dataSourceIds: 'String' },
    query: {
      includeDataSources:
        'Whether its knowledge comes along. Default: true for a key with the scope DATA_SOURCES:READ; another may not ask for it.',
      includeEvaluation: 'Whether its datasets and its gate come along. Default: for the owner, editors and administrators.',
      dataSourceIds: 'Ids separated by commas: only these data sources.',
    },
  },
];
