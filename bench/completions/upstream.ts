import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The mock upstream, in a process of its own. The model's name selects the answer: `whole`, `burst-<chunks>` (all in one write),
 * `paced-<chunks>-<interval ms>`, where each chunk's text is the moment it was written, in µs, or `endless`, as fast as the client reads.
 */
const head =
  '{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1795235197,"model":"bench","choices":[{"index":0,"delta":';
const frame = (delta: string, finish = 'null') => `data: ${head}${delta},"finish_reason":${finish}}]}\n\n`;
const ending = `${frame('{}', '"stop"')}data: ${head.slice(0, head.indexOf('"choices"'))}"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}\n\ndata: [DONE]\n\n`;
const whole = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1795235197,
    model: 'bench',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'The answer is forty-two, as it has always been.' },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 12, total_tokens: 22 },
  }),
);
const wholeHead = ['content-type', 'application/json', 'content-length', String(whole.length)];
const streamHead = ['content-type', 'text/event-stream'];
const bursts = new Map<number, Buffer>();
let openStreams = 0;

function burst(chunks: number): Buffer {
  let made = bursts.get(chunks);
  if (made === undefined) {
    const words = Array.from({ length: chunks }, (_, index) => frame(`{"content":" word${index % 97}"}`)).join('');
    made = Buffer.from(frame('{"role":"assistant","content":""}') + words + ending);
    bursts.set(chunks, made);
  }
  return made;
}

interface Paced {
  readonly response: ServerResponse;
  left: number;
}
/** One timer for all streams of an interval, with their starts spread over it. */
const wheels = new Map<number, Paced[][]>();
const tickMs = 5;

function pace(response: ServerResponse, chunks: number, intervalMs: number): void {
  openStreams += 1;
  response.on('close', () => {
    openStreams -= 1;
  });
  response.writeHead(200, streamHead);
  response.write(frame('{"role":"assistant","content":""}'));
  let wheel = wheels.get(intervalMs);
  if (wheel === undefined) {
    wheel = Array.from({ length: Math.max(1, Math.round(intervalMs / tickMs)) }, () => []);
    wheels.set(intervalMs, wheel);
    turn(wheel);
  }
  const slot = wheel.reduce((least, candidate) => (candidate.length < least.length ? candidate : least));
  slot.push({ response, left: chunks });
}

function turn(wheel: Paced[][]): void {
  let at = 0;
  let dueMs = performance.now();
  const step = () => {
    while (performance.now() >= dueMs) {
      const slot = wheel[at] ?? [];
      wheel[at] = slot.filter(send);
      at = (at + 1) % wheel.length;
      dueMs += tickMs;
    }
  };
  setInterval(step, tickMs);
}

function send(paced: Paced): boolean {
  const { response } = paced;
  if (response.destroyed) return false;
  if (paced.left === 0) {
    response.end(ending);
    return false;
  }
  paced.left -= 1;
  response.write(frame(`{"content":"${Math.round((performance.timeOrigin + performance.now()) * 1000)}"}`));
  return true;
}

const longPiece = frame(`{"content":"${'x'.repeat(60_000)}"}`);

function speak(response: ServerResponse): void {
  response.writeHead(200, streamHead);
  const more = () => {
    while (!response.destroyed && response.write(longPiece));
  };
  response.on('drain', () => setImmediate(more));
  more();
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const ids = [
      'whole',
      'burst-1',
      'burst-2000',
      'paced-10-20',
      'paced-100-20',
      'paced-200-20',
      'paced-50-200',
      'paced-20-500',
      'paced-1-5',
      'endless',
    ];
    response.end(JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1 })) }));
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => {
    body += part;
  });
  request.on('end', () => {
    const model = /"model":"(?:openai\/)?([^"]*)"/.exec(body)?.[1] ?? 'whole';
    const [kind, chunks = '0', intervalMs = '0'] = model.split('-');
    if (kind === 'burst') {
      response.writeHead(200, streamHead);
      response.end(burst(Number(chunks)));
    } else if (kind === 'endless') speak(response);
    else if (kind === 'paced') pace(response, Number(chunks), Number(intervalMs));
    else {
      response.writeHead(200, wholeHead);
      response.end(whole);
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('message', (message) => {
  if (message === 'open') process.send?.({ openStreams });
});
process.on('disconnect', () => process.exit());
