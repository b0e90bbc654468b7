import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

/** GraphQL gives each step of a flow a type and an input of its own; REST has the same steps as JSON. */
const { make } = await withService('web');

const ann = await make.person({ name: 'Ann' });

const createFlow = `mutation ($agentId: ID!, $input: CreateFlowInput!) {
  createFlow(agentId: $agentId, input: $input) { id versions { ...Version } }
}`;
const version = `fragment Version on AgentFlowVersion {
  version
  steps {
    __typename stepId
    ... on RetrieveStep { query dataSourceIds dataSources { name } limit }
    ... on PromptStep { text }
    ... on ToolStep { tool arguments }
    ... on ModelStep { modelId prompt }
    ... on BranchStep { condition { left operator right } onTrue onFalse }
  }
}`;

async function create(agentId: string, versions: readonly object[]) {
  return ann.graphql(`${createFlow} ${version}`, { agentId, input: { name: 'Support', versions } });
}

describe('the steps of a flow', () => {
  it('are written by their types, shown by their types, and stored as REST has them', async () => {
    const agent = await make.agent({ owner: ann });
    const source = await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Harbours', data: {} });
    const steps = [
      { retrieve: { stepId: 'found', query: 'harbour {{input}}', dataSourceIds: [source.id], limit: 5 } },
      { tool: { stepId: 'order', tool: 'get_order', arguments: { customer: '{{input}}' } } },
      {
        branch: {
          stepId: 'open',
          condition: { left: '{{steps.order.output}}', operator: 'NOT_CONTAINS', right: 'shut' },
          onTrue: 'answer',
          onFalse: 'closed',
        },
      },
      { prompt: { stepId: 'closed', text: 'It is closed.' } },
      { model: { stepId: 'answer', modelId: 'openai/test-model', prompt: '{{steps.found.output}}' } },
      { model: {} },
    ];
    const { data, errors } = await create(agent.id, [{ version: 1, active: true, steps }]);
    expect(errors).toBeUndefined();
    expect(data.createFlow.versions[0].steps).toEqual([
      {
        ...{ __typename: 'RetrieveStep', stepId: 'found', query: 'harbour {{input}}', limit: 5 },
        ...{ dataSourceIds: [source.id], dataSources: [{ name: 'Harbours' }] },
      },
      { __typename: 'ToolStep', stepId: 'order', tool: 'get_order', arguments: { customer: '{{input}}' } },
      {
        ...{ __typename: 'BranchStep', stepId: 'open', onTrue: 'answer', onFalse: 'closed' },
        condition: { left: '{{steps.order.output}}', operator: 'NOT_CONTAINS', right: 'shut' },
      },
      { __typename: 'PromptStep', stepId: 'closed', text: 'It is closed.' },
      { __typename: 'ModelStep', stepId: 'answer', modelId: 'openai/test-model', prompt: '{{steps.found.output}}' },
      { __typename: 'ModelStep', stepId: null, modelId: null, prompt: '{{input}}' },
    ]);
    const { body } = await ann.get(`/api/v1/ais/${agent.id}/flows/${data.createFlow.id}`);
    expect(body.versions[0].data).toEqual({
      steps: [
        { type: 'retrieve', id: 'found', query: 'harbour {{input}}', dataSourceIds: [source.id], limit: 5 },
        { type: 'tool', id: 'order', tool: 'get_order', arguments: { customer: '{{input}}' } },
        {
          ...{ type: 'branch', id: 'open', onTrue: 'answer', onFalse: 'closed' },
          condition: { left: '{{steps.order.output}}', operator: 'notContains', right: 'shut' },
        },
        { type: 'prompt', id: 'closed', text: 'It is closed.' },
        { type: 'model', id: 'answer', modelId: 'openai/test-model', prompt: '{{steps.found.output}}' },
        { type: 'model' },
      ],
    });
  });

  it('take null where a member of a step is absent, as replies have it', async () => {
    const agent = await make.agent({ owner: ann });
    const steps = [
      { retrieve: { stepId: null, query: null, dataSourceIds: null, limit: null } },
      { model: { stepId: 'end', modelId: null, prompt: null } },
    ];
    const { data, errors } = await create(agent.id, [{ version: 1, steps }]);
    expect(errors).toBeUndefined();
    expect(data.createFlow.versions[0].steps).toEqual([
      { __typename: 'RetrieveStep', stepId: null, query: '{{input}}', dataSourceIds: null, dataSources: null, limit: null },
      { __typename: 'ModelStep', stepId: 'end', modelId: null, prompt: '{{input}}' },
    ]);
  });

  it('are refused by REST where a name is null', async () => {
    const agent = await make.agent({ owner: ann });
    const versions = [{ version: 1, data: { steps: [{ id: null, type: 'prompt', text: 'x' }] } }];
    const { status, body } = await ann.post(`/api/v1/ais/${agent.id}/flows`, { name: 'Main', versions });
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'versions[0].data.steps[0].id' });
  });

  it.each([
    ['a name', { prompt: { stepId: '1 2', text: 'x' } }, 'prompt.stepId'],
    ['a number', { retrieve: { limit: 51 } }, 'retrieve.limit'],
    ['a text', { prompt: { text: ' ' } }, 'prompt.text'],
    [
      'a target that is not there',
      { branch: { condition: { left: 'a', operator: 'IS_EMPTY' }, onTrue: 'gone' } },
      'branch.onTrue',
    ],
    ['a template that is not there', { model: { prompt: '{{nothing}}' } }, 'model.prompt'],
  ])('are refused at their place in the document: %s', async (_case, step, path) => {
    const agent = await make.agent({ owner: ann });
    const { errors } = await create(agent.id, [{ version: 1, steps: [step] }]);
    expect(errors?.[0].extensions.faults.map((fault: { path: string }) => fault.path)).toEqual([
      `input.versions.0.steps.0.${path}`,
    ]);
  });

  it('are hidden from a caller who may use the agent but not edit it', async () => {
    const organization = await make.organization();
    const [owner, reader] = [await make.person({ organization }), await make.person({ organization })];
    const agent = await make.agent({ owner, visibility: 'ORGANIZATION' });
    const versions = [{ version: 1, data: { steps: [{ type: 'prompt', text: 'hush' }] } }];
    const { body } = await owner.post(`/api/v1/ais/${agent.id}/flows`, { name: 'Main', versions });
    const query = `query ($id: ID!) { flow(id: $id) { name versions { ...Version } } } ${version}`;
    const { data } = await reader.graphql(query, { id: body.id });
    expect(data.flow).toEqual({ name: 'Main', versions: null });
  });
});
