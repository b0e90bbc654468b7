import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type CollectedSpan, type Collector, startCollector } from '../../../support/apis/collector.ts';
import { graphqlCompletion } from '../../../support/apis/graphql-inputs.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const collector: Collector = await startCollector();
const headerSecret = 'CANARY-collector-key';
const log: string[] = [];
const tracingOn = {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${headerSecret},x-team=a%20b`,
  OTEL_SERVICE_NAME: 'parley-test',
  OTEL_BSP_SCHEDULE_DELAY: '20',
};
// Without EMBEDDING_MODEL: vectors of the knowledge would be asked of the scripted upstream, at any time.
const { service, make, upstream } = await withService('model', {
  env: { ...tracingOn, LOG_LEVEL: 'info' },
  onLog: (line) => void log.push(line),
});

const api = await startApiServer();
const ann = await make.person();

beforeEach(async () => {
  api.reset();
  await forget();
});
afterAll(async () => {
  await api.close();
  await collector.close();
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = (flags: string, id = traceId) => ({ traceparent: `00-${id}-b7ad6b7169203331-${flags}` });
const completion = { model: 'openai/test-model', messages: [{ role: 'user', content: 'CANARY-prompt' }] };
const inputs = { input: graphqlCompletion(completion) };

/** Waits until everything before has arrived, and forgets it: spans arrive in the order in which they end. */
async function forget(): Promise<void> {
  collector.answer(200);
  const last = randomBytes(16).toString('hex');
  await ann.get('/api/v1/groups', traceparent('01', last));
  await requestSpan((span) => span.traceId === last);
  collector.reset();
}

/** Waits for a span of a request, which ends last in its trace. */
async function requestSpan(matches: (span: CollectedSpan) => boolean = () => true): Promise<CollectedSpan> {
  return eventually(() => {
    const found = collector.spans.find((span) => span.kind === 2 && matches(span));
    if (found === undefined) throw new Error(`no such request among ${collector.spans.map(({ name }) => name).join(', ')}`);
    return Promise.resolve(found);
  });
}

function named(name: string): readonly CollectedSpan[] {
  return collector.spans.filter((span) => span.name === name);
}

/** An agent with knowledge and a tool, and a model that uses the tool. */
async function agentWithAll() {
  const agent = await make.agent({ owner: ann, instructions: 'CANARY-instructions' });
  const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { note: 'CANARY-knowledge of the harbour' } });
  await indexed(ann, source.id);
  const data = {
    description: 'Tells the weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    method: 'GET',
    url: `${api.url}/weather?city={city}`,
    headers: { 'X-Api-Key': 'CANARY-tool-secret' },
  };
  expect((await ann.post(`/api/v1/ais/${agent.id}/tools`, { name: 'get_weather', type: 'API_FUNCTION', data })).status).toBe(200);
  api.answer(() => ({ body: '{"said":"CANARY-result"}' }));
  const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"CANARY-argument"}' };
  upstream.next(
    { toolCalls: [call], usage: { prompt_tokens: 21, completion_tokens: 4 } },
    { text: 'CANARY-answer', usage: { prompt_tokens: 34, completion_tokens: 6 } },
  );
  return { agentId: agent.id as string, sourceId: source.id as string };
}

describe('traces', () => {
  it('follow a chat from the request to the tool, as one trace over the boundary', async () => {
    const { agentId, sourceId } = await agentWithAll();
    const chat = await make.chat({ owner: ann, agentId });
    await forget();
    const prompt = { prompt: 'CANARY-prompt: what of the harbour?' };
    const reply = await ann.post(`/api/v1/chats/${chat.id}/messages`, prompt, traceparent('01'));
    expect(reply.status).toBe(200);
    const root = await requestSpan((span) => span.traceId === traceId);
    const steps = [
      { name: `retrieval ${sourceId}` },
      { name: 'chat openai/test-model' },
      { name: 'execute_tool get_weather' },
      { name: 'chat openai/test-model' },
    ];
    await eventually(async () =>
      expect(collector.tree(traceId)).toEqual([
        {
          name: 'POST /api/v1/chats/{chatId}/messages',
          below: [{ name: 'sendMessage', below: [{ name: 'invoke_agent', below: steps }] }],
        },
      ]),
    );
    expect(root).toMatchObject({
      parentSpanId: 'b7ad6b7169203331',
      status: 0,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/v1/chats/{chatId}/messages',
        'url.path': `/api/v1/chats/${chat.id}/messages`,
        'http.response.status_code': 200,
      },
      resource: { 'service.name': 'parley-test' },
    });
    expect(named('invoke_agent')[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': agentId,
      'gen_ai.usage.input_tokens': 55,
      'gen_ai.usage.output_tokens': 10,
      'parley.run.status': 'completed',
    });
    expect(named(`retrieval ${sourceId}`)[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.data_source.id': sourceId,
      'parley.retrieval.passages': 1,
    });
    expect(named('execute_tool get_weather')[0]).toMatchObject({
      kind: 1,
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_weather', 'gen_ai.tool.call.id': 'call_1' },
    });
    const calls = named('chat openai/test-model');
    expect(calls[0]).toMatchObject({
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'openai/test-model',
        'gen_ai.response.model': 'test-model',
        'gen_ai.response.finish_reasons': ['tool_calls'],
        'gen_ai.usage.input_tokens': 21,
        'gen_ai.usage.output_tokens': 4,
      },
    });
    // The calls of models go on in the trace; the address of the tool learns nothing of it.
    expect(upstream.requests.map(({ headers }) => headers.traceparent)).toEqual(
      calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
    );
    expect(api.requests).toHaveLength(1);
    expect(JSON.stringify(api.requests)).not.toContain(traceId);
    expect(collector.faults).toEqual([]);
  });

  it('follow both forms of a GraphQL operation, and name it by fields of the schema', async () => {
    await ann.call('POST', '/graphql', {
      query: 'mutation Chosen($input: CompletionInput!) { mine: createCompletion(input: $input) { id } }',
      variables: inputs,
    });
    const mutation = await requestSpan();
    await eventually(async () =>
      expect(collector.tree(mutation.traceId)).toEqual([
        {
          name: 'POST /graphql',
          below: [{ name: 'mutation createCompletion', below: [{ name: 'run', below: [{ name: 'chat openai/test-model' }] }] }],
        },
      ]),
    );
    expect(mutation.attributes['parley.operation']).toBe('graphqlMutation');
    await forget();
    for await (const _ of ann.subscribe(
      'subscription($input: CompletionInput!) { completionEvents(input: $input) { __typename } }',
      inputs,
    ));
    const subscription = await requestSpan();
    await eventually(async () =>
      expect(collector.tree(subscription.traceId)).toEqual([
        {
          name: 'POST /graphql',
          below: [
            { name: 'subscription completionEvents', below: [{ name: 'run', below: [{ name: 'chat openai/test-model' }] }] },
          ],
        },
      ]),
    );
    expect(collector.received).not.toContain('Chosen');
  });

  it('go on to a provider of embeddings', async () => {
    const embedding = await withService('model', { env: { ...tracingOn, EMBEDDING_MODEL: 'openai/test-embedding' } });
    const bob = await embedding.make.person();
    const data = [{ object: 'embedding', index: 0, embedding: [1, 2] }];
    upstream.next({ body: JSON.stringify({ data, usage: { prompt_tokens: 7, total_tokens: 7 } }) });
    const asked = { model: 'openai/test-embedding', input: 'CANARY-text' };
    expect((await bob.post('/api/v1/embeddings', asked, traceparent('01'))).status).toBe(200);
    await requestSpan((span) => span.traceId === traceId);
    const [call] = named('embeddings openai/test-embedding');
    expect(call).toMatchObject({
      kind: 3,
      traceId,
      attributes: { 'gen_ai.operation.name': 'embeddings', 'gen_ai.usage.input_tokens': 7 },
    });
    expect(upstream.requests[0]?.headers.traceparent).toBe(`00-${traceId}-${call?.spanId}-01`);
    expect(collector.received).not.toContain('CANARY-text');
  });

  it('show failures by their codes, of a model and of a request', async () => {
    upstream.next({ status: 400, body: '{"error":{"message":"CANARY-refusal"}}' });
    const reply = await ann.post('/api/v1/chat/completions', completion, traceparent('01'));
    expect(reply.status).toBeGreaterThanOrEqual(400);
    const root = await requestSpan();
    expect(root.attributes['http.response.status_code']).toBe(reply.status);
    await eventually(async () => expect(named('chat openai/test-model')).toHaveLength(1));
    for (const name of ['chat openai/test-model', 'run', 'createChatCompletion']) {
      const span = named(name)[0];
      expect([name, span?.status, span?.attributes['error.type']]).toEqual([name, 2, reply.body.error.code.toUpperCase()]);
    }
    expect(collector.received).not.toContain('CANARY-refusal');
  });

  it('hold no prompt, answer, knowledge, argument, key or secret', async () => {
    const { agentId } = await agentWithAll();
    const messages = [{ role: 'user', content: 'CANARY-prompt of the harbour' }];
    for await (const _ of ann.sse('POST', '/api/v1/chat/completions?CANARY-query=1', { model: agentId, messages, stream: true }));
    await requestSpan(({ attributes }) => attributes['parley.operation'] === 'createChatCompletion');
    await eventually(async () => expect(named('execute_tool get_weather').length).toBeGreaterThan(0));
    const received = collector.received.replaceAll(`"x-collector-key":"${headerSecret}"`, '');
    expect(received).toContain('"x-team":"a b"');
    expect(received).not.toContain('CANARY');
    expect(received).not.toContain(ann.key);
    expect(received.toLowerCase()).not.toContain('bearer');
  });

  it('record what the sampler says, and pass its decision on', async () => {
    await ann.post('/api/v1/chat/completions', completion, traceparent('00'));
    expect(upstream.requests[0]?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    const other = '1af7651916cd43dd8448eb211c80319c';
    await ann.post('/api/v1/chat/completions', completion, traceparent('01', other));
    await requestSpan((span) => span.traceId === other);
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  });

  it.each([
    ['too short', '00-0af7-b7ad6b7169203331-01'],
    ['an id of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['version ff', `ff-${traceId}-b7ad6b7169203331-01`],
    ['more than version 00 has', `00-${traceId}-b7ad6b7169203331-01-more`],
    ['not hexadecimal', `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`],
  ])('begin anew after a traceparent that is malformed: %s', async (_case, header) => {
    expect((await ann.get('/api/v1/groups', { traceparent: header })).status).toBe(200);
    const root = await requestSpan();
    expect(root.parentSpanId).toBeUndefined();
    expect(root.traceId).not.toBe(traceId);
  });

  it('leave out probes, and name requests without a route by their method', async () => {
    await service.nobody.get('/healthz');
    await service.nobody.get('/metrics');
    await ann.call('GET', '/api/v1/zz-no-such-path', undefined, traceparent('01'));
    const root = await requestSpan();
    expect(root).toMatchObject({ name: 'GET', attributes: { 'http.response.status_code': 404 } });
    expect(collector.spans.map(({ name }) => name)).toEqual(['GET']);
  });

  it('are named in the log line of the request', async () => {
    await ann.get('/api/v1/groups', traceparent('01'));
    await eventually(async () => {
      const lines = log.join('').split('\n');
      const line = lines.find((text) => text.includes('"path":"/api/v1/groups"') && text.includes(traceId));
      expect(JSON.parse(line ?? '{}')).toMatchObject({ traceId, status: 200 });
    });
  });

  it('harm no request while the collector fails; later spans arrive', async () => {
    collector.answer(500);
    expect((await ann.post('/api/v1/chat/completions', completion)).status).toBe(200);
    await eventually(async () => expect(log.join('')).toContain('traces do not reach OTEL_EXPORTER_OTLP_ENDPOINT'));
    expect(collector.spans).toEqual([]);
    collector.answer(200);
    await ann.get('/api/v1/groups', traceparent('01'));
    await requestSpan((span) => span.traceId === traceId);
    expect(log.join('')).not.toContain(headerSecret);
  });
});

describe('without a collector', () => {
  it.each([
    ['no OTEL_EXPORTER_OTLP_ENDPOINT', {}],
    [
      'OTEL_SDK_DISABLED',
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: 'true', OTEL_BSP_SCHEDULE_DELAY: '1' },
    ],
  ])('nothing is traced: %s', async (_case, env) => {
    const quiet = await withService('model', { env });
    const bob = await quiet.make.person();
    collector.reset();
    expect((await bob.post('/api/v1/chat/completions', completion, traceparent('01'))).status).toBe(200);
    expect(quiet.upstream.requests[0]?.headers.traceparent).toBeUndefined();
    expect(quiet.service.deps.tracing).toBeUndefined();
    await quiet.service.close();
    expect(collector.requestCount).toBe(0);
  });
});

describe('a collector that does not answer', () => {
  it('holds up neither requests nor the end of the service', async () => {
    collector.answer('hang');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1' };
    const slow = await withService('model', { env });
    const bob = await slow.make.person();
    expect((await bob.post('/api/v1/chat/completions', completion)).status).toBe(200);
    await eventually(async () => expect(collector.requestCount).toBeGreaterThan(0));
    expect((await bob.get('/api/v1/groups')).status).toBe(200);
    await slow.service.close();
    expect(collector.spans).toEqual([]);
  });
});
