import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { outputItem, streamingEvent } from '../../support/runs/response-schemas.ts';
import { eventsOf, type WireEvent, walk } from '../../support/runs/response-walk.ts';
import { endlessAnswer, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/** Parley's additions to the format: without them a client sees only the common format, and openapi.json marks them. */
const bench = await responsesBench();

const common = new Set(streamingEvent.options.map(({ shape }) => shape.type.value));
const serviceTools = ['python', 'code_interpreter', 'deep_research'];

describe('a run that uses no tool of the service', () => {
  it.each(serviceTools)('has events and items of the common format alone, also where it may use %s', async (type) => {
    bench.upstream.otherwise({ reasoning: 'Hm', text: 'It is 3.' });
    const members = { tools: [{ type }] };
    const events = eventsOf(await bench.frames(members));
    expect(events.map((event) => event.type).filter((name) => !common.has(name))).toEqual([]);
    for (const item of walk(events).output) outputItem.parse(item);
    const { body } = await bench.create(members);
    for (const item of body.output) outputItem.parse(item);
  });

  it('of an agent that shows its steps tells them elsewhere, and leaves no gap in the numbers', async () => {
    const agent = await bench.make.agent({ owner: bench.ann, modelId: testModel, intermediateStepsVisible: true });
    const text = '# Prices\n\nA puncture repair costs 15 euros.';
    const { body } = await addFile(bench.ann, agent.id, 'prices.md', text, 'text/markdown');
    await indexed(bench.ann, body.id);
    const events = await bench.events({ model: agent.id, input: 'What does a puncture repair cost?' });
    const { id } = walk(events);
    expect(JSON.stringify(events)).not.toContain('parley.');
    const log = (await bench.service.deps.storage.conversations.runs.readEvents(id, -1, 100))?.events ?? [];
    expect(log.map(({ type }) => type)).toContain('parley.step');
  });
});

describe('the form of a reply', () => {
  const accepts = ['application/json', 'text/event-stream', '*/*'];

  it.each(accepts)('is JSON or an event stream as the request says, not its header (accept %s)', async (accept) => {
    for (const stream of [true, false]) {
      const reply = await bench.ann.fetch('POST', responsesPath, { model: testModel, input: 'Hi', stream }, { accept });
      await reply.text();
      const type = stream ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8';
      expect(reply.headers.get('content-type')).toBe(type);
    }
  });
});

describe('what is read of a response', () => {
  it('at work, as a stream: what was said behind a number, then what is said', async () => {
    bench.upstream.next(endlessAnswer);
    const { id } = await bench.created({ background: true });
    await eventually(async () => expect((await bench.get(id)).body.output).toHaveLength(1));
    const events: WireEvent[] = [];
    for await (const { data } of bench.ann.sse('GET', `${responsesPath}/${id}?stream=true&starting_after=1`)) {
      if (data === '[DONE]') break;
      if (events.push(streamingEvent.parse(JSON.parse(data))) === 1) void bench.ann.post(`${responsesPath}/${id}/cancel`);
    }
    expect(walk(events, 2)).toMatchObject({ id, status: 'cancelled' });
  });

  it('behind its last event is nothing but the end', async () => {
    const { id } = await bench.created();
    const read = (query = '') => Array.fromAsync(bench.ann.sse('GET', `${responsesPath}/${id}?stream=true${query}`));
    const last = eventsOf(await read()).at(-1);
    expect(eventsOf(await read(`&starting_after=${last.sequence_number}`))).toEqual([]);
  });

  it('input items: a place that is none of them is refused by its name', async () => {
    const { id } = await bench.created();
    expect(await bench.inputItems(id, '?after=msg_none')).toMatchObject({ status: 400, body: { error: { param: 'after' } } });
    expect(await bench.inputItems(id, '?limit=0')).toMatchObject({ status: 400, body: { error: { param: 'limit' } } });
    expect(await bench.inputItems(id, '?order=upwards')).toMatchObject({ status: 400, body: { error: { param: 'order' } } });
  });
});

describe('every addition is marked in the description', () => {
  const { schemas } = JSON.parse(readFileSync('openapi.json', 'utf8')).components;
  const at = (name: string, member?: string) => (member === undefined ? schemas[name] : schemas[name].properties[member]);

  it.each([
    ...['chat_mode', 'user_secrets', 'thread_mode', 'options'].map((member) => ['ResponseInput', member]),
    ...['InputTextParam', 'InputImageParam', 'InputFileParam'].map((part) => [part, 'invisible']),
    ...[
      ['InputTextParam', 'metadata'],
      ['OutputTextParam', 'logprobs'],
      ['WebSearchTool', 'includeXSearch'],
    ],
    ...['PythonTool', 'McpServerTool', 'SpreadsheetTool', 'MemoryTool', 'SandboxTool', 'DeepResearchTool'].map((tool) => [tool]),
    ...['ServerToolCall', 'ServerToolCallOutput', 'ServerToolCallParam', 'ServerToolCallOutputParam'].map((item) => [item]),
    ...['InProgress', 'Completed', 'Failed'].map((state) => [`ResponseServerToolCall${state}Event`]),
    ...['Delta', 'Done'].map((state) => [`ResponseServerToolCallArguments${state}Event`]),
    ...['Started', 'Progress', 'Completed'].map((state) => [`ResponseSubagent${state}Event`]),
    ...[
      ['ResponseOutputItemAddedEvent', 'status_hints'],
      ['Response', 'selection_metadata'],
    ],
  ])('by x-parley-extension: %s %s', (name = '', member) => {
    expect(at(name, member)).toMatchObject({ 'x-parley-extension': true });
  });

  it.each([
    ['ResponseReasoningParam', 'effort', ['none', 'xhigh', 'max']],
    ['FunctionCallOutputParam', 'status', ['success', 'error', 'cancelled']],
    ['Response', 'status', ['cancelled']],
    ['ResponseIncompleteDetails', 'reason', ['paused', 'max_tool_calls', 'timeout']],
    ['OutputItem', undefined, ['server_tool_call', 'server_tool_call_output']],
  ])('by x-parley-extension-values: %s %s', (name, member, values) => {
    expect(at(name, member)).toMatchObject({ 'x-parley-extension-values': values });
  });

  it.each([
    ['InputMessageParam', 'type', 'message-type-optional'],
    ['McpServerTool', undefined, 'mcp-without-discovery'],
    ['ImageGenerationTool', undefined, 'server-tool-items'],
    ['ResponseStreamEvent', undefined, 'terminal-done'],
  ])('by x-parley-extension-behavior: %s %s', (name, member, behavior) => {
    expect(at(name, member)).toMatchObject({ 'x-parley-extension-behavior': behavior });
  });
});
