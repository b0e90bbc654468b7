import { beforeEach, describe, expect, it } from 'vitest';
import type { SseFrame, TestClient } from '../../support/client.ts';
import { withService } from '../../support/service.ts';

const frame = (json: object) => `data: ${JSON.stringify(json)}\n\n`;
/** A complete answer, with a character of three bytes in its middle. */
const answer = Buffer.from(
  [
    frame({ choices: [{ delta: { content: 'Hi' } }] }),
    frame({ choices: [{ delta: { content: ' €1' } }] }),
    frame({ choices: [{ delta: {}, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ].join(''),
);
const offsets = Array.from({ length: answer.length + 1 }, (_, offset) => offset);
const atOnce = 8;

const { make, upstream } = await withService('model');

const ann = await make.person();

beforeEach(() => {
  // Each question says at which byte its answer is cut.
  upstream.otherwise(({ body }) => {
    const messages = body?.messages as readonly { readonly content: string }[];
    return { raw: [answer], cutAtByte: Number(messages.at(-1)?.content) };
  });
});

/** Runs the check at every offset, several at the same time. */
async function atEveryOffset(check: (offset: number) => Promise<void>): Promise<void> {
  const left = [...offsets];
  const work = async () => {
    for (let offset = left.shift(); offset !== undefined; offset = left.shift()) {
      await check(offset).catch((error: unknown) => {
        throw new Error(`at byte ${offset}`, { cause: error });
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function framesOf(who: TestClient, path: string, body: object): Promise<SseFrame[] | { readonly error: unknown }> {
  const response = await who.fetch('POST', path, body, { accept: 'text/event-stream' });
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    expect(response.status).toBeGreaterThanOrEqual(500);
    return JSON.parse(text);
  }
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((part) => {
      const lines = part.split('\n').filter((line) => !line.startsWith(':'));
      const memberOf = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      expect(lines.every((line) => /^(data|event|id): /.test(line))).toBe(true);
      return { event: memberOf('event'), id: memberOf('id'), data: memberOf('data') ?? '' };
    });
}

describe('an upstream that breaks off at any byte', () => {
  it('leaves a completion stream well-formed, with one outcome and one [DONE] at its end', async () => {
    let wholeAnswers = 0;
    await atEveryOffset(async (offset) => {
      const body = { model: 'openai/test-model', stream: true, messages: [{ role: 'user', content: String(offset) }] };
      const frames = await framesOf(ann, '/api/v1/chat/completions', body);
      if (!Array.isArray(frames)) {
        expect(frames.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
        return;
      }
      expect(frames.filter(({ data }) => data === '[DONE]')).toHaveLength(1);
      expect(frames.at(-1)?.data).toBe('[DONE]');
      const chunks = frames.slice(0, -1).map(({ data }) => JSON.parse(data));
      const text = chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? '').join('');
      expect('Hi €1'.startsWith(text)).toBe(true);
      const outcomes = chunks.filter(
        (chunk) => chunk.error !== undefined || typeof chunk.choices?.[0]?.finish_reason === 'string',
      );
      expect(outcomes).toHaveLength(1);
      expect(outcomes[0]).toBe(chunks.at(-1));
      if (chunks.at(-1).error === undefined) {
        expect(text).toBe('Hi €1');
        wholeAnswers += 1;
      }
    });
    expect(wholeAnswers).toBeGreaterThan(0);
    expect(wholeAnswers).toBeLessThan(offsets.length / 2);
  });

  it('leaves a chat with exactly one end of its run, and numbers without gaps', async () => {
    const agent = await make.agent({ owner: ann });
    await atEveryOffset(async (offset) => {
      const chat = await make.chat({ owner: ann, agentId: agent.id });
      const frames = await framesOf(ann, `/api/v1/chats/${chat.id}/messages`, { prompt: String(offset), stream: true });
      if (!Array.isArray(frames)) throw new Error(`not a stream: ${JSON.stringify(frames)}`);
      const events = frames.map(({ data }) => JSON.parse(data));
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
      expect(frames.filter(({ event }) => /^run\.(completed|incomplete|failed|cancelled)$/.test(event ?? ''))).toHaveLength(1);
      expect(frames.slice(-2).map(({ event }) => event)).toEqual([expect.stringMatching(/^run\./), 'done']);
    });
  });
});

describe('a stored response whose model writes text that the database cannot store', () => {
  const respond = async (members: object) =>
    (await ann.post('/api/v2/responses', { model: 'openai/test-model', input: 'Hi', ...members })).body;

  it('as the id of a call, is completed', async () => {
    upstream.next({ toolCalls: [{ id: 'call_\u0000\ud800', name: 'python', arguments: '{}' }] }, { text: 'Done.' });
    const { status, output } = await respond({ tools: [{ type: 'python' }] });
    expect(status).toBe('completed');
    expect(output.slice(0, 2)).toMatchObject([{ call_id: 'call_\ufffd\ufffd' }, { call_id: 'call_\ufffd\ufffd' }]);
  });

  it('as its reason for a refusal, is failed', async () => {
    const message = `No \u0000 in a prompt: ${'🙂'.repeat(400)}`;
    upstream.next({ status: 400, body: JSON.stringify({ error: { message } }) });
    const { status, error } = await respond({});
    expect([status, error.code]).toEqual(['failed', 'invalid_value']);
    expect(error.message).toMatch(/: No \ufffd in a prompt: 🙂+\ufffd?$/u);
  });
});
