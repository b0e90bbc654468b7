import { checkAgentGrants } from '../../../domain/agents/grants.ts';
import type { DeclaredRoute } from '../../route.ts';

const path = '/api/v1/ais/{aiId}/grants';
const fields = 'agentId connections memories agents things { grantedAt connectionId memories agentId }';

const rows: readonly Omit<DeclaredRoute, 'tag'>[] = [
  {
    operationId: 'listGrants',
    method: 'get',
    path: '/api/v1/grants',
    summary: 'List grants',
    description: 'The AIs that may open something of the caller, with what they may open; at most 500.',
    terms: { whole: true },
    document: `query { grants { nodes { ${fields} } } }`,
    wrap: 'data',
  },
  {
    operationId: 'getAgentGrants',
    method: 'get',
    path,
    summary: 'Get the grants of an AI',
    description: 'What of the caller the AI may open when the caller asks it.',
    document: `query ($aiId: ID!) { agentGrants(agentId: $aiId) { ${fields} } }`,
  },
  {
    operationId: 'putAgentGrants',
    method: 'put',
    path,
    summary: 'Grant to an AI',
    description:
      'Says what of the caller the AI may open when the caller asks it: MCP connections, the memories, and AIs. It replaces what stood before.',
    document: `mutation ($aiId: ID!, $input: AgentGrantsInput!) { putAgentGrants(agentId: $aiId, input: $input) { ${fields} } }`,
    body: 'input',
    checkBody: checkAgentGrants,
    example: { connections: [], memories: 'write', agents: [] },
  },
  {
    operationId: 'deleteAgentGrants',
    method: 'delete',
    path,
    summary: 'End the grants of an AI',
    description: 'Answers what was granted.',
    document: `mutation ($aiId: ID!) { deleteAgentGrants(agentId: $aiId) { ${fields} } }`,
  },
];

export const grantRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Grants' }));
