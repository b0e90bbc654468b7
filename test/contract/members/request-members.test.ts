import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

// docs/members.md says of each member of the common formats what it does here. The formats are those that the newest openai package declares, so
// that a new version with a new member fails here.

const { make, upstream } = await withService('model');
const ann = await make.person();

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The members of an interface of the openai package. */
function declaredMembers(file: string, name: string): readonly string[] {
  const text = read(`node_modules/openai/resources/${file}.d.ts`).replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const start = text.indexOf(`export interface ${name} `);
  if (start < 0) throw new Error(`the package declares no ${name}`);
  const members: string[] = [];
  let depth = 0;
  for (const line of text.slice(start).split('\n')) {
    const member = /^\s*(\w+)\??:/.exec(line)?.[1];
    if (depth === 1 && member !== undefined) members.push(member);
    depth += (line.match(/\{/g) ?? []).length - (line.match(/\}/g) ?? []).length;
    if (depth === 0) break;
  }
  return members;
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}
const openApi = JSON.parse(read('openapi.json')) as {
  readonly paths: Readonly<
    Record<string, { readonly post: { readonly requestBody: { readonly content: Record<string, { schema: Schema }> } } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
function bodyMembers(path: string): readonly string[] {
  const [content] = Object.values(openApi.paths[path]?.post.requestBody.content ?? {});
  let schema = content?.schema;
  while (schema?.$ref !== undefined) schema = openApi.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
  return Object.keys(schema?.properties ?? {}).map((name) => name.replace(/\[.*/, ''));
}

/** Rows of the table: member, completions, responses. */
const rows = [...read('docs/members.md').matchAll(/^\| `(\w+)` \| (\S+) \| (\S+) \|/gm)].map(
  ([, member = '', completions = '', responses = '']) => ({ member, completions, responses }),
);
const apis = [
  ['completions', '/api/v1/chat/completions', 'chat/completions/completions', ['ChatCompletionCreateParamsBase']],
  ['responses', '/api/v2/responses', 'responses/responses', ['ResponseCreateParamsBase', 'ResponseCompactParams']],
] as const;

describe.each(apis)('the table of members: %s', (api, path, file, interfaces) => {
  const told = rows.filter((row) => row[api] !== '–').map(({ member }) => member);
  it('has every member of the published format', () => {
    const extra = api === 'responses' ? declaredMembers('responses/input-tokens', 'InputTokenCountParams') : [];
    expect(
      [...interfaces.flatMap((name) => declaredMembers(file, name)), ...extra].filter((name) => !told.includes(name)),
    ).toEqual([]);
  });

  it('has every member that is read, and no other', () => {
    expect([...told].sort()).toEqual([...new Set(bodyMembers(path))].sort());
  });

  it('says one of three things of each', () => {
    expect(rows.filter((row) => !['served', '400', 'warning', '–'].includes(row[api]))).toEqual([]);
    expect(rows.filter((row) => row[api] === '400').length).toBeGreaterThan(2);
  });

  const basis = api === 'completions' ? { messages: [{ role: 'user', content: 'Hi' }] } : { input: 'Hi' };
  const request = { model: 'openai/test-model', ...basis };
  /** Something that asks for an effect, in any member. */
  const value = { any: 'thing' };

  it.each(rows.filter((row) => row[api] === '400').map(({ member }) => member))('%s is refused, and named', async (member) => {
    const before = upstream.requests.length;
    const { status, body } = await ann.post(path, { ...request, [member]: value });
    expect([status, body.error]).toMatchObject([400, { code: 'unsupported_value', param: member }]);
    expect(body.error.message).toContain(member);
    expect(upstream.requests.length).toBe(before);
    expect((await ann.post(path, { ...request, [member]: null })).status).toBe(200);
  });

  it.each(rows.filter((row) => row[api] === 'warning').map(({ member }) => member))(
    '%s is a warning, and named',
    async (member) => {
      const { status, body } = await ann.post(path, { ...request, [member]: value });
      expect(status).toBe(200);
      expect(body.warnings).toEqual([expect.objectContaining({ code: 'option_not_supported', param: member })]);
      expect(JSON.stringify(await ann.stream(path, { ...request, [member]: value, stream: true }))).toContain(
        'option_not_supported',
      );
      const stock = await ann.post(path, { ...request, [member]: value }, { 'x-parley-extensions': 'off' });
      expect(stock.body.warnings).toEqual(body.warnings);
      expect((await ann.post(path, request)).body).not.toHaveProperty('warnings');
    },
  );
});

/** Rows of the second table: places within members. */
const placeRows = [...read('docs/members.md').matchAll(/^\| `([\w.[\]]*[.[][\w.[\]]*)` \| (\S+) \| (\S+) \|/gm)].map(
  ([, place = '', completions = '', responses = '']) => ({ place, completions, responses }),
);
const user = { role: 'user', content: 'Hi' };
const functionTool = { type: 'function', name: 'add', parameters: { type: 'object' } };
const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' };
/** A request with this value in a place of the table. */
const samples: Readonly<Record<string, (value: unknown) => object>> = {
  'messages[].audio': (audio) => ({ messages: [user, { role: 'assistant', content: 'So', audio }, user] }),
  'messages[].function_call': (function_call) => ({
    messages: [user, { role: 'assistant', content: 'So', function_call }, user],
  }),
  'messages[].content[].prompt_cache_breakpoint': (prompt_cache_breakpoint) => ({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', prompt_cache_breakpoint }] }],
  }),
  'input[].content[].prompt_cache_breakpoint': (prompt_cache_breakpoint) => ({
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi', prompt_cache_breakpoint }] }],
  }),
  'input[].async': (async) => ({ input: [user, { ...call, async }, user] }),
  'input[].caller': (caller) => ({ input: [user, { ...call, caller }, user] }),
  'input[].namespace': (namespace) => ({ input: [user, { ...call, namespace }, user] }),
  'reasoning.context': (context) => ({ reasoning: { context } }),
  'reasoning.mode': (mode) => ({ reasoning: { mode } }),
  'tools[].allowed_callers': (allowed_callers) => ({ tools: [{ ...functionTool, allowed_callers }] }),
  'tools[].async': (async) => ({ tools: [{ ...functionTool, async }] }),
  'tools[].defer_loading': (defer_loading) => ({ tools: [{ ...functionTool, defer_loading }] }),
  'tools[].output_schema': (output_schema) => ({ tools: [{ ...functionTool, output_schema }] }),
};
/** Values that ask for nothing. */
const idleValues: Readonly<Record<string, unknown>> = {
  'input[].async': false,
  'input[].caller': { type: 'direct' },
  'reasoning.context': 'auto',
  'reasoning.mode': 'standard',
  'tools[].allowed_callers': ['direct', 'programmatic'],
  'tools[].async': false,
  'tools[].defer_loading': false,
};

describe.each(apis)('the table of members within members: %s', (api, path, file) => {
  const told = placeRows.filter((row) => row[api] !== '–');
  const component = (name: string) => Object.keys(openApi.components.schemas[name]?.properties ?? {});
  const within: readonly (readonly [place: string, declared: string, component: string])[] =
    api === 'completions'
      ? [
          ['messages[]', 'ChatCompletionSystemMessageParam', 'CompletionMessageInput'],
          ['messages[]', 'ChatCompletionUserMessageParam', 'CompletionMessageInput'],
          ['messages[]', 'ChatCompletionAssistantMessageParam', 'CompletionMessageInput'],
          ['messages[]', 'ChatCompletionToolMessageParam', 'CompletionMessageInput'],
          ['messages[].content[]', 'ChatCompletionContentPartText', 'CompletionTextPart'],
          ['messages[].content[]', 'ChatCompletionContentPartImage', 'CompletionImagePart'],
          ['messages[].content[]', 'ChatCompletionContentPartRefusal', 'CompletionRefusalPart'],
        ]
      : [
          ['input[]', 'EasyInputMessage', 'AssistantMessageParam'],
          ['input[]', 'ResponseFunctionToolCall', 'FunctionCallParam'],
          ['input[]', 'ResponseReasoningItem', 'ReasoningParam'],
          ['input[].content[]', 'ResponseInputText', 'InputTextParam'],
          ['input[].content[]', 'ResponseInputImage', 'InputImageParam'],
          ['input[].content[]', 'ResponseInputFile', 'InputFileParam'],
          ['tools[]', 'FunctionTool', 'FunctionToolParam'],
          ['tool_choice', 'ToolChoiceAllowed', 'ToolChoiceAllowed'],
          ['tool_choice', 'ToolChoiceFunction', 'ToolChoiceFunction'],
          ['text', 'ResponseTextConfig', 'ResponseTextParam'],
          ['text.format', 'ResponseFormatTextJSONSchemaConfig', 'TextFormatJsonSchemaParam'],
        ];
  it.each(within)('%s: every member of %s is read, or in the table', (place, declared, name) => {
    const places = new Set(told.map((row) => row.place));
    const members = declaredMembers(file, declared);
    expect(members.filter((member) => !component(name).includes(member) && !places.has(`${place}.${member}`))).toEqual([]);
    expect(members.length).toBeGreaterThan(1);
  });
  it.runIf(api === 'responses')('reasoning: every member is read, or in the table', () => {
    const places = new Set(told.map((row) => row.place));
    // The former name of `summary`.
    const known = [...component('ResponseReasoningParam'), 'generate_summary'];
    const members = declaredMembers('shared', 'Reasoning');
    expect(members.filter((member) => !known.includes(member) && !places.has(`reasoning.${member}`))).toEqual([]);
  });

  it.each(told)('$place does what the table says', async (row) => {
    const request = { model: 'openai/test-model', ...(api === 'completions' ? { messages: [user] } : { input: 'Hi' }) };
    const sample = samples[row.place] ?? expect.fail(`no request has ${row.place}`);
    const param = expect.stringMatching(
      new RegExp(`^${row.place.replaceAll('[]', String.raw`\[\d\]`).replaceAll('.', String.raw`\.`)}$`),
    );
    const asked = await ann.post(path, { ...request, ...sample({ any: 'thing' }) });
    if (row[api] === '400') {
      expect([asked.status, asked.body.error]).toMatchObject([400, { code: 'unsupported_value', param }]);
      expect(asked.body.error.message).toContain(asked.body.error.param);
    } else {
      expect(asked.status).toBe(200);
      expect(asked.body.warnings).toEqual([expect.objectContaining({ code: 'option_not_supported', param })]);
    }
    const idle = await ann.post(path, { ...request, ...sample(idleValues[row.place] ?? null) });
    expect([idle.status, idle.body.warnings]).toEqual([200, undefined]);
  });
});

const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
const inPath = (path: string, member: string) => path.includes(`{${camel(member)}}`);

/** Named in docs/openai-clients.md: items are listed with what they have. */
const unread: Readonly<Record<string, readonly string[]>> = {
  '/api/v2/responses/{responseId}/input_items': ['include'],
  '/api/v1/conversations/{conversationId}/items': ['include'],
};
it.each([
  ['responses/responses', 'ResponseRetrieveParamsBase', '/api/v2/responses/{responseId}', []],
  ['responses/input-items', 'InputItemListParams', '/api/v2/responses/{responseId}/input_items', ['after', 'limit']],
  ['conversations/items', 'ItemListParams', '/api/v1/conversations/{conversationId}/items', ['after', 'limit']],
  ['files', 'FileListParams', '/api/v1/files', ['after', 'limit']],
  ['vector-stores/vector-stores', 'VectorStoreListParams', '/api/v1/vector_stores', ['after', 'limit']],
  ['vector-stores/files', 'FileListParams', '/api/v1/vector_stores/{vectorStoreId}/files', ['after', 'limit']],
  [
    'vector-stores/file-batches',
    'FileBatchListFilesParams',
    '/api/v1/vector_stores/{vectorStoreId}/file_batches/{batchId}/files',
    ['after', 'limit'],
  ],
] as const)('%s: every query parameter of %s is read', (file, name, path, inherited) => {
  const { parameters } = (openApi.paths[path] as unknown as { get: { parameters: { name: string; in: string }[] } }).get;
  const names = new Set(parameters.filter((one) => one.in === 'query').map((one) => one.name));
  const members = [...declaredMembers(file, name), ...inherited];
  expect(members.filter((member) => !names.has(member) && !inPath(path, member)).sort()).toEqual([...(unread[path] ?? [])]);
  expect(read('docs/openai-clients.md')).toContain('`include` of lists of items');
});

it('what the form of an answer is for reaches the model', async () => {
  const format = { name: 'reply', description: 'A person of the staff', schema: { type: 'object' } };
  upstream.next({ text: '{}' }, { text: '{}' });
  await ann.post('/api/v1/chat/completions', {
    ...{ model: 'openai/test-model', messages: [user] },
    response_format: { type: 'json_schema', json_schema: format },
  });
  expect(upstream.requests.at(-1)?.body).toMatchObject({ response_format: { json_schema: format } });
  const text = { format: { type: 'json_schema', ...format } };
  await ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hi', text });
  expect(upstream.requests.at(-1)?.body).toMatchObject({ response_format: { json_schema: format } });
});

it('a completion asks for text alone by its modalities', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const ask = (modalities: unknown) => ann.post('/api/v1/chat/completions', { model: 'openai/test-model', messages, modalities });
  expect((await ask(['text'])).status).toBe(200);
  expect((await ask(['text', 'audio'])).body.error).toMatchObject({ code: 'unsupported_value', param: 'modalities' });
});

it('options of a completion reach the provider, and its log probabilities and tier come back', async () => {
  const tokens = [
    { token: 'Hi', logprob: -0.5, bytes: [72, 105], top_logprobs: [{ token: 'Hi', logprob: -0.5, bytes: [72, 105] }] },
  ];
  const script = { text: ['Hi'], logprobs: tokens, serviceTier: 'flex' };
  const request = {
    model: 'openai/test-model',
    messages: [{ role: 'user', content: 'Hi' }],
    ...{ logprobs: true, top_logprobs: 1, logit_bias: { 50256: -100 }, verbosity: 'low', service_tier: 'flex' },
  };
  upstream.next(script, script);
  const { body } = await ann.post('/api/v1/chat/completions', request);
  expect(upstream.requests.at(-1)?.body).toMatchObject({
    ...{ logprobs: true, top_logprobs: 1, logit_bias: { 50256: -100 }, verbosity: 'low', service_tier: 'flex' },
  });
  expect(body).toMatchObject({ service_tier: 'flex', choices: [{ logprobs: { content: tokens, refusal: null } }] });
  const frames = await ann.stream('/api/v1/chat/completions', { ...request, stream: true });
  const chunks = frames.slice(0, -1).map(({ data }) => JSON.parse(data));
  expect(chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])).toEqual(tokens);
  expect(chunks.at(-1)).toMatchObject({ service_tier: 'flex' });
  const wrong = { logit_bias: { 1: 101 }, top_logprobs: 21, verbosity: 'loud', service_tier: 'gold' };
  const { error } = (await ann.post('/api/v1/chat/completions', { ...request, ...wrong })).body;
  expect(error).toMatchObject({ code: 'invalid_value' });
});

it.each([
  ['embeddings', 'EmbeddingCreateParams', '/api/v1/embeddings'],
  ['files', 'FileCreateParams', '/api/v1/files'],
  ['uploads/uploads', 'UploadCreateParams', '/api/v1/uploads'],
  ['vector-stores/vector-stores', 'VectorStoreCreateParams', '/api/v1/vector_stores'],
  ['vector-stores/vector-stores', 'VectorStoreUpdateParams', '/api/v1/vector_stores/{vectorStoreId}'],
  ['vector-stores/vector-stores', 'VectorStoreSearchParams', '/api/v1/vector_stores/{vectorStoreId}/search'],
  ['vector-stores/files', 'FileCreateParams', '/api/v1/vector_stores/{vectorStoreId}/files'],
  ['vector-stores/file-batches', 'FileBatchCreateParams', '/api/v1/vector_stores/{vectorStoreId}/file_batches'],
  ['conversations/conversations', 'ConversationCreateParams', '/api/v1/conversations'],
])('%s: every member of %s is read', (file, name, path) => {
  const members = bodyMembers(path);
  const pathMembers = ['vector_store_id'];
  expect(declaredMembers(file, name).filter((member) => !members.includes(member) && !pathMembers.includes(member))).toEqual([]);
});
