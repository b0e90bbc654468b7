import { expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { make } = await withService('model', { env: { MCP_PUBLIC_AGENTS: 'on' } });

it('MCP_PUBLIC_AGENTS lists agents of other organizations behind the own ones, with a piece of the id', async () => {
  const eve = await make.person();
  const agent = { owner: eve, name: 'Helper', visibility: 'ANYONE_WITH_LINK' };
  const { id } = await make.agent(agent);
  await eve.patch(`/api/v1/ais/${id}`, { listInPublicCatalog: true });
  const ann = await make.person();
  await make.agent({ owner: ann, name: 'Helper' });
  const headers = { accept: 'application/json, text/event-stream' };
  const { body } = await ann.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
  const names = body.result.tools.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['search_knowledge', 'ask_helper', `ask_helper_${id.slice(-6)}`]);
});
