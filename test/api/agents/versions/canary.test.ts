import { describe, expect, it } from 'vitest';
import { agentForRun } from '../../../../src/domain/agents/agents.ts';
import { type Caller, scopes } from '../../../../src/entities/people/caller.ts';
import type { Person } from '../../../support/make.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';

/** What others see of a draft, who gets a canary, and what stands side by side. */
const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';

const organization = await make.organization();
const ann = await make.person({ organization, name: 'Ann' });
const cleo = await make.person({ organization, name: 'Cleo' });

async function refusal(person: Person, query: string, variables: Readonly<Record<string, unknown>> = {}) {
  const { errors } = await person.graphql(query, variables);
  return errors?.[0]?.extensions?.code;
}

/** An agent whose draft differs from what people get. */
async function draftOf(): Promise<string> {
  const agent = await make.agent({
    owner: ann,
    visibility: 'ORGANIZATION',
    name: 'Old name',
    instructions: 'Old.',
    modelId: model,
  });
  await ann.post(`/api/v1/ais/${agent.id}/user-inputs`, { variableName: 'city', type: 'SHORT_TEXT', label: 'City' });
  const query = `mutation ($id: ID!, $input: UpdateAgentInput!, $city: CreateUserInputInput!) {
    setAgentPublishing(id: $id, publishing: ON_REQUEST) { id }
    updateAgent(id: $id, input: $input) { id }
    createUserInput(agentId: $id, input: $city) { id }
  }`;
  const city = { variableName: 'street', label: 'Street', settings: { shortText: {} } };
  await ann.ask(query, { id: agent.id, input: { name: 'New name', instructions: 'New.' }, city });
  return agent.id;
}

const start = `mutation ($id: ID!, $percent: Int!, $version: Int) {
  startCanary(id: $id, percent: $percent, version: $version) { publishedVersion canary { version percent } }
}`;
const end = `mutation ($id: ID!, $keep: CanaryKeep!) { endCanary(id: $id, keep: $keep) { publishedVersion instructions canary { version } draft { isChanged } } }`;
const say = `mutation ($chatId: ID!) { sendMessage(chatId: $chatId, input: { prompt: { text: "Hi" } }) { id agentVersion } }`;

describe('a draft that differs', () => {
  it('is seen by those who may edit the agent, and others see what people get', async () => {
    const id = await draftOf();
    const query = `query ($id: ID!) { agent(id: $id) { name userInputs { variableName } asked: userInputs(isPublished: true) { variableName } }
      agents(filter: { search: "name" }) { nodes { id name } } userInputs(agentId: $id) { id variableName } }`;
    const mine = await ann.ask(query, { id });
    expect(mine.agent).toMatchObject({
      name: 'New name',
      userInputs: [{ variableName: 'city' }, { variableName: 'street' }],
      asked: [{ variableName: 'city' }],
    });
    const theirs = await cleo.ask(query, { id });
    expect(theirs.agent).toMatchObject({ name: 'Old name', userInputs: [{ variableName: 'city' }] });
    expect(theirs.agents.nodes).toContainEqual({ id, name: 'Old name' });
    expect(theirs.userInputs.map(({ variableName }: { variableName: string }) => variableName)).toEqual(['city']);
    const street = mine.userInputs.find(({ variableName }: { variableName: string }) => variableName === 'street').id;
    expect((await cleo.ask(`query ($id: ID!) { userInput(id: $id) { id } }`, { id: street })).userInput).toBeNull();
    expect((await cleo.get(`/api/v1/ais/${id}`)).body.name).toBe('Old name');
    // Bundles carry what people get, whoever exports.
    const { body } = await ann.get(`/api/v1/ais/${id}/export`);
    expect(body.agent).toMatchObject({ name: 'Old name', instructions: 'Old.' });
    expect(body.userInputs).toHaveLength(1);
    // A chat asks for what people get.
    const made = `mutation ($agentId: ID!, $input: CreateChatInput) { createChat(agentId: $agentId, input: $input) { id } }`;
    await ann.ask(made, { agentId: id, input: { userInputs: [{ name: 'city', value: 'Bonn' }] } });
  });

  it('keeps the secrets of tools that people still get', async () => {
    const agent = await make.agent({ owner: ann, instructions: 'x', modelId: model });
    const data = {
      ...{
        description: 'Looks up',
        method: 'GET',
        url: 'https://api.example.com/x',
        parameters: { type: 'object', properties: {} },
      },
      headers: { Authorization: 'Bearer sk-live-0123456789abcdef0123456789' },
    };
    const tool = await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'lookup', type: 'API_FUNCTION', data });
    expect(tool.status, JSON.stringify(tool.body)).toBe(200);
    const query = `mutation ($id: ID!, $tool: ID!) { setAgentPublishing(id: $id, publishing: ON_REQUEST) { id } deleteAgentTool(id: $tool) { id } }`;
    await ann.ask(query, { id: agent.id, tool: tool.body.id });
    const secrets = await ann.ask(`query ($id: ID!) { agentSecrets(agentId: $id) { key } }`, { id: agent.id });
    expect(secrets.agentSecrets).toHaveLength(1);
    const back = `mutation ($id: ID!) { publishAgent(id: $id) { number } rollbackAgent(id: $id, version: 2) { warnings { message } } }`;
    expect((await ann.ask(back, { id: agent.id })).rollbackAgent.warnings).toBeNull();
    // Where a person deletes the secret, a roll back says so.
    const { agentSecrets } = await ann.ask(`query ($id: ID!) { agentSecrets(agentId: $id) { id key } }`, { id: agent.id });
    await ann.ask(`mutation ($id: ID!) { deleteAgentSecret(id: $id) { id } }`, { id: agentSecrets[0].id });
    const again = await ann.ask(`mutation ($id: ID!) { rollbackAgent(id: $id, version: 2) { warnings { message } } }`, {
      id: agent.id,
    });
    expect(again.rollbackAgent.warnings[0].message).toContain(`The secret ${agentSecrets[0].key} is gone`);
  });

  it('is brought back, and given to a part of the chats, by a key that may write what it has alone', async () => {
    const { id } = await make.agent({ owner: ann, instructions: 'x', modelId: model });
    const skill = await ann.post(`/api/v1/ais/${id}/skills`, {
      name: 'Prices',
      description: 'Knows prices',
      content: 'All prices.',
    });
    expect(skill.status, JSON.stringify(skill.body)).toBe(200);
    const read = 'query ($id: ID!) { agent(id: $id) { publishedVersion } }';
    const version = (await ann.ask(read, { id })).agent.publishedVersion;
    expect((await ann.delete(`/api/v1/ais/${id}/skills/${skill.body.id}`)).status).toBe(200);
    const poor = await make.withKey(ann, { scopes: scopes.filter((scope) => scope !== 'SKILLS:WRITE') });
    const back = 'mutation ($id: ID!, $version: Int!) { rollbackAgent(id: $id, version: $version) { number } }';
    expect(await refusal(poor, start, { id, percent: 10, version })).toBe('INSUFFICIENT_SCOPE');
    expect(await refusal(poor, back, { id, version })).toBe('INSUFFICIENT_SCOPE');
    expect((await ann.ask(start, { id, percent: 10, version })).startCanary.canary).toEqual({ version, percent: 10 });
  });

  it('is not brought back with a source that is gone, or a model that is gone', async () => {
    const agent = await make.agent({ owner: ann, instructions: 'x', modelId: model });
    const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { a: 1 } });
    await ann.delete(`/api/v1/data-sources/${source.id}`);
    await ann.patch(`/api/v1/ais/${agent.id}`, { instructions: 'y' });
    const back = `mutation ($id: ID!, $version: Int!) { rollbackAgent(id: $id, version: $version) { number warnings { message } } }`;
    const { warnings } = (await ann.ask(back, { id: agent.id, version: 2 })).rollbackAgent;
    expect(warnings).toEqual([{ message: expect.stringContaining(`(${source.id}) is gone`) }]);
    await service.deps.storage.db.query(
      `update agent_versions set content = replace(content::text, 'test-model', 'gone-model')::json where "agentId" = $1 and number = 1`,
      [agent.id],
    );
    expect(await refusal(ann, back, { id: agent.id, version: 1 })).toBe('INVALID_VALUE');
    expect(
      (await ann.ask(`query ($id: ID!) { agent(id: $id) { publishedVersion instructions } }`, { id: agent.id })).agent,
    ).toEqual({
      ...{ publishedVersion: 4, instructions: 'x' },
    });
  });
});

it('an old version opens nothing to an editor that was taken from the agent since', async () => {
  const bob = await make.person({ organization, name: 'Bob' });
  const agent = await make.agent({ owner: ann, instructions: 'x', modelId: model, editors: [{ id: bob.userId }] });
  const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { secret: 'the launch code is 4711' } });
  await ann.ask(`mutation ($agent: ID!, $id: ID!) { detachDataSource(agentId: $agent, dataSourceId: $id) { agentId } }`, {
    ...{ agent: agent.id, id: source.id },
  });
  const find = (person: Person, version: number) => agentForRun(service.deps, callerOf(person), agent.id, { version });
  expect((await find(bob, 2)).dataSourceIds).toEqual([]);
  expect((await find(ann, 2)).dataSourceIds).toEqual([source.id]);
  expect(await refusal(bob, start, { id: agent.id, percent: 5, version: 2 })).toBe('CONFLICT');
});

function callerOf({ userId, orgId, tenantId, keyId }: Person): Caller {
  return { userId, orgId, tenantId, keyId, level: 'ORGANIZATION', role: 'MEMBER', scopes: new Set(scopes) };
}

describe('a canary', () => {
  it('takes a part of the chats that begin, each for good, until a person decides', async () => {
    const id = await draftOf();
    const before = await make.chat({ owner: cleo, agentId: id });
    expect((await ann.ask(start, { id, percent: 50 })).startCanary).toEqual({
      publishedVersion: 2,
      canary: { version: 3, percent: 50 },
    });
    const versions: number[] = [];
    const run = async (chatId: string) => (await cleo.ask(say, { chatId })).sendMessage.agentVersion as number;
    for (let index = 0; index < 24; index += 1) {
      const chat = await make.chat({ owner: cleo, agentId: id });
      const version = await run(chat.id);
      if (index < 4) {
        await settled(chat.id);
        expect(await run(chat.id)).toBe(version);
      }
      versions.push(version);
    }
    expect(new Set(versions)).toEqual(new Set([2, 3]));
    expect(await run(before.id)).toBe(2);
    expect(await refusal(ann, start, { id, percent: 5, version: 1 })).toBe('CONFLICT');
    expect(await refusal(ann, start, { id, percent: 100 })).toBe('INVALID_VALUE');
    expect(await refusal(cleo, start, { id, percent: 5 })).toBe('FORBIDDEN');
    expect((await ann.ask(start, { id, percent: 60, version: 3 })).startCanary.canary).toEqual({ version: 3, percent: 60 });
    const kept = (await ann.ask(end, { id, keep: 'CANARY' })).endCanary;
    expect(kept).toEqual({ publishedVersion: 3, instructions: 'New.', canary: null, draft: { isChanged: false } });
    expect(await refusal(ann, end, { id, keep: 'CANARY' })).toBe('CONFLICT');
    const statistics = `query ($id: ID!) { agentVersionStatistics(agentId: $id) { version toolErrorCount unansweredCount figures { runCount ratedDownCount cost } } }`;
    const rows = (await ann.ask(statistics, { id })).agentVersionStatistics;
    expect(rows.map(({ version }: { version: number }) => version)).toEqual([3, 2]);
    expect(await refusal(cleo, statistics, { id })).toBe('FORBIDDEN');
  });

  it('is kept by the caller of runs without a chat', async () => {
    const id = await draftOf();
    await ann.ask(start, { id, percent: 50 });
    const query = `mutation ($input: CompletionInput!) { createCompletion(input: $input) { id } }`;
    const answers = new Set<string>();
    for (let index = 0; index < 3; index += 1) {
      await cleo.ask(query, { input: { model: id, messages: [{ user: { text: 'Hi' } }] } });
      answers.add(String(messagesOf(upstream.requests.at(-1))[0]?.content));
    }
    expect(answers.size).toBe(1);
    await ann.ask(end, { id, keep: 'PUBLISHED' });
    await cleo.ask(query, { input: { model: id, messages: [{ user: { text: 'Hi' } }] } });
    expect(String(messagesOf(upstream.requests.at(-1))[0]?.content)).toBe('Old.');
  });
});

/** Waits until no run answers in a chat. */
async function settled(chatId: string): Promise<void> {
  for (;;) {
    const { chat } = await cleo.ask(`query ($id: ID!) { chat(id: $id) { activeRun { id } } }`, { id: chatId });
    if (chat.activeRun === null) return;
  }
}
