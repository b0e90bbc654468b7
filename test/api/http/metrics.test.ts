import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { indexed } from '../../support/knowledge/knowledge.ts';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';
import { never } from '../../support/upstream.ts';

const { service, make, upstream } = await withService('model', {});
let ann: Person;

beforeAll(async () => {
  ann = await make.person();
});

const completion = { model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }] };

/** Every sample by its name and labels. */
async function samples(): Promise<ReadonlyMap<string, number>> {
  const { body } = await service.nobody.get('/metrics');
  const lines = String(body)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

/** Runs the work, and checks how much some samples grew by it. */
async function grows(by: Readonly<Record<string, number>>, work: () => Promise<unknown>): Promise<void> {
  const before = await samples();
  await work();
  await eventually(async () => {
    const after = await samples();
    const grown = Object.keys(by).map((name) => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)]);
    expect(Object.fromEntries(grown)).toEqual(by);
  });
}

const requests = (operation: string, status: number) => `parley_http_requests_total{operation="${operation}",status="${status}"}`;

describe('/metrics', () => {
  it('counts requests of both APIs, also refused ones', async () => {
    await grows(
      {
        [requests('listMyGroups', 200)]: 1,
        [requests('graphqlQuery', 200)]: 2,
        [requests('graphqlMutation', 200)]: 1,
        [requests('graphqlSubscription', 200)]: 1,
        [requests('graphqlNone', 401)]: 1,
        [requests('graphqlNone', 403)]: 1,
        'parley_http_request_duration_seconds_count{operation="graphqlQuery"}': 2,
      },
      async () => {
        await ann.get('/api/v1/groups');
        await ann.graphql('query ChosenByTheCaller { viewer { __typename } }');
        await ann.graphql('{ __typename }');
        await ann.graphql('mutation($input: CompletionInput!) { createCompletion(input: $input) { id } }', { input: completion });
        for await (const _ of ann.subscribe(
          'subscription($input: CompletionInput!) { completionEvents(input: $input) { type } }',
          { input: completion },
        ));
        await service.nobody.graphql('{ __typename }');
        await ann.post('/graphql', 'query', { 'content-type': 'text/plain' });
      },
    );
  });

  it('counts runs by how they ended, and tokens', async () => {
    const agent = await make.agent({ owner: ann });
    const chat = await make.chat({ owner: ann, agentId: agent.id });
    upstream.next(
      { text: 'One', usage: { prompt_tokens: 7, completion_tokens: 2 } },
      { text: 'Two', usage: { prompt_tokens: 5, completion_tokens: 3 } },
      { status: 500 },
      { text: ['Three', ' and more'], restGate: never, usage: null },
    );
    await grows(
      {
        'parley_runs_total{status="completed"}': 2,
        'parley_runs_total{status="failed"}': 1,
        'parley_runs_total{status="cancelled"}': 1,
      },
      async () => {
        await grows({ 'parley_tokens_total{direction="input"}': 12, 'parley_tokens_total{direction="output"}': 5 }, async () => {
          await ann.post('/api/v1/chat/completions', completion);
          await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
        });
        await ann.post('/api/v1/chat/completions', completion);
        for await (const _ of ann.sse('POST', '/api/v1/chat/completions', { ...completion, stream: true })) break;
      },
    );
  });

  it('counts open streams and active runs while they last', async () => {
    const gate = Promise.withResolvers<void>();
    upstream.next({ text: 'Late', gate: gate.promise });
    const reply = ann.post('/api/v1/chat/completions', completion);
    await eventually(async () => expect((await samples()).get('parley_runs_active')).toBe(1));
    gate.resolve();
    await reply;
    await eventually(async () => expect((await samples()).get('parley_runs_active')).toBe(0));
    expect((await samples()).get('parley_streams_open')).toBe(0);
  });

  it('counts jobs by name', async () => {
    const agent = await make.agent({ owner: ann });
    await grows({ 'parley_jobs_completed_total{job="knowledge.index-item"}': 1 }, async () => {
      const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { a: 'text' } });
      await indexed(ann, source.id);
    });
  });

  it('has no label whose value a caller can choose', async () => {
    const chosen = ['zzChosenPath', 'zzChosenModel', 'zzChosenName', 'zzChosenMethod'];
    await ann.get(`/api/v1/${chosen[0]}`);
    await ann.get(`/api/v1/ais/${chosen[0]}`);
    await ann.post('/api/v1/chat/completions', { ...completion, model: chosen[1] });
    await ann.graphql(`query ${chosen[2]} { ${chosen[2]}: __typename }`);
    await ann.call('PROPFIND', `/api/v1/${chosen[3]}`);
    const { body } = await service.nobody.get('/metrics');
    for (const text of [...chosen, ann.orgId, ann.keyId, ann.userId]) expect(body).not.toContain(text);
    const labels = new Set([...String(body).matchAll(/[{,](\w+)="/g)].map(([, name]) => name));
    const ours = ['operation', 'status', 'le', 'direction', 'job'];
    expect([...labels].filter((name) => !ours.includes(name ?? '')).toSorted()).toEqual(
      ['kind', 'major', 'minor', 'patch', 'space', 'type', 'version'].filter((name) => labels.has(name)),
    );
  });
});
