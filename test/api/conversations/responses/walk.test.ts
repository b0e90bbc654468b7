import { describe, expect, it } from 'vitest';
import { findBox } from '../../../../src/engine/tools/code/box/box.ts';
import type { ServerTool } from '../../../../src/engine/tools/server-tool.ts';

import type { RunEvent } from '../../../../src/entities/conversations/runs/event.ts';
import { ResponseProjection, sseFrame } from '../../../../src/wire/responses/events.ts';
import { expectComponent } from '../../../support/apis/described.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { expectAccepted } from '../../../support/runs/accepted-request.ts';
import { unsigned } from '../../../support/runs/answers.ts';
import { eventsOf, responseMembers, walk } from '../../../support/runs/response-walk.ts';
import { finish, loopDeps, plan, registryOf, runPlan, scriptedModel, text } from '../../../support/runs/runs.ts';
import { withService } from '../../../support/service.ts';
import type { UpstreamScript } from '../../../support/upstream.ts';

const { service, make, upstream } = await withService('model');
const box = await findBox();
const path = '/api/v2/responses';
const request = {
  model: 'openai/test-model',
  input: 'What is 1 + 2?',
  tools: [{ type: 'function', name: 'add', parameters: { type: 'object' } }],
};
const call = (id: string) => ({ id, name: 'add', arguments: '{"a":1,"b":2}' });

const ann = await make.person();

const scenarios: readonly [string, UpstreamScript, { readonly status: string; readonly types: readonly string[] }][] = [
  ['text in one piece', { text: 'It is 3.' }, { status: 'completed', types: ['message'] }],
  [
    'text in many pieces',
    { text: Array.from({ length: 40 }, (_, n) => `"w\\${n}" ä😀\n`) },
    { status: 'completed', types: ['message'] },
  ],
  [
    'thinking, then text',
    { reasoning: 'Let me see', text: ['It is ', '3.'] },
    { status: 'completed', types: ['reasoning', 'message'] },
  ],
  ['a refusal', { refusal: 'I will not.' }, { status: 'completed', types: ['message'] }],
  ['a call', { toolCalls: [call('call_1')] }, { status: 'completed', types: ['function_call'] }],
  [
    'text and two calls',
    { text: 'One moment', toolCalls: [call('call_1'), call('call_2')] },
    { status: 'completed', types: ['message', 'function_call', 'function_call'] },
  ],
  [
    'a call without arguments',
    { toolCalls: [{ id: 'call_1', name: 'add', arguments: '' }] },
    { status: 'completed', types: ['function_call'] },
  ],
  ['an answer that is too long', { text: 'It is', finish: 'length' }, { status: 'incomplete', types: ['message'] }],
  ['a filtered answer', { text: 'It is', finish: 'content_filter' }, { status: 'incomplete', types: ['message'] }],
  // A message without words: stock agents ask again and again where the output is empty.
  ['nothing at all', { text: '' }, { status: 'completed', types: ['message'] }],
  [
    'an upstream that breaks off',
    { text: ['It ', 'is ', '3.'], chunkDelayMs: 5, cutAtByte: 420 },
    { status: 'failed', types: ['message'] },
  ],
  [
    'a call that is cut',
    { text: 'One', toolCalls: [call('call_1')], finish: 'length' },
    { status: 'incomplete', types: ['message', 'function_call'] },
  ],
];

describe.each(scenarios)('%s', (_name, script, { status, types }) => {
  it.each([true, false])('is a well-formed stream (store %s)', async (store) => {
    upstream.otherwise(script);
    const events = eventsOf(await ann.stream(path, { ...request, store, stream: true }));
    const response = walk(events);
    expect(response.status).toBe(status);
    expect(response.output.map((item: { type: string }) => item.type)).toEqual(types);
    expect(Object.keys(response)).toEqual(expect.arrayContaining(responseMembers));
    if (!store) return;
    expect(eventsOf(await frames(`${path}/${response.id}?stream=true`))).toEqual(events);
    expect((await ann.get(`${path}/${response.id}`)).body).toEqual(response);
  });

  it('is one body that says the same', async () => {
    upstream.otherwise(script);
    const streamed = walk(eventsOf(await ann.stream(path, { ...request, stream: true })));
    const { status: code, body } = await ann.post(path, request);
    expect(code).toBe(200);
    expect(bare(body)).toEqual(bare(streamed));
    expect(Object.keys(body)).toEqual(expect.arrayContaining(responseMembers));
  });
});

describe('tools of the service', () => {
  const clock: ServerTool = {
    definition: { name: 'clock', description: 'Tells the time', parameters: { type: 'object' } },
    hint: 'Reading the clock',
    ifLost: 'repeat',
    run: async (args) => {
      if (args.includes('fail')) throw new Error('broken');
      return 'noon';
    },
  };
  const toolCall = (args: string) => [
    { type: 'tool.start', index: 0, id: 'call_1', name: 'clock' } as const,
    { type: 'tool.arguments', index: 0, json: JSON.stringify(args) } as const,
    finish('tool_calls'),
  ];
  const head = { createdAt: 1, conversationId: null, echo: {} };

  async function log(args: string): Promise<readonly RunEvent[]> {
    const model = scriptedModel([[text('Wait.'), ...toolCall(args)]], [[text('It is noon.'), finish()]]);
    return runPlan({ ...plan, head }, loopDeps(model, { tools: registryOf(new Map([['clock', clock]])) }));
  }
  function project(events: readonly RunEvent[], hasExtensions: boolean) {
    const projection = new ResponseProjection(sseFrame, { takesExtensions: hasExtensions, startingAfter: -1, seenSequence: -1 });
    const blocks = projection
      .project(events)
      .split('\n\n')
      .filter((block) => block !== '');
    const written = blocks.map((block) => JSON.parse(block.slice(block.indexOf('data: ') + 6)));
    // The response objects of this run lack members that only a request gives.
    for (const event of written.filter((one) => one.response === undefined)) expectComponent(event, 'ResponseStreamEvent');
    return written;
  }

  it('are items with events of their own, hints and an output', async () => {
    const events = project(await log('{"zone":1}'), true);
    const response = walk(events);
    expect(response.output.map((item: { type: string }) => item.type)).toEqual([
      'message',
      'server_tool_call',
      'server_tool_call_output',
      'message',
    ]);
    const own = events.filter((event) => event.output_index === 1);
    expect(own.map((event) => event.type)).toEqual([
      'response.output_item.added',
      'response.server_tool_call.in_progress',
      'response.server_tool_call_arguments.delta',
      'response.server_tool_call_arguments.done',
      'response.server_tool_call.completed',
      'response.output_item.done',
    ]);
    expect(own[0].status_hints).toEqual(['Reading the clock']);
    expect(response.output[2]).toMatchObject({ call_id: 'call_1', status: 'completed', output: 'noon', error: null });
  });

  it('report their failure in the item', async () => {
    const events = project(await log('{"fail":1}'), true);
    expect(walk(events).output[2]).toMatchObject({ status: 'failed', output: '', error: { code: 'tool_failed' } });
    expect(events.some((event) => event.type === 'response.server_tool_call.failed')).toBe(true);
  });

  it('leave no trace and no gap when extensions are off', async () => {
    const events = project(await log('{"zone":1}'), false);
    const response = walk(events);
    expect(response.output.map((item: { type: string }) => item.type)).toEqual(['message', 'message']);
    expect(events.map((event) => event.output_index).filter((index) => index !== undefined)).not.toContain(2);
    expect(JSON.stringify(events)).not.toMatch(/server_tool|status_hints|selection_metadata/);
  });
});

describe('annotations of an agent with knowledge', () => {
  it.each([true, false])('are events, parts and items that say the same (store %s)', async (store) => {
    const agentId = await knowing();
    upstream.otherwise({ text: ['It costs 15 € [', '1', '], and [1', '] again.'] });
    const asked = { model: agentId, input: 'What does a puncture repair cost?', store };
    const events = eventsOf(await ann.stream(path, { ...asked, stream: true }));
    const response = walk(events);
    const [{ text, annotations }] = response.output[0].content;
    expect(annotations.length).toBeGreaterThan(0);
    for (const { type, start_index, end_index, url, title } of annotations) {
      expect([type, text.slice(start_index, end_index), typeof url, typeof title]).toEqual([
        'url_citation',
        '[1]',
        'string',
        'string',
      ]);
    }
    expect(events.filter(({ type }) => type === 'response.output_text.annotation.added')).toHaveLength(annotations.length);
    const { body } = await ann.post(path, asked);
    expect(bare(body)).toEqual(bare(response));
  });
});

describe('a compaction', () => {
  it('is input like any other', async () => {
    upstream.otherwise({ text: 'They spoke of sums.' });
    const { output } = (await ann.post(`${path}/compact`, { model: request.model, input: 'What is 1 + 2?' })).body;
    const input = [...output, { role: 'user', content: 'And now?' }];
    const streamed = walk(eventsOf(await ann.stream(path, { ...request, input, stream: true })));
    const { body } = await ann.post(path, { ...request, input });
    expect(bare(body)).toEqual(bare(streamed));
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('They spoke of sums.');
  });
});

describe('a response in the background', () => {
  it('is the same stream for the client that begins it and for clients that follow it, at any time', async () => {
    const gate = Promise.withResolvers<void>();
    upstream.otherwise({ text: ['It ', 'is ', '3.'], chunkDelayMs: 5, gate: gate.promise });
    const begun = ann.stream(path, { ...request, background: true, stream: true });
    await upstream.until(({ requests }) => requests.length === 1);
    const { id } = (await service.deps.storage.db.pool.query('select id from runs order by "createdAt" desc, id desc limit 1'))
      .rows[0];
    const early = frames(`${path}/${id}?stream=true`);
    gate.resolve();
    const events = eventsOf(await begun);
    expect(walk(events)).toMatchObject({ id, status: 'completed', background: true });
    expect(eventsOf(await early)).toEqual(events);
    expect(eventsOf(await frames(`${path}/${id}?stream=true&starting_after=2`))).toEqual(events.slice(3));
  });
});

describe.runIf(box !== undefined)('python in its box', () => {
  it.each([
    ['print(6 * 7)', 'completed', '42\n'],
    ['1/0', 'completed', expect.stringContaining('ZeroDivisionError')],
  ])('%s is a call with its events and its output', async (code, status, output) => {
    const toolCalls = [{ id: 'call_1', name: 'python', arguments: JSON.stringify({ code }) }];
    upstream.next({ text: 'I count.', toolCalls }, { text: 'Done.' });
    const events = eventsOf(await ann.stream(path, { ...request, tools: [{ type: 'python' }], stream: true }));
    const response = walk(events);
    expect(response.output).toMatchObject([
      { type: 'message' },
      { type: 'server_tool_call', name: 'python', status },
      { type: 'server_tool_call_output', status, output },
      { type: 'message', content: [{ text: 'Done.' }] },
    ]);
    expect((await ann.get(`${path}/${response.id}`)).body).toEqual(response);
    expect(eventsOf(await frames(`${path}/${response.id}?stream=true`))).toEqual(events);
  });
});

describe.runIf(box !== undefined)('a program that never ends', () => {
  it('is stopped with its run, and the call is closed', async () => {
    const toolCalls = [{ id: 'call_1', name: 'python', arguments: '{"code":"while True: pass"}' }];
    upstream.next({ toolCalls });
    const { body } = await ann.post(path, { ...request, tools: [{ type: 'python' }], background: true });
    const of = `${path}/${body.id}`;
    await eventually(async () => expect((await ann.get(of)).body.output).toMatchObject([{ status: 'in_progress' }]));
    const { body: response } = await ann.post(`${of}/cancel`);
    expect(response.output).toMatchObject([{ status: 'failed' }, { status: 'failed', error: { code: 'cancelled' } }]);
    expect(walk(eventsOf(await frames(`${of}?stream=true`)))).toEqual(response);
    expect((await ann.post(path, { input: 'Next', previous_response_id: body.id })).body.status).toBe('completed');
    expectAccepted(upstream.requests.at(-1));
  });
});

describe('the extension switch', () => {
  it.each([
    ['header', {}, { 'x-parley-extensions': 'off' }],
    ['body', { stream_options: { include_extensions: false } }, {}],
  ])('by %s leaves out what the common format does not know', async (_way, members, headers) => {
    const events = eventsOf(await ann.stream(path, { ...request, ...members, stream: true }, headers));
    expect(walk(events)).not.toHaveProperty('selection_metadata');
    const { body } = await ann.post(path, { ...request, ...members }, headers);
    expect(body).not.toHaveProperty('selection_metadata');
  });
});

/** An agent with knowledge of the price of a puncture repair. */
async function knowing(): Promise<string> {
  const { id } = await make.agent({ owner: ann, modelId: request.model, generateCitations: true });
  const data = { services: [{ name: 'Puncture repair', priceEuro: 15 }] };
  const source = await make.apiDataSource({ owner: ann, agentId: id, name: 'Prices', data });
  await indexed(ann, source.id);
  return id;
}

async function frames(of: string) {
  return Array.fromAsync(ann.sse('GET', of));
}

/** Without the members that differ from run to run. */
function bare(response: Record<string, unknown>): unknown {
  const text = JSON.stringify(response, (name, value) =>
    ['id', 'created_at', 'completed_at', 'first_token_ms', 'queue_ms'].includes(name)
      ? null
      : name === 'url'
        ? unsigned(value)
        : value,
  );
  return JSON.parse(text);
}
