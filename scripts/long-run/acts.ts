import { setTimeout as wait } from 'node:timers/promises';
import type { TestClient } from '../../test/support/client.ts';

/** Something that a person or a program does. @returns whether it was answered well. */
export type Act = readonly [name: string, act: () => Promise<boolean>];

const model = 'openai/test-model';
const messages = [{ role: 'user', content: 'Hi' }];
const agentName = 'Long run';

/** The agent of the run, with its schedule and its dataset: made once, found again after a stop. */
export async function prepareWorld(ann: TestClient): Promise<string> {
  const found = await ann.get(`/api/v1/ais?search=${encodeURIComponent(agentName)}`);
  const known = found.body.data?.find(({ name }: { readonly name: string }) => name === agentName);
  if (known !== undefined) return known.id;
  const made = await ann.post('/api/v1/ais', {
    ...{ name: agentName, description: 'Is asked for hours', instructions: 'Be brief.', modelId: model, src: 'x' },
  });
  const { id } = made.body;
  const schedule = `mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { id } }`;
  await mutate(ann, schedule, {
    input: { agentId: id, name: 'every five minutes', cron: '*/5 * * * *', timeZone: 'UTC', prompt: 'Hi' },
  });
  const dataset = `mutation ($agentId: ID!) { createDataset(agentId: $agentId, input: { name: "questions" }) { id } }`;
  const { createDataset } = await mutate(ann, dataset, { agentId: id });
  const cases = `mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }`;
  await mutate(ann, cases, { id: createDataset.id, cases: [{ question: 'Hi', expected: 'One two three.' }] });
  return id;
}

// biome-ignore lint/suspicious/noExplicitAny: results of different documents.
async function mutate(ann: TestClient, document: string, variables: Readonly<Record<string, unknown>>): Promise<any> {
  const { data, errors } = await ann.graphql(document, variables);
  if (errors !== undefined) throw new Error(`the world of the long run cannot be made: ${JSON.stringify(errors)}`);
  return data;
}

/** Whether an experiment asked its case. */
async function hasEndedWell(ann: TestClient, id: string): Promise<boolean> {
  for (let asked = 0; asked < 100; asked += 1) {
    const { data } = await ann.graphql('query ($id: ID!) { experiment(id: $id) { status } }', { id });
    const status = data?.experiment?.status;
    if (status !== 'WAITING' && status !== 'RUNNING') return status === 'DONE';
    await wait(200);
  }
  return false;
}

export function actsOf(ann: TestClient, agentId: string): readonly Act[] {
  const chatOf = async () => (await ann.post(`/api/v1/ais/${agentId}/chats`)).body.id;
  return [
    ['completion', async () => (await ann.post('/api/v1/chat/completions', { model, messages })).status === 200],
    [
      'stream',
      async () => {
        const frames = await ann.stream('/api/v1/chat/completions', { model, messages, stream: true });
        return frames.at(-1)?.data === '[DONE]';
      },
    ],
    [
      'chat, two messages',
      async () => {
        const chatId = await chatOf();
        const say = (prompt: string) => ann.post(`/api/v1/chats/${chatId}/messages`, { prompt });
        return (await say('Hi')).status === 200 && (await say('And now?')).status === 200;
      },
    ],
    [
      'response in the background, followed',
      async () => {
        const { body } = await ann.post('/api/v2/responses', { model, input: 'Hi', background: true });
        const frames = await Array.fromAsync(ann.sse('GET', `/api/v2/responses/${body.id}?stream=true`));
        return frames.at(-1)?.event === 'done';
      },
    ],
    [
      'document, indexed',
      async () => {
        const form = new FormData();
        const text = `# Notes\n\n${'The answer is forty-two. '.repeat(50)}`;
        form.set('file', new File([text], 'notes.md', { type: 'text/markdown' }));
        const { status, body } = await ann.post(`/api/v1/ais/${agentId}/data-sources/file`, form);
        // Removed again, so that an hour does not differ from the one before by what it has.
        const removed = await ann.delete(`/api/v1/data-sources/${body.id}`);
        return status < 300 && removed.status < 300;
      },
    ],
    [
      'experiment of one case',
      async () => {
        const { data } = await ann.graphql(`query ($id: ID!) { datasets(agentId: $id, first: 1) { nodes { id } } }`, {
          id: agentId,
        });
        const datasetId = data?.datasets?.nodes[0]?.id;
        const run = `mutation ($agentId: ID!, $datasetId: ID!) {
          runExperiment(agentId: $agentId, input: { datasetId: $datasetId, versions: ["published"], tokensMax: 10000, scorers: [{ kind: CONTAINS }] }) { id }
        }`;
        const { data: begun, errors } = await ann.graphql(run, { agentId, datasetId });
        // An organization has three at a time: what others began is no failure of this one.
        if (errors?.[0]?.extensions?.code === 'CONFLICT') return true;
        if (errors !== undefined) return false;
        return hasEndedWell(ann, begun.runExperiment.id);
      },
    ],
    [
      'subscription, to the end of a chat',
      async () => {
        const chatId = await chatOf();
        const begun = await ann.graphql(
          `mutation ($id: ID!) { sendMessage(chatId: $id, input: { prompt: { text: "Hi" } }) { id } }`,
          {
            id: chatId,
          },
        );
        const runId = begun.data?.sendMessage?.id;
        const query = `subscription ($id: ID!) { runEvents(runId: $id) { __typename } }`;
        const frames = await ann.stream('/graphql', { query, variables: { id: runId } }, { accept: 'text/event-stream' });
        return frames.at(-1)?.event === 'complete';
      },
    ],
    [
      'lists',
      async () => {
        const { status, errors } = await ann.graphql(
          '{ chats(first: 20) { nodes { id name } } runs(first: 20) { nodes { id status } } }',
        );
        return status === 200 && errors === undefined;
      },
    ],
  ];
}
