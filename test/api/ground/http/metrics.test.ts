import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lexicalReasons, rerankReasons } from '../../../../src/entities/knowledge/retrieval.ts';
import { graphqlCompletion } from '../../../support/apis/graphql-inputs.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { freePort } from '../../../support/processes/free-port.ts';
import { withService } from '../../../support/service.ts';
import { never } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model', {});

const ann = await make.person();

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

const testModel = '{provider="openai",model="openai/test-model"}';
const tokens = (direction: string) => `parley_tokens_total{direction="${direction}",${testModel.slice(1)}`;
const calls = (outcome: string) => `parley_model_calls_total{outcome="${outcome}",${testModel.slice(1)}`;
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
        'parley_http_request_duration_seconds_count{operation="graphqlQuery",status_class="2xx"}': 2,
        'parley_http_request_duration_seconds_count{operation="graphqlNone",status_class="4xx"}': 2,
      },
      async () => {
        await ann.get('/api/v1/groups');
        await ann.graphql('query ChosenByTheCaller { viewer { __typename } }');
        await ann.graphql('{ __typename }');
        await ann.graphql('mutation($input: CompletionInput!) { createCompletion(input: $input) { id } }', {
          input: graphqlCompletion(completion),
        });
        for await (const _ of ann.subscribe(
          'subscription($input: CompletionInput!) { completionEvents(input: $input) { __typename } }',
          { input: graphqlCompletion(completion) },
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
        [calls('error')]: 1,
        [calls('cut')]: 1,
        [`parley_model_first_token_seconds_count${testModel}`]: 3,
        [`parley_model_first_token_seconds_bucket${testModel.replace('}', ',le="+Inf"}')}`]: 3,
        [`parley_model_call_duration_seconds_count${testModel}`]: 4,
      },
      async () => {
        await grows({ [tokens('input')]: 12, [tokens('output')]: 5, [calls('ok')]: 2 }, async () => {
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

  it('measures retrieval', async () => {
    const agent = await make.agent({ owner: ann });
    const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { a: 'the harbour' } });
    await indexed(ann, source.id);
    const count = 'parley_retrieval_duration_seconds_count';
    await grows({ [count]: 1, 'parley_retrieval_duration_seconds_bucket{le="+Inf"}': 1 }, async () => {
      const messages = [{ role: 'user', content: 'What of the harbour?' }];
      expect((await ann.post('/api/v1/chat/completions', { model: agent.id, messages })).status).toBe(200);
    });
    // Every longer bound counts what a shorter one does.
    const buckets = [...(await samples())].filter(([name]) => name.startsWith('parley_retrieval_duration_seconds_bucket'));
    const counted = buckets.map(([, value]) => value);
    expect(counted).toEqual(counted.toSorted((a, b) => a - b));
  });

  it('says how many jobs wait, and how much work waits in each pool', async () => {
    await eventually(async () => {
      const all = await samples();
      expect(all.get('parley_jobs_waiting{job="knowledge.index-item"}')).toBe(0);
      for (const pool of ['requests', 'egress-calls', 'python']) expect(all.get(`parley_pool_waiting{pool="${pool}"}`)).toBe(0);
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
    const ours = [
      'operation',
      'status',
      'status_class',
      'le',
      'direction',
      'job',
      'pool',
      'outcome',
      'provider',
      'model',
      'mode',
      'reason',
    ];
    // Those of searches take their values from short lists.
    const valuesOf = (label: string) =>
      [...String(body).matchAll(new RegExp(`[{,]${label}="([^"]*)"`, 'g'))].map(([, value]) => value);
    expect(new Set(valuesOf('mode'))).toEqual(new Set(['hybrid', 'lexical']));
    expect(new Set(valuesOf('reason'))).toEqual(new Set([...lexicalReasons, ...rerankReasons]));
    expect([...labels].filter((name) => !ours.includes(name ?? '')).toSorted()).toEqual(
      ['kind', 'major', 'minor', 'patch', 'space', 'type', 'version'].filter((name) => labels.has(name)),
    );
  });
});

describe('/metrics of a provider that lists no models', () => {
  it('counts every model that a caller names as other', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'parley-models-')), 'models.json');
    const refused = 'http://127.0.0.1:9/v1';
    writeFileSync(
      file,
      JSON.stringify({
        providers: [{ id: 'unlisted', wire: 'openai-compatible', baseUrl: refused }],
        routes: [{ id: 'unlisted/routed', primary: 'unlisted/first', fallbacks: ['openai/test-model'] }],
      }),
    );
    const own = await withService('model', { env: { MODELS_FILE: file } });
    const bob = await own.make.person();
    for (const model of ['unlisted/zzOne', 'unlisted/zzTwo']) {
      expect((await bob.post('/api/v1/chat/completions', { ...completion, model })).status).toBeGreaterThanOrEqual(500);
    }
    const { body: routed } = await bob.post('/api/v1/chat/completions', { ...completion, model: 'unlisted/routed' });
    expect(routed.choices).toHaveLength(1);
    await eventually(async () => {
      const { body } = await own.service.nobody.get('/metrics');
      expect(body).toContain('parley_model_calls_total{outcome="error",provider="other",model="other"} 2');
      expect(body).toContain('parley_model_calls_total{outcome="ok",provider="openai",model="openai/test-model"} 1');
      expect(body).not.toContain('zzOne');
      expect(body).not.toContain('zzTwo');
    });
  });
});

describe('/metrics with METRICS_PORT', () => {
  it('is served on that port, which serves nothing else, and not on PORT', async () => {
    const port = await freePort();
    const own = await withService('web', { env: { METRICS_PORT: String(port) } });
    const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    const reply = await at('/metrics');
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain('parley_http_requests_total');
    for (const path of ['/', '/healthz', '/graphql', '/api/v1/ais']) expect((await at(path)).status).toBe(404);
    expect((await own.service.nobody.get('/metrics')).status).toBe(404);
    expect((await own.service.nobody.get('/healthz')).status).toBe(200);
    await own.service.restart({ METRICS_PORT: String(port) });
    expect((await at('/metrics')).status).toBe(200);
  });
});
