import type { DeclaredRoute } from '../../route.ts';

const organizationPath = '/api/v1/admin/guard';
const agentPath = '/api/v1/ais/{aiId}/guard';
const fields = 'agentId updatedAt kinds patterns { name pattern lengthMax } putsBack modelId';
const example = { kinds: ['EMAIL', 'PHONE'], patterns: [{ name: 'ORDER', pattern: 'A-[0-9]{5}', lengthMax: 7 }], putsBack: true };

const rows: readonly Omit<DeclaredRoute, 'tag'>[] = [
  {
    operationId: 'getOrganizationGuard',
    method: 'get',
    path: organizationPath,
    summary: 'Get the guard of the organization',
    description: 'What is masked in all runs of the organization.',
    document: `query { organizationGuard { ${fields} } }`,
  },
  {
    operationId: 'setOrganizationGuard',
    method: 'put',
    path: organizationPath,
    summary: 'Set the guard of the organization',
    description: 'It replaces what stood before: absent members mask nothing. It holds for runs that begin. For administrators.',
    document: `mutation ($input: GuardInput!) { setOrganizationGuard(input: $input) { ${fields} } }`,
    body: 'input',
    example,
  },
  {
    operationId: 'listGuardCounts',
    method: 'get',
    path: `${organizationPath}/counts`,
    summary: 'Count what was masked',
    description: 'How many values the runs of the organization have masked, by kind; a value counts once for each run.',
    terms: { whole: true },
    document: 'query ($since: DateTime!, $until: DateTime!) { guardCounts(since: $since, until: $until) { kind count } }',
    query: { since: 'The first day, in UTC.', until: 'The last day, in UTC; at most 400 days later.' },
    wrap: 'data',
  },
  {
    operationId: 'getAgentGuard',
    method: 'get',
    path: agentPath,
    summary: 'Get the guard of an AI',
    description: 'What is masked in its runs, besides what its organization masks. For who may edit it.',
    document: `query ($aiId: ID!) { agentGuard(agentId: $aiId) { ${fields} } }`,
  },
  {
    operationId: 'setAgentGuard',
    method: 'put',
    path: agentPath,
    summary: 'Set the guard of an AI',
    description: 'It replaces what stood before: absent members mask nothing. It holds for runs that begin. For who may edit it.',
    document: `mutation ($aiId: ID!, $input: GuardInput!) { setAgentGuard(agentId: $aiId, input: $input) { ${fields} } }`,
    body: 'input',
    example,
  },
];

export const guardRoutes: readonly DeclaredRoute[] = rows.map((row) => ({ ...row, tag: 'Guards' }));
