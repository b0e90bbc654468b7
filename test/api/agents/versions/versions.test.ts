import { describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { messagesOf } from '../../../support/runs/research.ts';
import { withService } from '../../../support/service.ts';
import { countStatements } from '../../../support/storage/statements.ts';
import { heldAnswer } from '../../../support/upstream.ts';

/** Versions of agents: what is changed, what people get, and who may see which. */
const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';

const organization = await make.organization();
const ann = await make.person({ organization, name: 'Ann' });
const bob = await make.person({ organization, name: 'Bob' });
const cleo = await make.person({ organization, name: 'Cleo' });

/** An agent of Ann that everybody in the organization may use and Bob may edit. */
async function agentOf(publishing: 'AT_ONCE' | 'ON_REQUEST' = 'ON_REQUEST', members: object = {}): Promise<string> {
  const agent = await make.agent({
    ...{ owner: ann, visibility: 'ORGANIZATION', instructions: 'Say one.', modelId: model },
    ...{ editors: [{ id: bob.userId }], ...members },
  });
  if (publishing === 'ON_REQUEST') {
    await ann.ask(`mutation ($id: ID!) { setAgentPublishing(id: $id, publishing: ON_REQUEST) { id } }`, { id: agent.id });
  }
  return agent.id;
}

async function refusal(person: Person, query: string, variables: Readonly<Record<string, unknown>> = {}) {
  const { errors } = await person.graphql(query, variables);
  return { message: errors?.[0]?.message ?? '', code: errors?.[0]?.extensions?.code };
}

const update = `mutation ($id: ID!, $input: UpdateAgentInput!, $expectedDraft: Int) {
  updateAgent(id: $id, input: $input, expectedDraft: $expectedDraft) { instructions publishedVersion draft { revision isChanged } }
}`;
const publish = `mutation ($id: ID!, $note: String) { publishAgent(id: $id, note: $note) { number note members userName isPublished } }`;
const rollback = `mutation ($id: ID!, $version: Int!) { rollbackAgent(id: $id, version: $version) { number rolledBackTo warnings { message } } }`;
const versions = `query ($id: ID!) { agentVersions(agentId: $id) { nodes { number note members userName isPublished rolledBackTo } } }`;
const state = `query ($id: ID!) { agent(id: $id) { instructions publishedVersion draft { revision isChanged } } }`;

async function change(person: Person, id: string, instructions: string, more: object = {}) {
  return (await person.ask(update, { id, input: { instructions, ...more } })).updateAgent;
}

/** The instructions that the model gets. */
async function instructionsFor(person: Person, id: string, version?: string): Promise<string> {
  const input = { model: id, messages: [{ user: { text: 'Hi' } }] };
  const query = `mutation ($input: CompletionInput!, $version: String) { createCompletion(input: $input, version: $version) { id } }`;
  await person.ask(query, { input, ...(version === undefined ? {} : { version }) });
  return String(messagesOf(upstream.requests.at(-1))[0]?.content);
}

describe('versions of an agent', () => {
  it('are made by every change of an agent that publishes at once, without a word about them over REST', async () => {
    const id = await agentOf('AT_ONCE');
    expect((await ann.ask(versions, { id })).agentVersions.nodes).toMatchObject([{ number: 1, userName: 'Ann', members: [] }]);
    const before = Object.keys((await ann.get(`/api/v1/ais/${id}`)).body);
    await ann.patch(`/api/v1/ais/${id}`, { instructions: 'Say two.' });
    expect(await change(bob, id, 'Say three.')).toMatchObject({ publishedVersion: 3, draft: { isChanged: false } });
    // The same again, and what does not reach the model, is no change.
    await change(bob, id, 'Say three.');
    await ann.patch(`/api/v1/ais/${id}`, { chatLogsVisible: true });
    const tool = {
      name: 'ping',
      type: 'CLIENT_FUNCTION',
      data: { description: 'Pings', parameters: { type: 'object', properties: { b: {}, a: {} } } },
    };
    expect((await ann.post(`/api/v1/ais/${id}/tools`, tool)).status).toBe(200);
    expect((await ann.ask(versions, { id })).agentVersions.nodes).toMatchObject([
      { number: 4, userName: 'Ann', members: ['tools.ping'] },
      { number: 3, userName: 'Bob', members: ['instructions'] },
      { number: 2, userName: 'Ann', members: ['instructions'] },
      { number: 1, members: [] },
    ]);
    expect(Object.keys((await ann.get(`/api/v1/ais/${id}`)).body)).toEqual(before);
  });

  it('keep what people get from the draft, until somebody publishes it', async () => {
    const id = await agentOf();
    expect(await change(ann, id, 'Say two.')).toMatchObject({ publishedVersion: 1, draft: { isChanged: true } });
    expect(await instructionsFor(cleo, id)).toBe('Say one.');
    expect(await instructionsFor(ann, id)).toBe('Say one.');
    expect(await instructionsFor(bob, id, 'draft')).toBe('Say two.');
    const published = (await bob.ask(publish, { id, note: 'Two is better' })).publishAgent;
    expect(published).toEqual({
      number: 2,
      note: 'Two is better',
      members: ['instructions'],
      userName: 'Bob',
      isPublished: true,
    });
    expect(await instructionsFor(cleo, id)).toBe('Say two.');
    expect(await instructionsFor(bob, id, '1')).toBe('Say one.');
    expect((await refusal(ann, publish, { id })).code).toBe('CONFLICT');
  });

  it('are not for those who may only use the agent', async () => {
    const id = await agentOf();
    const query = `mutation ($input: CompletionInput!, $version: String) { createCompletion(input: $input, version: $version) { id } }`;
    const input = { model: id, messages: [{ user: { text: 'Hi' } }] };
    expect((await refusal(cleo, query, { input, version: 'draft' })).code).toBe('FORBIDDEN');
    expect((await refusal(cleo, versions, { id })).code).toBe('FORBIDDEN');
    expect((await refusal(cleo, publish, { id })).code).toBe('FORBIDDEN');
    expect((await refusal(ann, query, { input, version: '7' })).message).toBe('There is no such version of the agent');
    expect((await refusal(ann, query, { input, version: 'newest' })).message).toBe(
      'version must be "draft" or the number of a version',
    );
    expect((await cleo.ask(state, { id })).agent).toMatchObject({ publishedVersion: 1, draft: null });
  });

  it('publish what REST changes at once, and nothing else of the draft', async () => {
    const id = await agentOf();
    await change(ann, id, 'A draft.');
    await ann.patch(`/api/v1/ais/${id}`, { introduction: 'Welcome' });
    const tool = { name: 'ping', type: 'CLIENT_FUNCTION', data: { description: 'Pings' } };
    await ann.post(`/api/v1/ais/${id}/tools`, tool);
    expect((await ann.ask(state, { id })).agent).toMatchObject({ publishedVersion: 3, draft: { isChanged: true } });
    expect(await instructionsFor(cleo, id)).toBe('Say one.');
    expect(upstream.requests.at(-1)).toMatchObject({ body: { tools: [{ function: { name: 'ping' } }] } });
    const diff = `query ($id: ID!) { agentVersionDiff(agentId: $id, from: "3", to: "draft") { member kind hunks { fromLine lines { kind text } } } }`;
    expect((await ann.ask(diff, { id })).agentVersionDiff).toEqual([
      {
        ...{ member: 'instructions', kind: 'CHANGED' },
        hunks: [
          {
            fromLine: 1,
            lines: [
              { kind: 'REMOVED', text: 'Say one.' },
              { kind: 'ADDED', text: 'A draft.' },
            ],
          },
        ],
      },
    ]);
  });

  it('refuse the save of an old draft, and name who changed what', async () => {
    const id = await agentOf();
    const { revision } = (await ann.ask(state, { id })).agent.draft;
    await change(bob, id, 'Bob was here.');
    const late = await refusal(ann, update, { id, input: { instructions: 'Ann was here.' }, expectedDraft: revision });
    expect(late).toEqual({
      message: `Bob changed instructions since you read revision ${revision} of the draft: nothing was saved`,
      code: 'CONFLICT',
    });
    expect((await ann.ask(state, { id })).agent).toMatchObject({
      instructions: 'Bob was here.',
      draft: { revision: revision + 1 },
    });
    await ann.ask(update, { id, input: { introduction: 'Hello' }, expectedDraft: revision + 1 });
    // So are knowledge and parts, and the form that is open learns who was there.
    const old = { id, expectedDraft: revision };
    const data = { question: 'Why?' };
    const add = `mutation ($id: ID!, $data: JSON!, $expectedDraft: Int) { addDataSource(agentId: $id, input: { api: { name: "S", data: $data } }, expectedDraft: $expectedDraft) { dataSource { id } } }`;
    expect(await refusal(ann, add, { ...old, data })).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/changed instructions, introduction since/),
    });
    const made = (await ann.ask(add, { id, data })).addDataSource.dataSource.id;
    const remove = `mutation ($id: ID!, $ids: [ID!]!, $expectedDraft: Int) { bulkDeleteDataSources(agentId: $id, input: { dataSourceIds: $ids }, expectedDraft: $expectedDraft) { deletedCount } }`;
    expect((await refusal(ann, remove, { ...old, ids: [made] })).code).toBe('CONFLICT');
    expect((await ann.ask(remove, { id, ids: [made] })).bulkDeleteDataSources.deletedCount).toBe(1);
    const changes = `query ($id: ID!, $after: Int!) { agent(id: $id) { draft { changes(after: $after) { revision userName members } } } }`;
    expect((await ann.ask(changes, { id, after: revision })).agent.draft.changes).toMatchObject([
      { revision: revision + 1, userName: 'Bob', members: ['instructions'] },
      { userName: 'Ann', members: ['introduction'] },
      { userName: 'Ann', members: ['sources.S'] },
      { userName: 'Ann', members: ['sources.S'] },
    ]);
    expect((await cleo.ask(changes, { id, after: 0 })).agent.draft).toBeNull();
  });

  it('go back to an old one with all its parts and their ids, and keep the draft that was not published', async () => {
    const id = await agentOf();
    const tool = {
      name: 'ping',
      type: 'CLIENT_FUNCTION',
      data: {
        description: 'Pings',
        parameters: { type: 'object', properties: { z: { type: 'string' }, a: { type: 'string' } } },
      },
    };
    const made = (await ann.post(`/api/v1/ais/${id}/tools`, tool)).body;
    const skill = (await ann.post(`/api/v1/ais/${id}/skills`, { name: 'Sums', description: 'Adds', content: 'Add.' })).body;
    await ann.post(`/api/v1/ais/${id}/user-inputs`, { variableName: 'city', type: 'SHORT_TEXT', label: 'City' });
    await ann.ask(`mutation ($id: ID!) { deleteAgentTool(id: $id) { id } }`, { id: made.id });
    await ann.ask(`mutation ($id: ID!) { updateSkill(id: $id, input: { content: "Subtract." }) { id } }`, { id: skill.id });
    await change(ann, id, 'Something else.');
    const back = (await ann.ask(rollback, { id, version: 4 })).rollbackAgent;
    expect(back).toEqual({ number: 6, rolledBackTo: 4, warnings: null });
    expect((await ann.ask(state, { id })).agent).toMatchObject({
      instructions: 'Say one.',
      publishedVersion: 6,
      draft: { isChanged: false },
    });
    // The order of members too.
    const restored = (await ann.get(`/api/v1/ais/${id}/tools/${made.id}`)).body;
    expect(JSON.stringify(restored)).toBe(JSON.stringify({ ...made, updatedAt: restored.updatedAt }));
    expect((await ann.get(`/api/v1/ais/${id}/skills/${skill.id}`)).body.content).toBe('Add.');
    const nodes = (await ann.ask(versions, { id })).agentVersions.nodes;
    expect(nodes[1]).toMatchObject({ number: 5, isPublished: false, note: 'The draft before the roll back to version 4' });
    // The draft that was replaced is a version like others.
    await ann.ask(rollback, { id, version: 5 });
    expect((await ann.ask(state, { id })).agent).toMatchObject({ instructions: 'Something else.', publishedVersion: 7 });
    expect((await ann.get(`/api/v1/ais/${id}/tools/${made.id}`)).status).toBe(404);
  });

  it('discard a draft', async () => {
    const id = await agentOf();
    await change(ann, id, 'Never mind.');
    await ann.ask(`mutation ($id: ID!) { discardAgentDraft(id: $id) { number } }`, { id });
    expect((await ann.ask(state, { id })).agent).toMatchObject({
      instructions: 'Say one.',
      publishedVersion: 1,
      draft: { isChanged: false },
    });
  });

  it('cost at most six statements to publish and to go back', async () => {
    const id = await agentOf();
    const counts = { publish: [] as number[], rollback: [] as number[] };
    for (const text of ['Two', 'Three', 'Four']) {
      await change(ann, id, text);
      await instructionsFor(ann, id);
      counts.publish.push((await count(() => ann.ask(publish, { id }))).length);
      await change(ann, id, `${text} again`);
      await instructionsFor(ann, id);
      counts.rollback.push((await count(() => ann.ask(rollback, { id, version: 1 }))).length);
    }
    expect(Math.min(...counts.publish)).toBeLessThanOrEqual(6);
    expect(Math.min(...counts.rollback)).toBeLessThanOrEqual(6);
  });

  it('are named by the run and its messages, and a stream ends as it began when somebody goes back', async () => {
    const id = await agentOf();
    await change(ann, id, 'Say two.');
    await ann.ask(publish, { id });
    const chat = await make.chat({ owner: cleo, agentId: id });
    const { script, goOn } = heldAnswer({ text: ['It is', ' two.'] });
    upstream.next(script);
    const send = `mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }`;
    const run = (await cleo.ask(send, { chatId: chat.id, input: { prompt: { text: 'Which?' } } })).sendMessage;
    await eventually(() => expect(upstream.requests).toHaveLength(1));
    await ann.ask(rollback, { id, version: 1 });
    goOn();
    const query = `query ($id: ID!) { run(id: $id) { status agentVersion chat { messages(first: 10) { nodes { role content agentVersion } } } } }`;
    await eventually(async () => {
      const shown = (await cleo.ask(query, { id: run.id })).run;
      expect(shown).toMatchObject({ status: 'COMPLETED', agentVersion: 2 });
      const { nodes } = shown.chat.messages;
      expect(nodes).toEqual([
        { role: 'USER', content: 'Which?', agentVersion: null },
        { role: 'ASSISTANT', content: 'It is two.', agentVersion: 2 },
      ]);
    });
    // The chat goes on with the version of today.
    const next = (await cleo.ask(send, { chatId: chat.id, input: { prompt: { text: 'And now?' } } })).sendMessage;
    await eventually(async () =>
      expect((await cleo.ask(query, { id: next.id })).run).toMatchObject({ status: 'COMPLETED', agentVersion: 3 }),
    );
    expect(String(messagesOf(upstream.requests.at(-1))[0]?.content)).toContain('Say one.');
    await eventually(async () => {
      const rows = await service.deps.storage.db.query<{ version: number }>(
        'select "agentVersion" as version from usage_entries where "agentId" = $1 order by "createdAt"',
        [id],
      );
      expect(rows.map(({ version }) => version)).toEqual([2, 3]);
    });
  });

  it('answer a message that is edited, asked again or compared, for those who may edit the agent', async () => {
    const id = await agentOf();
    await change(ann, id, 'Say two.');
    const chat = await make.chat({ owner: ann, agentId: id });
    const settled = (runId: string) =>
      eventually(async () => {
        const { run } = await ann.ask(`query ($id: ID!) { run(id: $id) { agentVersion status } }`, { id: runId });
        expect(run.status).toBe('COMPLETED');
        return run as {
          readonly agentVersion: number;
          readonly messages: readonly { readonly id: string; readonly role: string }[];
        };
      });
    const input = { prompt: { text: 'Which?' } };
    const send = `mutation ($id: ID!, $input: SendMessageInput!) { sendMessage(chatId: $id, input: $input) { id } }`;
    const first = await settled((await ann.ask(send, { id: chat.id, input })).sendMessage.id);
    const rows = await ann.ask(`query ($id: ID!) { chat(id: $id) { messages(first: 5) { nodes { id role } } } }`, {
      id: chat.id,
    });
    const [question, answer] = rows.chat.messages.nodes.map((message: { readonly id: string }) => message.id);
    expect(first.agentVersion).toBe(1);
    const again = `mutation ($id: ID!, $version: String) { regenerateMessage(id: $id, version: $version) { id } }`;
    const edit = `mutation ($id: ID!, $input: EditMessageInput!, $version: String) { editMessage(id: $id, input: $input, version: $version) { id } }`;
    const beside = `mutation ($id: ID!, $version: String) { compareAnswers(messageId: $id, version: $version) { id } }`;
    const compared = await ann.ask(beside, { id: answer, version: 'draft' });
    expect((await settled(compared.compareAnswers.id)).agentVersion).toBe(0);
    expect(String(messagesOf(upstream.requests.at(-1))[0]?.content)).toContain('Say two.');
    const regenerated = await ann.ask(again, { id: answer, version: 'draft' });
    expect((await settled(regenerated.regenerateMessage.id)).agentVersion).toBe(0);
    expect(messagesOf(upstream.requests.at(-1)).at(-1)?.content).toContain('Which?');
    const edited = await ann.ask(edit, { id: question, input, version: 'draft' });
    expect((await settled(edited.editMessage.id)).agentVersion).toBe(0);
    // Without a version, it is asked as it was.
    expect((await settled((await ann.ask(again, { id: answer })).regenerateMessage.id)).agentVersion).toBe(1);
    expect((await refusal(ann, again, { id: answer, version: '9' })).message).toBe('There is no such version of the agent');
    const hers = await make.chat({ owner: cleo, agentId: id });
    const asked = (await cleo.ask(send, { id: hers.id, input })).sendMessage.id;
    await eventually(async () =>
      expect((await cleo.ask(`query ($id: ID!) { run(id: $id) { status } }`, { id: asked })).run.status).toBe('COMPLETED'),
    );
    const { chat: seen } = await cleo.ask(`query ($id: ID!) { chat(id: $id) { messages(first: 5) { nodes { id } } } }`, {
      id: hers.id,
    });
    for (const query of [again, beside])
      expect((await refusal(cleo, query, { id: seen.messages.nodes[1].id, version: 'draft' })).code).toBe('FORBIDDEN');
  });

  it('that an agent of before has not, is its agent as it is: it costs a run no further statement', async () => {
    const id = (await make.agent({ owner: ann, modelId: model, instructions: 'Old.' })).id;
    await instructionsFor(ann, id);
    const rows = await service.deps.storage.db.query('select from agent_versions where "agentId" = $1', [id]);
    expect(rows).toEqual([]);
    expect((await count(() => instructionsFor(ann, id))).filter((text) => text.includes('agent'))).toEqual([]);
    await change(ann, id, 'New.');
    expect(await instructionsFor(ann, id, '1')).toBe('Old.');
  });
});

/** The statements of a call, without those that begin and end transactions and those of what was written behind. */
async function count(work: () => Promise<unknown>): Promise<readonly string[]> {
  const { statements } = await countStatements(service, work);
  return statements.filter((text) => !/^(begin|commit)|usage_entries|select 1/i.test(text.trim()));
}
