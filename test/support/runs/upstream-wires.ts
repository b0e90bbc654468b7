import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small fake provider with its own wire format: records bodies and headers, sends a fixed answer. */
export interface WireStandIn {
  readonly url: string;
  readonly bodies: readonly Readonly<Record<string, unknown>>[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** The event streams of the next requests, instead of the fixed answer. */
  next(...streams: readonly string[]): void;
  /** Fails the following requests with this reply. */
  fail(status: number, body: object, headers?: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

export const sse = (events: readonly (readonly [string, object])[]) =>
  events.map(([name, data]) => `${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`).join('');

/** The Anthropic messages format: text, or a tool call when the request has tools and no tool result. */
export function startAnthropic(): Promise<WireStandIn> {
  return start('/v1', (body) => {
    const usage = { input_tokens: 12, output_tokens: 1, cache_read_input_tokens: 4, cache_creation_input_tokens: 0 };
    const hasResult = JSON.stringify(body.messages).includes('"tool_result"');
    const block: readonly (readonly [string, object])[] =
      body.tools !== undefined && !hasResult
        ? [
            [
              'content_block_start',
              {
                type: 'content_block_start',
                index: 0,
                content_block: { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} },
              },
            ],
            [
              'content_block_delta',
              { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1,' } },
            ],
            [
              'content_block_delta',
              { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"b":2}' } },
            ],
          ]
        : [
            ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
            ['ping', { type: 'ping' }],
            ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } }],
            ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo "€"' } }],
          ];
    const reason = body.tools !== undefined && !hasResult ? 'tool_use' : 'end_turn';
    return sse([
      [
        'message_start',
        {
          type: 'message_start',
          message: {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: body.model,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage,
          },
        },
      ],
      ...block,
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      [
        'message_delta',
        { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } },
      ],
      ['message_stop', { type: 'message_stop' }],
    ]);
  });
}

/** The Google generateContent format: the same two answers. */
export function startGoogle(): Promise<WireStandIn> {
  return start('/v1beta', (body) => {
    const hasResult = JSON.stringify(body.contents).includes('"functionResponse"');
    const parts: readonly object[] =
      body.tools !== undefined && !hasResult
        ? [{ functionCall: { name: 'add', args: { a: 1, b: 2 } } }]
        : [{ text: 'Hel' }, { text: 'lo "€"' }];
    const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19, cachedContentTokenCount: 4 };
    return sse(
      parts.map((part, index) => {
        const isLast = index === parts.length - 1;
        const candidate = { index: 0, content: { role: 'model', parts: [part] }, ...(isLast ? { finishReason: 'STOP' } : {}) };
        return ['', { candidates: [candidate], usageMetadata }] as const;
      }),
    );
  });
}

/** The events of a message of Anthropic around the given ones. @param end  of its `message_delta`. */
export function anthropicMessage(
  events: readonly (readonly [string, object])[],
  end: object = { stop_reason: 'end_turn' },
): string {
  const usage = { input_tokens: 12, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'model-one', content: [], stop_reason: null, usage };
  return sse([
    ['message_start', { type: 'message_start', message }],
    ...events,
    ['message_delta', { type: 'message_delta', delta: { stop_sequence: null, ...end }, usage: { output_tokens: 7 } }],
    ['message_stop', { type: 'message_stop' }],
  ]);
}

/** The events of one block of text. */
export function anthropicText(text: string, index = 0): readonly (readonly [string, object])[] {
  return [
    ['content_block_start', { type: 'content_block_start', index, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }],
    ['content_block_stop', { type: 'content_block_stop', index }],
  ];
}

/** A stream of Google with these chunks. */
export function googleStream(...chunks: readonly object[]): string {
  return sse(chunks.map((chunk) => ['', chunk] as const));
}

const modelNames = ['model-one'];

async function start(basePath: string, answer: (body: Readonly<Record<string, unknown>>) => string): Promise<WireStandIn> {
  const bodies: Readonly<Record<string, unknown>>[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const scripted: string[] = [];
  let failure: { status: number; body: object; headers: Readonly<Record<string, string>> } | undefined;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method === 'GET') {
      const models = modelNames.map((id) => ({ id, name: `models/${id}`, supportedGenerationMethods: ['generateContent'] }));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: models, models }));
      return;
    }
    const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
    bodies.push(body);
    headers.push(request.headers);
    if (failure !== undefined) {
      response.writeHead(failure.status, { 'content-type': 'application/json', ...failure.headers });
      response.end(JSON.stringify(failure.body));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(scripted.shift() ?? answer(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`,
    bodies,
    headers,
    next(...streams) {
      scripted.push(...streams);
    },
    fail(status, body, headers = {}) {
      failure = { status, body, headers };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
