import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { make } = await withService();
const ann = await make.person();

const mutation = `mutation ($agentId: ID!, $dataSourceId: ID!) {
  detachDataSource(agentId: $agentId, dataSourceId: $dataSourceId) { agentId dataSourceId agent { sources { nodes { id } } } dataSource { usageCount } }
}`;

describe('detachDataSource', () => {
  it('takes a source from an agent, keeps it, and lets it be attached again', async () => {
    const agent = await make.agent({ owner: ann });
    const kept = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { a: 1 } });
    const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { b: 2 } });
    const data = await ann.ask(mutation, { agentId: agent.id, dataSourceId: source.id });
    expect(data.detachDataSource).toEqual({
      agentId: agent.id,
      dataSourceId: source.id,
      agent: { sources: { nodes: [{ id: kept.id }] } },
      dataSource: { usageCount: 0 },
    });
    expect((await ann.post(`/api/v1/ais/${agent.id}/data-sources`, { dataSourceId: source.id })).status).toBe(200);
    const { data: after } = await ann.graphql('query ($id: ID!) { agent(id: $id) { sources { nodes { id } } } }', {
      id: agent.id,
    });
    expect(after.agent.sources.nodes.map(({ id }: { id: string }) => id)).toContain(source.id);
  });

  it('leaves a source as it is that the agent does not have', async () => {
    const [agent, other] = [await make.agent({ owner: ann }), await make.agent({ owner: ann })];
    const source = await make.apiDataSource({ owner: ann, agentId: other.id, data: { a: 1 } });
    const { data } = await ann.graphql(mutation, { agentId: agent.id, dataSourceId: source.id });
    expect(data.detachDataSource.dataSource.usageCount).toBe(1);
  });
});
