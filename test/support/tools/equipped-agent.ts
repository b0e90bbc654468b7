import type { Person } from '../make.ts';
import type { TestBench } from '../service.ts';

export interface EquippedAgent {
  readonly id: string;
  /** What a model may call of it in `execute`, in order. */
  readonly functions: readonly string[];
}

/** Makes an agent that brings a tool of every kind: its own, of a server, of the service, another agent to ask, and skills to read. */
export async function equippedAgent(
  { make }: Pick<TestBench, 'make'>,
  owner: Person,
  places: { readonly apiUrl: string; readonly mcpUrl: string },
): Promise<EquippedAgent> {
  const asked = await make.agent({ owner, name: 'Travel desk' });
  const enabledTools = [
    ...[{ type: 'python' }, { type: 'deep_research' }, { type: 'file_search' }, { type: 'memory' }],
    { type: 'subagent', agents: [asked.id] },
  ];
  const agent = await make.agent({ owner, modelId: 'openai/test-model', enabledTools });
  const path = `/api/v1/ais/${agent.id}`;
  const parameters = { type: 'object', properties: {} };
  const parts = [
    ['tools', { name: 'order', type: 'API_FUNCTION', data: { method: 'POST', url: `${places.apiUrl}/orders`, parameters } }],
    ['tools', { name: 'show_map', type: 'CLIENT_FUNCTION', data: { description: 'Shows a map', parameters } }],
    ['tools', { name: 'tickets', type: 'MCP_SERVER', data: { url: places.mcpUrl } }],
    ['skills', { name: 'Pirate talk', description: 'For pirates', content: `Arr, matey. ${'Arr, matey. '.repeat(300)}` }],
  ] as const;
  for (const [kind, part] of parts) {
    const { status, body } = await owner.post(`${path}/${kind}`, part);
    if (status !== 200) throw new Error(`not made: ${status} ${JSON.stringify(body)}`);
  }
  return {
    id: agent.id,
    functions: [
      'python',
      'deep_research',
      'search_knowledge',
      'remember',
      'recall',
      'forget',
      'ask_Travel_desk',
      'order',
      'show_map',
      'use_skill',
    ],
  };
}
