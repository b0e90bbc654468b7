import { describe, expect, it } from 'vitest';
import { operationScopes } from '../../../src/domain/ground/access/operation-scopes.ts';
import { withService } from '../../support/service.ts';

/**
 * The approval of an organization covers what reaches the model. Every mutation stands in one of two lists: it ends the approval of the agent that it
 * changes, or it reaches no model. A mutation that nobody has put into a list fails the first test.
 */
const { make } = await withService();

const owner = await make.person();
const admin = await make.person({ organization: { id: owner.orgId, tenantId: owner.tenantId }, role: 'ADMIN' });

type Change = (agent: string) => Promise<unknown>;
const at = (agent: string, part: string) => `/api/v1/ais/${agent}/${part}`;
const tool = {
  name: 'weather',
  type: 'CLIENT_FUNCTION',
  data: { description: 'Tells the weather', parameters: { type: 'object' } },
};
const skill = { name: 'Refunds', description: 'Money back', content: 'Ask for the order number.' };
const flow = {
  name: 'Look up',
  enabled: true,
  versions: [{ version: 1, active: true, description: '', data: { steps: [{ type: 'model', prompt: '{{input}}' }] } }],
};
const asked = {
  variableName: 'department',
  type: 'SHORT_TEXT',
  label: 'Department',
  configuration: {},
  showOnChatCreate: true,
  orderIndex: 0,
};

/** A part that is there before the approval, then changed or deleted. */
async function part(agent: string, kind: string, body: object): Promise<string> {
  const reply = await owner.post(at(agent, kind), body);
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
  return reply.body.id;
}
const source = async (agent: string) => (await make.apiDataSource({ owner, agentId: agent, data: { a: 'b' } })).id as string;

/** Prepares an agent, and answers the change that must end its approval. */
const reaching: Readonly<Record<string, (agent: string) => Promise<Change>>> = {
  updateAgent: async () => (agent) => owner.patch(`/api/v1/ais/${agent}`, { instructions: 'Do something else.' }),
  'updateAgent, its enabledTools': async () => (agent) =>
    owner.patch(`/api/v1/ais/${agent}`, { enabledTools: [{ type: 'memory' }] }),
  'updateAgent, by an administrator': async () => (agent) =>
    admin.patch(`/api/v1/ais/${agent}`, { options: { temperature: [1] } }),
  rollbackAgent: async (id) => {
    await owner.patch(`/api/v1/ais/${id}`, { instructions: 'Do something else.' });
    const document = 'mutation ($id: ID!) { rollbackAgent(id: $id, version: 1) { warnings { code } } }';
    return (agent) => owner.graphql(document, { id: agent });
  },
  endCanary: async (id) => {
    await owner.patch(`/api/v1/ais/${id}`, { instructions: 'Do something else.' });
    const document = 'mutation ($id: ID!) { endCanary(id: $id, keep: CANARY) { warnings { code } } }';
    return async (agent) => {
      await owner.graphql('mutation ($id: ID!) { startCanary(id: $id, version: 1, percent: 5) { id } }', { id: agent });
      return owner.graphql(document, { id: agent });
    };
  },
  createAgentTool: async () => (agent) => owner.post(at(agent, 'tools'), tool),
  updateAgentTool: async (id) => {
    const one = await part(id, 'tools', tool);
    return (agent) => owner.patch(at(agent, `tools/${one}`), { data: { ...tool.data, description: 'Lies about it' } });
  },
  deleteAgentTool: async (id) => {
    const one = await part(id, 'tools', tool);
    return (agent) => owner.delete(at(agent, `tools/${one}`));
  },
  createSkill: async () => (agent) => owner.post(at(agent, 'skills'), skill),
  updateSkill: async (id) => {
    const one = await part(id, 'skills', skill);
    return (agent) => owner.patch(at(agent, `skills/${one}`), { content: 'Give all the money back.' });
  },
  deleteSkill: async (id) => {
    const one = await part(id, 'skills', skill);
    return (agent) => owner.delete(at(agent, `skills/${one}`));
  },
  createFlow: async () => (agent) => owner.post(at(agent, 'flows'), flow),
  updateFlow: async (id) => {
    const one = await part(id, 'flows', flow);
    const versions = [{ ...flow.versions[0], data: { steps: [{ type: 'model', prompt: 'Ignore {{input}}' }] } }];
    return (agent) => owner.patch(at(agent, `flows/${one}`), { versions });
  },
  deleteFlow: async (id) => {
    const one = await part(id, 'flows', flow);
    return (agent) => owner.delete(at(agent, `flows/${one}`));
  },
  createUserInput: async () => (agent) => owner.post(at(agent, 'user-inputs'), asked),
  updateUserInput: async (id) => {
    const one = await part(id, 'user-inputs', asked);
    return (agent) => owner.patch(at(agent, `user-inputs/${one}`), { configuration: { default: 'Sales' } });
  },
  deleteUserInput: async (id) => {
    const one = await part(id, 'user-inputs', asked);
    return (agent) => owner.delete(at(agent, `user-inputs/${one}`));
  },
  addDataSource: async () => (agent) => owner.post(at(agent, 'data-sources/api'), { name: 'Prices', data: { a: 1 } }),
  attachDataSource: async () => {
    const one = await source((await make.agent({ owner })).id);
    return (agent) => owner.post(at(agent, 'data-sources'), { dataSourceId: one });
  },
  detachDataSource: async (id) => {
    const one = await source(id);
    return (agent) =>
      owner.graphql(
        'mutation ($agent: ID!, $id: ID!) { detachDataSource(agentId: $agent, dataSourceId: $id) { warnings { code } } }',
        { agent, id: one },
      );
  },
  updateDataSource: async () => {
    const one = await source((await make.agent({ owner })).id);
    return (agent) => owner.patch(`/api/v1/data-sources/${one}`, { ais: [agent] });
  },
  bulkDeleteDataSources: async (id) => {
    const one = await source(id);
    return (agent) =>
      owner.graphql(
        'mutation ($agent: ID!, $ids: [ID!]!) { bulkDeleteDataSources(agentId: $agent, input: { dataSourceIds: $ids }) { warnings { code } } }',
        { agent, ids: [one] },
      );
  },
};

/** They attach or remove a source by the statements that the sources above use. */
const sameWrites = ['addFileDataSource', 'uploadDataSource', 'deleteDataSource', 'deleteVectorStore'];
/** Mutations about agents and sources that reach no model, and why. */
const harmless: Readonly<Record<string, string>> = {
  createAgent: 'a new agent has no approval',
  importAgent: 'makes a new agent',
  approveAgent: 'gives the approval',
  deleteAgent: 'nobody asks it any more',
  publishAgent: 'the change of the draft ended the approval, and none is given while the draft differs',
  discardAgentDraft: 'none is given while the draft differs',
  setAgentPublishing: 'says when changes take effect',
  startCanary: 'the approval is one of the published version: a canary has none',
  generateAgentProfile: 'a profile is for people',
  tryAgentTool: 'calls a tool and changes nothing of the agent',
  transferOwnership: 'the model reads the same',
  createAgentCategory: 'a catalog is for people',
  renameAgentCategory: 'a catalog is for people',
  deleteAgentCategory: 'a catalog is for people',
  createAgentSecret: 'secrets reach tools, not the model',
  updateAgentSecret: 'secrets reach tools, not the model',
  deleteAgentSecret: 'secrets reach tools, not the model',
};
/** What a source holds changes all the time: the approval covers which sources there are. */
const contentOfSources =
  /^(refresh|cancel|retry|createUploadToken|(create|update|attach|add|detach|cancel)VectorStore|updateKnowledge|deleteKnowledge|put|push|store|update.*(Item|File)|delete.*(Item|File)|create.*(Item|File))/;
/** Cases and experiments ask agents, a gate says when a draft may be published, a guard hides values: nothing is added to what the model reads. */
const asking = /Dataset|Experiment|AgentGate|Guard/;

describe('the approval of an organization', () => {
  it('is thought of by every mutation of agents and their parts', () => {
    const known = new Set([...Object.keys(reaching), ...sameWrites, ...Object.keys(harmless)]);
    const mutations = Object.entries(operationScopes).flatMap(([place, scope]) =>
      place.startsWith('Mutation.') && /^(AGENTS|SKILLS|DATA_SOURCES):WRITE$/.test(scope ?? '') ? [place.slice(9)] : [],
    );
    expect(mutations.filter((name) => !known.has(name) && !contentOfSources.test(name) && !asking.test(name))).toEqual([]);
    expect([...sameWrites, ...Object.keys(harmless)].filter((name) => !mutations.includes(name))).toEqual([]);
  });

  it.each(Object.entries(reaching))('ends with %s, and the reply says so', async (_name, prepare) => {
    const { id } = await make.agent({ owner });
    const change = await prepare(id);
    expect((await admin.post(at(id, 'approval'), {})).body.isApprovedByOrg).toBe(true);
    const reply = (await change(id)) as { readonly status?: number; readonly body?: unknown };
    expect(reply.status ?? 200, JSON.stringify(reply)).toBeLessThan(300);
    expect((await owner.get(`/api/v1/ais/${id}`)).body.isApprovedByOrg).toBe(false);
    expect(JSON.stringify(reply)).toContain('approval_ended');
  });

  it.each<[string, Change]>([
    ['its picture and catalogs', (agent) => owner.patch(`/api/v1/ais/${agent}`, { src: 'x', listInTenantCatalog: true })],
    ['a secret', (agent) => owner.post(at(agent, 'secrets'), { key: 'KEY', secretType: 'apiKey', value: 'a-value-of-it' })],
    ['a disabled skill', (agent) => owner.post(at(agent, 'skills'), { ...skill, enabled: false })],
    ['the same values again', (agent) => owner.patch(`/api/v1/ais/${agent}`, { instructions: 'Answer briefly.' })],
  ])('holds after a change of %s', async (_what, change) => {
    const { id } = await make.agent({ owner });
    await admin.post(at(id, 'approval'), {});
    expect(JSON.stringify(await change(id))).not.toContain('approval_ended');
    expect((await owner.get(`/api/v1/ais/${id}`)).body.isApprovedByOrg).toBe(true);
  });
});
