import { describe, expect, it } from 'vitest';
import type { TestClient } from '../../../support/client.ts';
import { withService } from '../../../support/service.ts';
import { never } from '../../../support/upstream.ts';

const path = '/api/v1/chat/completions';
const { service, make, upstream } = await withService('model');

const ann = await make.person();

const ask = (more: object = {}) => ({ model: 'openai/test-model', messages: [{ role: 'user', content: 'Hi' }], ...more });
const tool = (name: string) => ({
  type: 'function',
  function: { name, description: 'A tool', parameters: { type: 'object', properties: {} } },
});
const call = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };

/** The parsed chunks of a stream; checks `[DONE]` and leaves it out. */
async function chunks(who: TestClient, body: object, at = path) {
  const frames = await who.stream(at, { ...body, stream: true });
  expect(frames.at(-1)?.data).toBe('[DONE]');
  expect(frames.every((frame) => frame.event === undefined && frame.id === undefined)).toBe(true);
  return frames.slice(0, -1).map((frame) => JSON.parse(frame.data));
}

describe(`POST ${path}`, () => {
  it('answers in one body with every member of the common format', async () => {
    upstream.next({ text: ['Hel', 'lo'], usage: { prompt_tokens: 5, completion_tokens: 2 } });
    const reply = await ann.post(path, ask());
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^chatcmpl-\w{24,}$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'openai/test-model',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 2,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      chatId: expect.any(String),
    });
    expect(reply.headers.get('x-parley-model')).toBe('openai/test-model');
    expect(upstream.requests[0]?.body).toMatchObject({
      model: 'test-model',
      stream: false,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const again = await ann.post(path, ask());
    expect(again.body.chatId).not.toBe(reply.body.chatId);
  });

  it('streams role, text, finish, usage when asked, and [DONE]', async () => {
    upstream.next({ text: ['Hel', 'lo "€"\n'], usage: { prompt_tokens: 5, completion_tokens: 2 } });
    const all = await chunks(ann, ask({ stream_options: { include_usage: true } }));
    expect(new Set(all.map(({ id, created, chatId }) => `${id} ${created} ${chatId}`)).size).toBe(1);
    expect(all.every((chunk) => chunk.object === 'chat.completion.chunk' && chunk.model === 'openai/test-model')).toBe(true);
    expect(all.map((chunk) => chunk.choices)).toEqual([
      [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
      [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }],
      [{ index: 0, delta: { content: 'lo "€"\n' }, finish_reason: null }],
      [{ index: 0, delta: {}, finish_reason: 'stop' }],
      [],
    ]);
    expect(all.map((chunk) => chunk.usage?.total_tokens ?? chunk.usage)).toEqual([null, null, null, null, 7]);
  });

  it('sends no usage unasked', async () => {
    const all = await chunks(ann, ask());
    expect(all.every((chunk) => !('usage' in chunk) && chunk.choices.length === 1)).toBe(true);
  });

  it('has the headers of a stream that proxies need', async () => {
    const response = await ann.fetch('POST', path, ask({ stream: true }), {});
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('x-request-id')).toBeTruthy();
    await response.text();
  });

  it('streams calls one after the other: id and name once, then arguments', async () => {
    upstream.next({ toolCalls: [call, { ...call, id: 'call_2', arguments: '{}' }] });
    const all = await chunks(ann, ask({ tools: [tool('add')] }));
    expect(all[0].choices[0].delta).toEqual({ role: 'assistant', content: null });
    const deltas = all.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
    expect(deltas.filter((delta) => 'id' in delta)).toEqual([
      { index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '' } },
      { index: 1, id: 'call_2', type: 'function', function: { name: 'add', arguments: '' } },
    ]);
    const joined = [0, 1].map((index) =>
      deltas
        .filter((delta) => delta.index === index)
        .map((delta) => delta.function.arguments)
        .join(''),
    );
    expect(joined).toEqual([call.arguments, '{}']);
    expect(all.at(-1).choices[0].finish_reason).toBe('tool_calls');
  });

  it('runs a tool workflow in two calls with the history in the hands of the client', async () => {
    upstream.next({ toolCalls: [call] }, { text: 'It is 3.' });
    const first = await ann.post(path, ask({ tools: [tool('add')] }));
    expect(first.body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: call.arguments } }],
      },
    });
    const messages = [
      { role: 'user', content: 'Hi' },
      first.body.choices[0].message,
      { role: 'tool', tool_call_id: 'call_1', content: '3' },
    ];
    const second = await ann.post(path, ask({ messages, tools: [tool('add')] }));
    expect(second.body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It is 3.' } });
    expect(upstream.requests[1]?.body?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: '3' },
    ]);
  });

  it('passes on the parameters of the answer, under either name, and ignores unknown members', async () => {
    await ann.post(
      path,
      ask({
        messages: [
          { role: 'developer', content: 'Be kind.' },
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'Look' },
              { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
            ],
          },
        ],
        max_tokens: 5,
        max_completion_tokens: 7,
        temperature: 0,
        top_p: 0.5,
        stop: 'x',
        seed: 12345678901,
        presence_penalty: 1,
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
        options: { flow: { override: { force: false }, tracing: { enabled: false } } },
        store: true,
        metadata: { a: 'b' },
        user: 'u',
        unheard_of: 1,
        logit_bias: null,
        tools: null,
        stream: false,
      }),
    );
    expect(upstream.requests[0]?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
      ],
      max_tokens: 7,
      temperature: 0,
      top_p: 0.5,
      stop: ['x'],
      seed: 12345678901,
      presence_penalty: 1,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
    });
  });

  it.each([true, false])(
    "tells the provider the caller's own names for its users and caches, and none of ours (stream %s)",
    async (stream) => {
      upstream.otherwise({ text: 'Yes' });
      const given = { user: 'u', safety_identifier: 's', prompt_cache_key: 'k' };
      for (const members of [given, {}, { user: null, safety_identifier: null, prompt_cache_key: null }]) {
        await ann.fetch('POST', path, ask({ stream, ...members }), {}).then((reply) => reply.text());
        const { user, safety_identifier, prompt_cache_key } = upstream.requests.at(-1)?.body ?? {};
        expect({ user, safety_identifier, prompt_cache_key }).toEqual(members === given ? given : {});
      }
      const sent = JSON.stringify(upstream.requests);
      for (const own of [ann.userId, ann.orgId, ann.keyId]) expect(sent).not.toContain(own);
    },
  );

  it('shows the thinking of a model apart from its answer', async () => {
    upstream.otherwise({ reasoning: 'hm', text: 'Yes' });
    const whole = await ann.post(path, ask());
    expect(whole.body.choices[0].message).toMatchObject({ content: 'Yes', reasoning_content: 'hm' });
    const all = await chunks(ann, ask());
    expect(all.map((chunk) => chunk.choices[0].delta.content ?? '').join('')).toBe('Yes');
  });

  it.each([['length'], ['content_filter']])('reports the finish %s', async (finish) => {
    upstream.otherwise({ text: 'cut', finish });
    expect((await ann.post(path, ask())).body.choices[0].finish_reason).toBe(finish);
    expect((await chunks(ann, ask())).at(-1).choices[0].finish_reason).toBe(finish);
  });

  it.each<[string, object, number, string, string | null]>([
    ['no messages', { messages: undefined }, 400, 'missing_required_parameter', 'messages'],
    ['empty messages', { messages: [] }, 400, 'empty_array', 'messages'],
    ['messages of another type', { messages: 'Hi' }, 400, 'invalid_type', 'messages'],
    ['no model', { model: undefined }, 400, 'missing_required_parameter', 'model'],
    ['unknown model', { model: 'openai/none' }, 404, 'model_not_found', 'model'],
    ['unknown agent', { model: 'ai_01h455vb4pex5vsknk084sn02q' }, 404, 'model_not_found', 'model'],
    ['unknown role', { messages: [{ role: 'function', content: 'x' }] }, 400, 'invalid_value', 'messages[0].role'],
    ['no content', { messages: [{ role: 'user' }] }, 400, 'missing_required_parameter', 'messages[0].content'],
    [
      'a part of an unknown type',
      { messages: [{ role: 'user', content: [{ type: 'video' }] }] },
      400,
      'invalid_value',
      'messages[0].content[0].type',
    ],
    [
      'an image of another scheme',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] }] },
      400,
      'invalid_value',
      'messages[0].content[0].image_url',
    ],
    ['two functions of one name', { tools: [tool('f'), tool('f')] }, 400, 'duplicate_tool_name', 'tools[1].function.name'],
    [
      'a function named like an enabled tool',
      { tools: [{ type: 'python' }, tool('python')] },
      400,
      'tool_name_conflict',
      'tools[1].function.name',
    ],
    ['an unknown type of tool', { tools: [{ type: 'teleport' }] }, 400, 'unknown_tool_type', 'tools[0].type'],
    ['a bad function name', { tools: [tool('no spaces')] }, 400, 'invalid_value', 'tools[0].function.name'],
    [
      'a choice that is no tool',
      { tools: [tool('f')], tool_choice: { type: 'function', function: { name: 'g' } } },
      400,
      'invalid_value',
      'tool_choice',
    ],
    [
      'an output without a call',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'tool', tool_call_id: 'c', content: 'x' },
        ],
      },
      400,
      'invalid_value',
      'messages[1].tool_call_id',
    ],
    [
      'a call without an output',
      {
        messages: [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
          },
          { role: 'user', content: 'x' },
        ],
      },
      400,
      'invalid_value',
      'messages[0].tool_calls',
    ],
    ['n of 2', { n: 2 }, 400, 'invalid_value', 'n'],
    ['max_tokens of 0', { max_tokens: 0 }, 400, 'invalid_value', 'max_tokens'],
    ['a fractional max_tokens', { max_tokens: 1.5 }, 400, 'invalid_type', 'max_tokens'],
    ['temperature of 3', { temperature: 3 }, 400, 'invalid_value', 'temperature'],
    ['stop of a wrong type', { stop: 3 }, 400, 'invalid_value', 'stop'],
    ['an unknown response format', { response_format: { type: 'xml' } }, 400, 'invalid_value', 'response_format.type'],
    ['stream of a wrong type', { stream: 'yes' }, 400, 'invalid_type', 'stream'],
  ])('refuses before any frame: %s', async (_case, more, status, code, param) => {
    for (const stream of [{}, 'stream' in more ? {} : { stream: true }]) {
      const reply = await ann.post(path, { ...ask(), ...more, ...stream });
      expect(reply).toMatchObject({ status, body: { error: { type: 'invalid_request_error', code, param } } });
    }
    expect(upstream.requests).toHaveLength(0);
  });

  it.each<[object, number, string]>([
    [{ status: 429, headers: { 'retry-after': '9' } }, 429, 'rate_limit_exceeded'],
    [{ status: 401 }, 502, 'upstream_error'],
    [{ status: 500 }, 502, 'upstream_error'],
    [{ status: 400, body: '{"error":{"code":"context_length_exceeded"}}' }, 400, 'context_length_exceeded'],
  ])('answers in JSON when the upstream refuses with %j, streaming or not', async (script, status, code) => {
    upstream.otherwise(script);
    for (const stream of [false, true]) {
      const reply = await ann.post(path, ask({ stream }));
      expect(reply).toMatchObject({ status, body: { error: { code } } });
      expect(reply.headers.get('retry-after')).toBe(status === 429 ? '9' : null);
    }
  });

  it('ends a stream well-formed when the upstream breaks off in its middle', async () => {
    upstream.next({ text: ['a', 'b', 'c'], chunkDelayMs: 10, cutAtByte: 500 });
    const all = await chunks(ann, ask());
    expect(all.at(-1)).toMatchObject({ error: { code: 'upstream_error', type: 'server_error', message: expect.any(String) } });
    expect(
      all.filter((chunk) => chunk.choices?.[0]?.finish_reason !== undefined && chunk.choices[0].finish_reason !== null),
    ).toEqual([]);
  });

  it.each([true, false])('stops the upstream within a second when the client leaves (stream %s)', async (stream) => {
    upstream.next(stream ? { text: ['x', 'y'], restGate: never } : { gate: never });
    const controller = new AbortController();
    const reading = ann.fetch('POST', path, ask({ stream }), {}, controller.signal).then((response) => response.text());
    await upstream.until(({ openStreams }) => openStreams === 1);
    controller.abort();
    await expect(reading).rejects.toThrow();
    await upstream.until(({ openStreams, aborted }) => openStreams === 0 && aborted === 1, 1_000);
  });

  it('ends a stream whose key is revoked with one error, which says so', async () => {
    upstream.next({ text: ['One ', 'two'], hangAtByte: 600 });
    const other = await make.withKey(ann, {});
    const frames: string[] = [];
    for await (const { data } of other.sse('POST', path, {
      model: 'test-model',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    })) {
      if (frames.push(data) === 1) await ann.delete(`/api/v1/api-keys/${other.keyId}`);
    }
    const errors = frames.filter((data) => data.startsWith('{"error"')).map((data) => JSON.parse(data).error.code);
    expect(errors).toEqual(['invalid_api_key']);
    expect(frames.at(-1)).toBe('[DONE]');
  });

  it('keeps nothing but the usage', async () => {
    upstream.next({ text: 'Hello', usage: { prompt_tokens: 5, completion_tokens: 2 } });
    const eva = await make.person();
    await eva.post(path, ask());
    const rows = await service.deps.storage.db.pool.query('select count(*)::int as n from chats where "userId" = $1', [
      eva.userId,
    ]);
    expect(rows.rows).toEqual([{ n: 0 }]);
  });
});

describe('an agent as the model', () => {
  it('lends its instructions, model and options; the request goes before its options', async () => {
    const agent = await make.agent({
      owner: ann,
      instructions: 'Speak like a pirate.',
      modelId: 'openai/test-model',
      options: { temperature: [0.3], maxTokens: [50] },
    });
    const reply = await ann.post(path, ask({ model: agent.id, max_tokens: 9 }));
    expect(reply.body.model).toBe(agent.id);
    expect(reply.headers.get('x-parley-model')).toBe('openai/test-model');
    expect(upstream.requests[0]?.body).toMatchObject({
      model: 'test-model',
      temperature: 0.3,
      max_tokens: 9,
      messages: [
        { role: 'system', content: 'Speak like a pirate.' },
        { role: 'user', content: 'Hi' },
      ],
    });
    expect((await chunks(ann, ask({ model: agent.id })))[0].model).toBe(agent.id);
  });

  it('is missing for those who may not see it', async () => {
    const agent = await make.agent({ owner: ann, visibility: 'PRIVATE', modelId: 'openai/test-model' });
    const bob = await make.person();
    expect(await bob.post(path, ask({ model: agent.id }))).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found', param: 'model' } },
    });
  });
});

describe('POST /api/v1/completions/threadless', () => {
  it('does the same and names the route that replaces it', async () => {
    const reply = await ann.post('/api/v1/completions/threadless', ask());
    expect(reply).toMatchObject({
      status: 200,
      body: { object: 'chat.completion', choices: [{ message: { content: 'Hello from upstream' } }] },
    });
    expect(reply.headers.get('deprecation')).toBeTruthy();
    expect(reply.headers.get('link')).toBe(`<${path}>; rel="successor-version"`);
    const response = await ann.fetch('POST', '/api/v1/completions/threadless', ask({ stream: true }), {});
    expect(response.headers.get('link')).toContain('successor-version');
    await response.text();
  });
});

describe('GET /api/v1/models', () => {
  it('lists models and the agents of the caller', async () => {
    const agent = await make.agent({ owner: ann, name: 'Listed' });
    const { status, body } = await ann.get('/api/v1/models');
    expect(status).toBe(200);
    expect(body.object).toBe('list');
    expect(body.data).toContainEqual({
      id: 'openai/test-model',
      object: 'model',
      created: 1_700_000_000,
      owned_by: 'openai',
      name: 'openai/test-model',
    });
    expect(body.data.map((entry: { id: string }) => entry.id)).toEqual(expect.arrayContaining(['parley/offline', agent.id]));
    const bob = await make.person();
    expect((await bob.get('/api/v1/models')).body.data.map((entry: { id: string }) => entry.id)).not.toContain(agent.id);
  });
});

describe('the built-in model over REST', () => {
  it('answers without any provider, the same each time', async () => {
    const body = { model: 'parley/offline', messages: [{ role: 'user', content: 'Who are you?' }] };
    const [one, two] = [await ann.post(path, body), await ann.post(path, body)];
    expect(one.body.choices[0].message.content).toContain('parley/offline');
    expect(two.body.choices).toEqual(one.body.choices);
    const streamed = await chunks(ann, body);
    expect(streamed.map((chunk) => chunk.choices[0].delta.content ?? '').join('')).toBe(one.body.choices[0].message.content);
  });
});

describe('completions over GraphQL', () => {
  const input = { model: 'openai/test-model', messages: [{ user: { text: 'Hi' } }] };

  it('another model answers for an agent, and none for a model', async () => {
    const agent = await make.agent({ owner: ann, instructions: 'Be a quokka.', modelId: 'openai/test-model' });
    const complete = (model: string, modelId: string) =>
      ann.graphql(
        `mutation ($input: CompletionInput!, $modelId: String) { createCompletion(input: $input, modelId: $modelId) { modelId text } }`,
        { input: { model, messages: [{ user: { text: 'Hello' } }] }, modelId },
      );
    expect((await complete(agent.id, 'parley/offline')).data.createCompletion.modelId).toBe('parley/offline');
    for (const [model, modelId, code] of [
      [agent.id, 'no/such', 'MODEL_NOT_FOUND'],
      ['openai/test-model', 'parley/offline', 'UNSUPPORTED_VALUE'],
    ] as const) {
      const [error] = (await complete(model, modelId)).errors ?? [];
      expect(error?.extensions.code).toBe(code);
    }
  });

  it('completionEvents says the whole text wherever a document asks for it', async () => {
    const read = async (selection: string, fragments = '') => {
      const query = `subscription ($input: CompletionInput!) { completionEvents(input: $input) { ${selection} } } ${fragments}`;
      const events: Record<string, unknown>[] = [];
      for await (const { data } of ann.subscribe(query, { input })) events.push(data.completionEvents);
      return events;
    };
    const fragments = 'fragment Ended on RunEnded { run { status ...Said } } fragment Said on Run { text }';
    const said = 'Hello from upstream';
    const deltas = await read(
      '__typename sequence ... on TextDelta { delta } ... on RunEnded { run { status usage { totalTokens } } }',
    );
    expect(deltas.map(({ delta = '' }) => delta).join('')).toBe(said);
    expect(deltas.at(-1)).toMatchObject({ run: { status: 'COMPLETED', usage: { totalTokens: expect.any(Number) } } });
    expect((await read('...Ended', fragments)).at(-1)).toEqual({ run: { status: 'COMPLETED', text: said } });
    const done = await read('... on TextDone { whole: text } ... on ItemDone { item { ... on MessageItem { text } } }');
    expect(done).toContainEqual({ whole: said });
    expect(done).toContainEqual({ item: { text: said } });
    expect((await read('... on TextDelta { textSoFar }')).findLast((event) => 'textSoFar' in event)).toEqual({ textSoFar: said });
  });

  it('createCompletion answers whole', async () => {
    const query = `mutation ($input: CompletionInput!) { createCompletion(input: $input) { status text toolCalls { id } selection { provider model } usage { totalTokens } } }`;
    expect((await ann.graphql(query, { input })).data.createCompletion).toEqual({
      status: 'COMPLETED',
      text: 'Hello from upstream',
      toolCalls: [],
      selection: { provider: 'openai', model: 'test-model' },
      usage: { totalTokens: 11 },
    });
  });

  it('completionEvents gives the text so far on request, also asked twice, and stops at its end', async () => {
    const query = `subscription ($input: CompletionInput!) { completionEvents(input: $input) { ... on TextDelta { delta text: textSoFar again: textSoFar } } }`;
    const gathered = async (text: readonly string[]) => {
      upstream.next({ text });
      const input = { model: 'openai/test-model', messages: [{ user: { text: 'Hello' } }] };
      const results = await Array.fromAsync(ann.subscribe(query, { input }));
      return results.flatMap(({ data }) =>
        'delta' in data.completionEvents
          ? [data.completionEvents as { delta: string; text: string | null; again: string | null }]
          : [],
      );
    };
    const events = await gathered(['One ', 'two ', 'three.']);
    let whole = '';
    for (const { delta, text, again } of events) {
      whole += delta;
      expect([text, again]).toEqual([whole, whole]);
    }
    expect(whole).toBe('One two three.');
    const long = await gathered(['x'.repeat(9_999), 'y', 'z', 'end']);
    expect(long.filter(({ text }) => text !== null).at(-1)?.text).toHaveLength(10_000);
    expect(long.at(-1)?.text).toBeNull();
  });

  it('completionEvents shows it while it happens', async () => {
    upstream.next({ text: ['Hel', 'lo'] });
    const query = `subscription ($input: CompletionInput!) { completionEvents(input: $input) { sequence __typename ... on TextDelta { delta } ... on RunEnded { run { status usage { outputTokens } } } } }`;
    const events = (await Array.fromAsync(ann.subscribe(query, { input }))).map((result) => result.data.completionEvents);
    expect(events.map((event) => event.sequence)).toEqual(events.map(({ sequence }) => sequence).toSorted((a, b) => a - b));
    expect(events.map((event) => event.delta ?? '').join('')).toBe('Hello');
    expect(events.at(-1)).toMatchObject({ __typename: 'RunCompleted', run: { status: 'COMPLETED', usage: { outputTokens: 2 } } });
  });

  it('refuses with the code and the member', async () => {
    const query = `mutation ($input: CompletionInput!) { createCompletion(input: $input) { id } }`;
    const { errors } = await ann.graphql(query, { input: { ...input, model: 'openai/none' } });
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'MODEL_NOT_FOUND', faults: [{ path: 'input.model' }] } });
  });
});
