import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import { streamingEvent } from '../../support/runs/response-schemas.ts';
import { eventsOf, type WireEvent, walk } from '../../support/runs/response-walk.ts';
import { addCall, addTool, endlessAnswer, responsesBench, responsesPath, testModel } from '../../support/runs/responses.ts';

/**
 * The rules of the Open Responses format about the events of a stream. test/api/conversations/responses/walk.test.ts applies them to each kind of run, stored or
 * not, replayed or not.
 */
const heartbeatMs = 100;
const bufferMaxBytes = 4_096;
const ping = ': ping\n';
const bench = await responsesBench({ SSE_HEARTBEAT_MS: String(heartbeatMs), SSE_BUFFER_MAX_BYTES: String(bufferMaxBytes) });
const typesOf = (events: readonly WireEvent[]) => events.map(({ type }) => type);

describe('on the wire', () => {
  it('the head says what the stream is, and that nobody is to gather, change or keep it', async () => {
    const body = { model: testModel, input: 'Hi', stream: true };
    const reply = await bench.ann.fetch('POST', responsesPath, body, { 'accept-encoding': 'gzip, br' });
    await reply.text();
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^req_/),
    });
    expect(reply.headers.get('content-encoding')).toBeNull();
  });

  it('the event field equals the type of the body, there is no id, and [DONE] is the last word', async () => {
    const body = { model: testModel, input: 'Hi', stream: true };
    const text = (await (await bench.ann.fetch('POST', responsesPath, body, {})).text()).replaceAll(ping, '');
    expect(text.endsWith('event: done\ndata: [DONE]\n\n')).toBe(true);
    for (const frame of text.slice(0, -'event: done\ndata: [DONE]\n\n'.length).split('\n\n').slice(0, -1)) {
      const [, event, data] = /^event: (\S+)\ndata: (.+)$/.exec(frame) ?? [];
      expect(JSON.parse(data ?? 'null').type, frame).toBe(event);
    }
  });

  it('a frame is never cut by a write, however much there is to say', async () => {
    const text = Array.from({ length: 400 }, (_, n) => `"w\\${n}" ä😀\n`);
    bench.upstream.next({ text });
    const members = { model: testModel, input: 'Hi', stream: true, store: false };
    const chunks = (await writes(members)).filter((chunk) => chunk !== ping);
    expect(chunks.length).toBeGreaterThan(10);
    for (const chunk of chunks) expect(chunk).toMatch(/^(event: [^\n]+\ndata: [^\n]+\n\n)+$/);
    expect(chunks.join('').split('response.output_text.delta').length).toBeGreaterThan(400);
  });

  it('silence is kept alive by a comment of one line, which takes no number', async () => {
    bench.upstream.next({ text: ['It ', 'is ', '3.'], chunkDelayMs: heartbeatMs * 4 });
    const chunks = await writes({ model: testModel, input: 'Hi', stream: true, store: false });
    expect(chunks.filter((chunk) => chunk === ping).length).toBeGreaterThan(1);
    const frames = chunks
      .filter((chunk) => chunk !== ping)
      .join('')
      .split('\n\n')
      .slice(0, -2);
    const numbers = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)).sequence_number);
    expect(numbers).toEqual(numbers.map((_number, index) => index));
  });
});

describe('the order', () => {
  it('of a text: created, in progress, item, part, deltas, and the same backwards', async () => {
    expect(typesOf(await bench.events())).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added'],
      ...['response.output_text.delta', 'response.output_text.delta', 'response.output_text.delta'],
      ...['response.output_text.done', 'response.content_part.done', 'response.output_item.done', 'response.completed'],
    ]);
  });

  it('of calls: one after the other, their arguments from nothing to the whole', async () => {
    bench.upstream.next({ toolCalls: [addCall, { ...addCall, id: 'call_2' }] });
    const events = await bench.events({ tools: [addTool] });
    const one = [
      ...['response.output_item.added', 'response.function_call_arguments.delta', 'response.function_call_arguments.delta'],
      ...['response.function_call_arguments.done', 'response.output_item.done'],
    ];
    const frame = ['response.created', 'response.in_progress'];
    expect(typesOf(events)).toEqual([...frame, ...one, ...one, 'response.completed']);
    expect(events[2].item).toMatchObject({ type: 'function_call', call_id: 'call_1', name: 'add', arguments: '' });
    expect(events[5]).toMatchObject({ name: 'add', arguments: addCall.arguments });
  });

  it('of thinking: as a summary, the one form that every client knows', async () => {
    bench.upstream.next({ reasoning: 'Let me see', text: 'It is 3.' });
    const events = await bench.events();
    expect(typesOf(events).filter((type) => type.includes('reasoning'))).toEqual([
      ...['response.reasoning_summary_part.added', 'response.reasoning_summary_text.delta'],
      ...['response.reasoning_summary_text.done', 'response.reasoning_summary_part.done'],
    ]);
    expect(events[2].item).toEqual({ id: events[2].item.id, type: 'reasoning', status: 'in_progress', summary: [] });
  });

  it('of a refusal: a part of its own, with deltas of its own', async () => {
    bench.upstream.next({ refusal: 'I will not.' });
    const events = await bench.events();
    expect(typesOf(events).slice(2, -1)).toEqual([
      ...['response.output_item.added', 'response.content_part.added', 'response.refusal.delta', 'response.refusal.done'],
      ...['response.content_part.done', 'response.output_item.done'],
    ]);
    expect(events.at(-1).response.output[0].content).toEqual([{ type: 'refusal', refusal: 'I will not.' }]);
  });

  it('of a citation: an annotation with all its members, which the text has at its end too', async () => {
    const agent = await bench.make.agent({ owner: bench.ann, modelId: testModel });
    const { body } = await addFile(
      bench.ann,
      agent.id,
      'prices.md',
      '# Prices\n\nA puncture repair costs 15 euros.',
      'text/markdown',
    );
    await indexed(bench.ann, body.id);
    bench.upstream.next({ text: ['It costs 15 € [', '1', '].'] });
    const events = await bench.events({ model: agent.id, input: 'What does a puncture repair cost?' });
    const added = events.filter(({ type }) => type === 'response.output_text.annotation.added');
    expect(added.map((event) => event.annotation_index)).toEqual([0]);
    const text = 'It costs 15 € [1].';
    const { start_index, end_index } = added[0].annotation;
    expect(text.slice(start_index, end_index)).toBe('[1]');
    expect(events.at(-1).response.output[0].content[0]).toMatchObject({ text, annotations: [added[0].annotation] });
  });

  it('the ids of an item are the same in all its events and in the final output', async () => {
    bench.upstream.next({ reasoning: 'Let me see', text: 'One moment', toolCalls: [addCall] });
    const events = await bench.events({ tools: [addTool] });
    const final = events.at(-1).response.output.map(({ id }: WireEvent) => id);
    for (const event of events.filter((of) => 'output_index' in of)) {
      expect(event.item_id ?? event.item.id).toBe(final[event.output_index]);
    }
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    expect(events.at(-1).response.output).toEqual(done);
  });
});

describe('the end', () => {
  it('is one, of three types: nothing follows it', async () => {
    const ends = /^response\.(completed|failed|incomplete)$/;
    for (const script of [{ text: 'It is 3.' }, { text: 'It is', finish: 'length' }, { status: 500 }]) {
      bench.upstream.next(script);
      const types = typesOf(await bench.events());
      expect(types.filter((type) => ends.test(type))).toEqual([types.at(-1)]);
    }
  });

  it('of a run that failed is response.failed alone, its error in the response', async () => {
    bench.upstream.next({ text: ['It ', 'is ', '3.'], chunkDelayMs: 5, cutAtByte: 420 });
    const events = await bench.events();
    expect(typesOf(events)).not.toContain('error');
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { type: 'model_error', code: 'upstream_error' } },
    });
  });

  it('of a run that was cut by its budget is response.incomplete', async () => {
    bench.upstream.next({ text: 'It is', finish: 'length' });
    expect((await bench.events()).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it('of a run that was cancelled is response.incomplete with the status cancelled, its items closed', async () => {
    bench.upstream.next(endlessAnswer);
    const events: WireEvent[] = [];
    for await (const { data } of bench.ann.sse('POST', responsesPath, { model: testModel, input: 'Hi', stream: true })) {
      if (data === '[DONE]') break;
      events.push(streamingEvent.parse(JSON.parse(data)));
      if (events.at(-1)?.type === 'response.output_text.delta')
        void bench.ann.post(`${responsesPath}/${events[0].response.id}/cancel`);
    }
    expect(walk(events)).toMatchObject({ status: 'cancelled', incomplete_details: null, error: null });
    expect(events.at(-1).type).toBe('response.incomplete');
    expect(events.at(-1).response.output).toMatchObject([{ status: 'incomplete' }]);
  });

  it('of a stream whose key is revoked is an error in the forms of both schemas, then [DONE]', async () => {
    bench.upstream.next(endlessAnswer);
    const other = await bench.make.withKey(bench.ann, {});
    const frames = [];
    for await (const frame of other.sse('POST', responsesPath, { model: testModel, input: 'Hi', stream: true, store: false })) {
      if (frames.push(frame) === 4) void bench.ann.delete(`/api/v1/api-keys/${other.keyId}`);
    }
    const events = eventsOf(frames).map((event) => streamingEvent.parse(event));
    expect(events.at(-1)).toMatchObject({
      ...{ type: 'error', code: 'invalid_api_key', param: null, sequence_number: events.length - 1 },
      error: { type: 'invalid_request', code: 'invalid_api_key' },
    });
  });
});

describe('reading again', () => {
  it('without starting_after gives the whole log, with it the events of greater numbers', async () => {
    const events = await bench.events();
    const again = async (query: string) =>
      eventsOf(await Array.fromAsync(bench.ann.sse('GET', `${responsesPath}/${events[0].response.id}?stream=true${query}`)));
    expect(await again('')).toEqual(events);
    for (const after of [0, 5, events.length - 2])
      expect(await again(`&starting_after=${after}`)).toEqual(events.slice(after + 1));
  });
});

/** The body of the reply as the service wrote it: one string a write. */
async function writes(members: object): Promise<readonly string[]> {
  const { hostname, port } = new URL(bench.service.url);
  const body = JSON.stringify(members);
  const head = [
    ...[`POST ${responsesPath} HTTP/1.1`, `host: ${hostname}`, `authorization: Bearer ${bench.ann.key}`],
    ...['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, 'connection: close'],
  ];
  const socket = connect(Number(port), hostname);
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  const received: Buffer = Buffer.concat(await Array.fromAsync(socket));
  const chunks: string[] = [];
  for (let at = received.indexOf('\r\n\r\n') + 4; ; ) {
    const lineEnd = received.indexOf('\r\n', at);
    const sizeBytes = Number.parseInt(received.toString('latin1', at, lineEnd), 16);
    if (!(sizeBytes > 0)) return chunks;
    chunks.push(received.toString('utf8', lineEnd + 2, lineEnd + 2 + sizeBytes));
    at = lineEnd + 2 + sizeBytes + 2;
  }
}
